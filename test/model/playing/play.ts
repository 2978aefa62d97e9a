/** Plays a history against a server and the model at once, and says where they part. */
import type { History, RequestStep, Step } from "../histories/steps.ts";
import { isAnythingDue } from "../reference/areas/live-states.ts";
import { isFailure } from "../reference/replies.ts";
import { replyTo } from "../reference/reply.ts";
import type { GraphRequest } from "../reference/requests.ts";
import { askAgain } from "./again.ts";
import { askInBatch } from "./batch.ts";
import { letTimePass } from "./change-video.ts";
import { changeWorld } from "./change-world.ts";
import { compare } from "./compare.ts";
import { changesFact } from "./facts.ts";
import { finishUpload } from "./fill-feed.ts";
import { askForMany } from "./many.ts";
import { playOutage } from "./outage.ts";
import { type Filling, noteNodes, resolve } from "./resolve.ts";
import { closeScene, openScene, type Scene, type Stage } from "./scene.ts";
import { type Received, send } from "./send.ts";

/** Where server and model part: the step's place in the history, or its end. */
export interface Parting {
  readonly step: number | "end";
  readonly what: string;
}

export async function play(stage: Stage, history: History): Promise<Parting | undefined> {
  const used = history.worlds.map((profile, place) => (history.steps.some(({ world }) => world === place) ? profile : undefined));
  const scenes = await Promise.all(used.map((profile) => (profile === undefined ? undefined : openScene(stage, profile))));
  let isRight = false;
  try {
    for (const [place, step] of history.steps.entries()) {
      const scene = scenes[step.world];
      if (scene === undefined) throw new Error(`the history has no world ${step.world}`);
      const what = await take(stage, scene, step);
      if (what !== undefined) return { step: place, what };
    }
    for (const scene of scenes) {
      const what = scene === undefined ? undefined : await stage.ledger.settle(scene.world);
      if (what !== undefined) return { step: "end", what };
    }
    isRight = true;
    return undefined;
  } finally {
    for (const scene of scenes) if (scene !== undefined) await closeScene(stage, scene, isRight);
  }
}

async function take(stage: Stage, scene: Scene, step: Step): Promise<string | undefined> {
  stage.coverage.happens(`steps in the profile ${scene.world.profile}`);
  if (step.world > 0) stage.coverage.happens("steps in a second world");
  if (step.kind !== "request") stage.coverage.happens(step.kind === "restart" ? `${step.kind} (${step.how})` : step.kind);
  if (step.kind === "request") return ask(stage, scene, step, resolve(step, scene.world, fillingOf(stage, scene)));
  if (step.kind === "batch") return askInBatch(stage, scene, step, fillingOf(stage, scene));
  if (step.kind === "many") return askForMany(stage, scene, step, fillingOf(stage, scene));
  if (step.kind === "again") return askAgain(stage, scene, step);
  if (step.kind === "follow") return follow(stage, scene, step.link);
  return step.kind === "outage" ? playOutage(stage, scene, step) : changeWorld(stage, scene, step);
}

/** Operations that change where webhooks go. */
const REROUTING: ReadonlySet<string> = new Set([
  "setAccountOverride",
  "setNumberOverride",
  "unsubscribeApp",
  "subscribeApp",
  "endSubscription",
  "subscribeToPage",
  "unsubscribeFromPage",
]);

const fillingOf = ({ ledger }: Stage, { world, ever }: Scene): Filling => ({
  ...{ ever, callback: (name) => ledger.callback(world.name, name), file: (rows) => ledger.file(rows) },
});

async function follow(stage: Stage, scene: Scene, which: "next" | "previous"): Promise<string | undefined> {
  const { links } = scene;
  const link = links?.[which];
  if (links === undefined || link === undefined) return undefined;
  const { body: _, ...request } = links.request;
  return ask(stage, scene, undefined, { ...request, method: "GET", query: [...new URL(link).searchParams] });
}

async function ask(stage: Stage, scene: Scene, step: RequestStep | undefined, request: GraphRequest): Promise<string | undefined> {
  const { servers, coverage, ledger } = stage;
  const { world, ever } = scene;
  // A delivery goes by what holds when it is sent, so what is on its way comes first.
  const missing = REROUTING.has(step?.operation ?? "") ? await ledger.settle(world) : undefined;
  if (missing !== undefined) return missing;
  const address = servers.address(scene.place, request.surface);
  const received = await send(address, request);
  const replied = replyTo(world, request, address, received);
  const { reply, difference } = compare(replied, world.profile, received);
  if (difference !== undefined) {
    return `${request.method} ${address}${request.path} (${step?.operation ?? "a link"}, ${world.profile}): ${JSON.stringify(request)}\n  ${difference}`;
  }
  if (changesFact(replied.operation, reply)) servers.noteFact(scene.place);
  if (isAnythingDue(world)) await letTimePass(servers, scene);
  const unread = await readFile(stage, scene);
  if (unread !== undefined) return unread;
  if (reply !== undefined) coverage.count(replied.operation?.name, isFailure(reply) ? reply.error : undefined);
  noteNodes(world, ever);
  noteLinks(scene, request, received);
  const { etag } = received.headers;
  if (request.method === "GET" && received.status === 200 && etag === undefined) return `${request.path}: a response without an entity tag`;
  if (request.method === "GET" && received.status === 200 && etag !== undefined) scene.last = { request, etag, body: received.body };
  return undefined;
}

/** What was sent to a feed is read before the history goes on. */
async function readFile(stage: Stage, scene: Scene): Promise<string | undefined> {
  const { reading } = scene.world;
  if (reading === undefined) return undefined;
  scene.world.reading = undefined;
  return finishUpload(stage, scene, reading);
}

function noteLinks(scene: Scene, request: GraphRequest, { body }: Received): void {
  const { paging } = (typeof body === "object" && body !== null ? body : {}) as { paging?: { next?: string; previous?: string } };
  if (paging?.next === undefined && paging?.previous === undefined) return;
  const { next, previous } = paging;
  scene.links = { request, ...(next === undefined ? {} : { next }), ...(previous === undefined ? {} : { previous }) };
}
