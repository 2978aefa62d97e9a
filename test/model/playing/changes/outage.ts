/** Plays outages: a receiver fails, is gone (D-62, D-137) or was paused by a person (D-273), and still gets the webhooks later. */
import type { OutageStep } from "../../histories/steps.ts";
import type { ExpectedUpdate } from "../../reference/world.ts";
import { ask, fillingOf } from "../ask.ts";
import { resolve } from "../resolve.ts";
import type { Scene, Stage } from "../scene.ts";
import { changeWorld } from "./change-world.ts";

/** The time within which a first attempt is made and stored, also on a busy machine. */
const ATTEMPTED_WITHIN_MS = 20_000;

/** The first wait before a webhook is sent again (D-62). */
const RETRY_SECONDS = 15;
const GONE = 410;

interface Delivery {
  readonly id: string;
  readonly webhook_id: string;
  readonly status: string;
  readonly attempts: readonly { readonly time: number; readonly error?: string }[];
}

/**
 * The number of attempts to send a webhook. An attempt that a killed process had begun is stored as interrupted, and is repeated by the next process.
 */
const attemptsOf = ({ attempts }: Delivery): number => attempts.filter(({ error }) => error !== "interrupted").length;

/** The deliveries that the receiver refused and that have the status `becomes`. */
async function refusedDeliveries({ servers, ledger }: Stage, { world, place }: Scene, becomes: string): Promise<Delivery[] | undefined> {
  const addresses = new Set(world.updates.map(({ callback }) => callback));
  for (const endMs = performance.now() + ATTEMPTED_WITHIN_MS; performance.now() < endMs; await Bun.sleep(10)) {
    const refused = ledger.refused(world.name);
    if (refused.paths.size < addresses.size) continue;
    const { body } = await servers.control("GET", `worlds/${place}/deliveries?limit=20`);
    const { data } = body as { data: readonly Delivery[] };
    const known = data.filter((one) => refused.webhookIds.has(one.webhook_id) && one.status === becomes && attemptsOf(one) === 1);
    if (known.length === refused.webhookIds.size) return known;
  }
  return undefined;
}

interface Callback {
  readonly id: string;
  readonly app: string;
  readonly url: string;
  readonly status: string;
}

/** The callbacks to which the created webhooks are addressed. */
async function callbacksOf({ servers }: Stage, { place }: Scene): Promise<readonly Callback[]> {
  const { body } = await servers.control("GET", `worlds/${place}/callbacks?limit=100`);
  return (body as { readonly data: readonly Callback[] }).data;
}

/** The five days of failing in D-137. The deliveries are more than a day apart, because the server tries each delivery for a day and a half. */
const DAYS_OF_FAILING = 5;
const SECONDS_BETWEEN = 30 * 3_600;
/** The time within which the server tries a paused callback once more, and sends every retry to a callback that is not paused. */
const RECOVERY_SECONDS = 13 * 3_600;

/** Replays failed deliveries; a replay ends the pause of a callback. */
async function replayFailed({ servers }: Stage, { place }: Scene): Promise<void> {
  const { body } = await servers.control("GET", `worlds/${place}/deliveries?status=failed&limit=100`);
  for (const { id } of (body as { data: readonly Delivery[] }).data) await servers.control("POST", `worlds/${place}/deliveries/${id}/replay`);
}

async function playDays(stage: Stage, scene: Scene, { cause, world: of }: OutageStep): Promise<string | undefined> {
  const { ledger, servers } = stage;
  const { world } = scene;
  const advance = (seconds: number) => changeWorld(stage, scene, { kind: "advance", world: of, seconds });
  // No webhook of these deliveries arrives before the end of the outage, so the test does not wait for them.
  const due = [];
  const first = new Set<string>();
  for (let day = 0; day < DAYS_OF_FAILING; day++) {
    const problem = await changeWorld(stage, scene, cause);
    if (problem !== undefined) return problem;
    if (day === 0) for (const { app, callback } of world.updates) first.add(`${app} ${callback}`);
    if (first.size === 0) return undefined;
    due.push(...world.updates.splice(0));
    const moved = await advance(SECONDS_BETWEEN);
    if (moved !== undefined) return moved;
    due.push(...world.updates.splice(0));
  }
  const shown = await callbacksOf(stage, scene);
  // A process that is late with an attempt may leave more time between two attempts than the rule for failing callbacks allows.
  const working = shown.find(({ app, url, status }) => first.has(`${app} ${url}`) && status !== "paused");
  if (working !== undefined && servers.count === 1) return `${working.url} is ${working.status} after days of failing`;
  world.reach("webhookPaused");
  ledger.refuse(world.name, undefined);
  const moved = await advance(RECOVERY_SECONDS);
  if (moved !== undefined) return moved;
  world.updates.push(...due);
  await replayFailed(stage, scene);
  return ledger.settle(world);
}

