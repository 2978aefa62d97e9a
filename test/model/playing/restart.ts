/** Ends or kills a process while it handles a write, and while webhooks of the write are on their way. */
import type { InterruptStep, RestartStep } from "../histories/steps.ts";
import { replyTo } from "../reference/reply.ts";
import type { GraphRequest } from "../reference/requests.ts";
import type { World } from "../reference/world.ts";
import { fillingOf, takeResponse } from "./ask.ts";
import { fillFeed } from "./changes/fill-feed.ts";
import { differenceOf } from "./compare.ts";
import { noteNodes, resolve } from "./resolve.ts";
import type { Scene, Stage } from "./scene.ts";
import { send } from "./send.ts";

/** The status with which a process that ends refuses requests that have not begun (docs/operating/start.md). */
const TURNED_AWAY = 503;

export async function playRestart(stage: Stage, scene: Scene, step: RestartStep): Promise<string | undefined> {
  const { servers } = stage;
  const request = resolve(step.request, scene.world, fillingOf(stage, scene));
  const address = servers.address(scene.place, request.surface);
  const response = send(address, request).catch(() => undefined);
  if (step.afterMs === null) await response;
  else await Bun.sleep(step.afterMs);
  await servers.restart(scene.place, step.how);
  const received = await response;
  if (step.how === "stop" && received?.status === TURNED_AWAY) {
    const difference = differenceOf(
      inModel(scene.world),
      await inServer(stage, scene.place),
      "the server kept something of a write that it had refused",
    );
    if (difference === undefined) stage.coverage.happens("a process refuses a write because it is ending");
    return difference;
  }
  // An acknowledged write must be stored. If an acknowledged write were not stored, the rest of the history would show that.
  if (received !== undefined) return takeResponse(stage, scene, step.request, { address, request, received });
  return findOut(stage, scene, { address, request });
}

/** The server reads an accepted file to its end, in another process if the first process ends. */
export async function playInterruption(stage: Stage, scene: Scene, { how, upload, afterMs }: InterruptStep): Promise<string | undefined> {
  const { ledger, servers } = stage;
  return (
    (await ledger.settle(scene.world)) ??
    fillFeed(stage, scene, upload, async (path) => {
      await Bun.sleep(afterMs);
      const { body } = await servers.control("GET", path);
      await servers.restart(scene.place, how);
      if ((body as { readonly ended_time?: number }).ended_time === undefined) scene.world.reach("readingInterrupted");
    })
  );
}

type Entry = Readonly<Record<string, unknown>> & { readonly id: string };
type Kept = Readonly<Record<"labels" | "personas", readonly Entry[]>>;

const sorted = <Item>(items: readonly Item[], textOf: (item: Item) => string): Item[] => items.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));

const byId = (entries: readonly Entry[]): Entry[] => sorted(entries, ({ id }) => id);

const inModel = ({ labels, personas }: World): Kept => ({
  labels: byId([...labels.values()].map((label) => ({ ...label, users: [...label.users].sort() }))),
  personas: byId([...personas.values()].map((persona) => ({ ...persona }))),
});

/** A limit that is larger than the number of labels or personas in a history. */
const ROWS = 1_000;

async function inServer({ servers }: Stage, place: string): Promise<Kept> {
  const read = async (key: keyof Kept): Promise<Entry[]> => {
    const { body } = await servers.control("GET", `worlds/${place}/nodes/${key}?limit=${ROWS}`);
    return byId((body as { readonly data: readonly Entry[] }).data);
  };
  const labels = (await read("labels")).map(({ users, ...label }) => ({ ...label, users: [...((users ?? []) as string[])].sort() }));
  return { labels, personas: await read("personas") };
}

/** Finds out from the stored data whether the server made the write. If the server made the write, it made it completely, with its webhooks. */
async function findOut(stage: Stage, scene: Scene, { address, request }: { readonly address: string; readonly request: GraphRequest }) {
  const { world, ever, place } = scene;
  world.reach("writeUnanswered");
  const kept = await inServer(stage, place);
  if (differenceOf(inModel(world), kept) === undefined) {
    stage.coverage.happens("a write without a response was not done");
    return undefined;
  }
  const known = new Set([...world.labels.keys(), ...world.personas.keys()]);
  const made = [...kept.labels, ...kept.personas].find(({ id }) => !known.has(id));
  replyTo(world, request, address, { body: { id: made?.id } });
  noteNodes(world, ever);
  stage.coverage.happens("a write without a response was done");
  const difference = differenceOf(inModel(world), kept, "what is kept");
  return difference === undefined ? undefined : `${request.method} ${request.path} without a response: ${JSON.stringify(request)}\n  ${difference}`;
}