/** The seconds between the first attempt and each retry (D-62). */
const RETRY_OFFSETS = [15, 60, 300, 900, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600, 24 * 3_600, 36 * 3_600];
/**
 * The factor by which the server shortens a wait at most. The server shortens each wait by up to a tenth, and never makes it longer than D-62 says.
 */
const SHORTEST = 0.9;
/** The tolerance in seconds, because the server stores times as whole milliseconds. */
const SLACK = 0.002;

/** D-62, D-266: checks that each retry is made at its own time, however far the clock moves. */
function differenceOfRetries({ id, status, attempts }: Delivery, now: number): string | undefined {
  const inWords = `delivery ${id} is ${status} at ${now}, after attempts at ${attempts.map(({ time }) => time).join(", ")}`;
  const waits = RETRY_OFFSETS.map((offset, place) => offset - (RETRY_OFFSETS[place - 1] ?? 0));
  for (const [place, { time }] of attempts.entries()) {
    const wait = waits[place - 1];
    const before = attempts[place - 1]?.time ?? time;
    if (place > 0 && (wait === undefined || time - before > wait + SLACK || time - before < wait * SHORTEST - SLACK)) return inWords;
  }
  const next = waits[attempts.length - 1];
  const isDue = next !== undefined && (attempts.at(-1)?.time ?? 0) + next <= now;
  return isDue || (next === undefined) !== (status === "failed") ? inWords : undefined;
}

/** Lets the callbacks fail, and moves the clock over many retries at once. */
async function playLong(stage: Stage, scene: Scene, { cause, world: of }: OutageStep, seconds: number): Promise<string | undefined> {
  const { servers, ledger } = stage;
  const { world, place } = scene;
  const problem = await changeWorld(stage, scene, cause);
  if (problem !== undefined || world.updates.length === 0) return problem;
  const refused = await refusedDeliveries(stage, scene, "waiting");
  if (refused === undefined) return `${JSON.stringify(world.updates.slice(0, 2))} has no first attempt`;
  const due = world.updates.splice(0);
  const moved = await changeWorld(stage, scene, { kind: "advance", world: of, seconds });
  if (moved !== undefined) return moved;
  due.push(...world.updates.splice(0));
  for (const { id } of refused) {
    const { body } = await servers.control("GET", `worlds/${place}/deliveries/${id}`);
    // A process that does not move the clock itself may be late with a retry.
    const wrong = servers.count === 1 ? differenceOfRetries(body as Delivery, world.now) : undefined;
    if (wrong !== undefined) return wrong;
  }
  world.reach("retriesInTime");
  ledger.refuse(world.name, undefined);
  const waited = await changeWorld(stage, scene, { kind: "advance", world: of, seconds: RECOVERY_SECONDS });
  if (waited !== undefined) return waited;
  world.updates.push(...due);
  await replayFailed(stage, scene);
  return ledger.settle(world);
}

/** The time within which a webhook would arrive that the server wrongly sends during a pause. */
const HELD_MS = 150;

/** Pauses all callbacks to which webhooks are addressed, as a person would, while the cause of the webhooks happens (D-273). */
async function playPause(stage: Stage, scene: Scene, { cause }: OutageStep): Promise<string | undefined> {
  const { servers, ledger } = stage;
  const { world, place } = scene;
  const working = (await callbacksOf(stage, scene)).filter(({ status }) => status === "working");
  for (const { id } of working) await servers.control("POST", `worlds/${place}/callbacks/${id}/pause`);
  servers.noteFact(place);
  const problem = await changeWorld(stage, scene, cause);
  if (problem !== undefined) return problem;
  const isHeld = ({ app, callback }: ExpectedUpdate): boolean => working.some((one) => one.app === app && one.url === callback);
  const due = world.updates.splice(0);
  world.updates.push(...due.filter((update) => !isHeld(update)));
  const wrong = await ledger.settle(world);
  if (wrong !== undefined) return wrong;
  await Bun.sleep(HELD_MS);
  const early = ledger.late(world.name);
  if (early !== undefined) return `a callback is paused, and got ${early}`;
  const ended = (await callbacksOf(stage, scene)).some(({ id, status }) => working.some((one) => one.id === id) && status !== "paused");
  if (ended) return "a pause has ended by itself";
  for (const { id } of working) await servers.control("POST", `worlds/${place}/callbacks/${id}/resume`);
  const held = due.filter(isHeld);
  if (held.length > 0) world.reach("callbackHeld");
  world.updates.push(...held);
  return ledger.settle(world);
}

/** D-63, D-138: the update of a webhook with its present route; empty if no route is left. */
function byNow(update: ExpectedUpdate): ExpectedUpdate[] {
  const callback = update.route();
  return callback === undefined ? [] : [{ ...update, callback }];
}

/**
 * Plays steps while deliveries wait. As soon as one of the deliveries has ended, no more steps are played, because Plaza checks waiting deliveries in
 * the background.
 */
async function playMeanwhile(stage: Stage, scene: Scene, { meanwhile = [] }: OutageStep): Promise<string | undefined> {
  const { world } = scene;
  const due = world.updates.splice(0);
  const before = due.map(({ callback }) => callback);
  for (const step of meanwhile) {
    if (due.some(({ route }) => route() === undefined)) break;
    const isRequest = step.kind === "request";
    const problem = isRequest ? await ask(stage, scene, step, resolve(step, world, fillingOf(stage, scene))) : await changeWorld(stage, scene, step);
    if (problem !== undefined) return problem;
  }
  const after = due.map(({ route }) => route());
  if (after.includes(undefined)) world.reach("waitingUnsubscribed");
  if (after.some((callback, place) => callback !== undefined && callback !== before[place])) world.reach("waitingRerouted");
  if (due.some(({ app }) => world.apps.get(app)?.retired_secret !== undefined)) world.reach("waitingOldSecret");
  world.updates.push(...due);
  return undefined;
}

/** D-138: checks that the deliveries whose app no longer wants them have ended with this reason. */
async function lookAtEnded(
  { servers }: Stage,
  { place }: Scene,
  refused: readonly Delivery[],
  due: readonly ExpectedUpdate[],
): Promise<string | undefined> {
  const ended = due.filter(({ route }) => route() === undefined).length;
  let known = -1;
  // The process that responds may not be the process that moved the clock, and may know the new time late.
  for (const endMs = performance.now() + ATTEMPTED_WITHIN_MS; known !== ended && performance.now() < endMs; await Bun.sleep(10)) {
    const { body } = await servers.control("GET", `worlds/${place}/deliveries?limit=20`);
    const { data } = body as { data: readonly Delivery[] };
    known = data.filter(({ id, status }) => status === "unsubscribed" && refused.some((one) => one.id === id)).length;
  }
  return known === ended ? undefined : `${known} deliveries ended as unsubscribed, not ${ended}`;
}

export async function playOutage(stage: Stage, scene: Scene, step: OutageStep): Promise<string | undefined> {
  const { response, cause, world: of } = step;
  const { world, place } = scene;
  const { ledger, servers } = stage;
  const missing = await ledger.settle(world);
  if (missing !== undefined) return missing;
  if (response === "paused") return playPause(stage, scene, step);
  ledger.refuse(world.name, response === GONE ? GONE : 500);
  try {
    if (response === "days") return await playDays(stage, scene, step);
    if (typeof response === "object") return await playLong(stage, scene, step, response.forSeconds);
    const problem = await changeWorld(stage, scene, cause);
    if (problem !== undefined) return problem;
    if (world.updates.length === 0) return undefined;
    const refused = await refusedDeliveries(stage, scene, response === GONE ? "failed" : "waiting");
    if (refused === undefined) return `no first attempt of ${JSON.stringify(world.updates.slice(0, 2))}`;
    if (response === 500) {
      const wrong = await playMeanwhile(stage, scene, step);
      if (wrong !== undefined) return wrong;
    }
    ledger.refuse(world.name, undefined);
    if (response === GONE) {
      world.reach("webhookReplayed");
      for (const { id } of refused) await servers.control("POST", `worlds/${place}/deliveries/${id}/replay`);
      return ledger.settle(world);
    }
    world.reach("webhookRetried");
    // The webhooks that the move of the clock causes are removed from the expected ones before the move, because the move first waits for all
    // expected webhooks.
    const due = world.updates.splice(0);
    const moved = await changeWorld(stage, scene, { kind: "advance", world: of, seconds: RETRY_SECONDS });
    if (moved !== undefined) return moved;
    world.updates.push(...due.flatMap(byNow));
    return (await ledger.settle(world)) ?? lookAtEnded(stage, scene, refused, due);
  } finally {
    ledger.refuse(world.name, undefined);
  }
}
