/** The parts of a playing history: the server, the receiver of its webhooks, and each world with its model. */
import { type WorldPlan, worldFile } from "../histories/world-file.ts";
import { loadWorld } from "../reference/load.ts";
import type { GraphRequest } from "../reference/requests.ts";
import type { Profile, World } from "../reference/world.ts";
import type { Coverage } from "./coverage.ts";
import type { Ledger } from "./ledger.ts";
import { type EverNodes, noteNodes } from "./resolve.ts";
import type { Servers } from "./servers.ts";

export interface Stage {
  readonly servers: Servers;
  /** Starts another one, for a world that moves there. */
  readonly startOther: () => Promise<Servers>;
  readonly ledger: Ledger;
  readonly coverage: Coverage;
  /** Names of worlds that earlier histories have used. They are reset, which on PostgreSQL takes a fifth of the time that a new world takes. */
  readonly used: Readonly<Record<Profile, string[]>>;
}

/** One world of a history. */
export interface Scene {
  readonly world: World;
  /** The name of the server's world, which is another one after an export and import. */
  place: string;
  /** The server that the world has moved to, if it has. */
  elsewhere?: Servers;
  readonly ever: EverNodes;
  /** Its world has the usual file, to which a reset leads back. */
  isUsual: boolean;
  /** The last read that was a success, with its entity tag. */
  last?: { readonly request: GraphRequest; readonly etag: string; readonly body: unknown };
  /** Copies of tokens, by the values of their originals. */
  readonly copies: Map<string, string>;
  /** The last snapshot of the world. */
  kept?: World;
  /** The last page that had links. */
  links?: { readonly request: GraphRequest; readonly next?: string; readonly previous?: string };
}

const isUsual = ({ begins, versions }: WorldPlan): boolean => begins === undefined && versions === undefined;

let count = 0;

export const newName = (): string => `m${process.pid}-${++count}`;

export async function openScene({ servers, ledger, coverage, used }: Stage, plan: WorldPlan): Promise<Scene> {
  const known = isUsual(plan) ? used[plan.profile].pop() : undefined;
  const name = known ?? newName();
  const file = worldFile(plan, (app) => ledger.callback(name, app));
  const late = ledger.late(name);
  if (late !== undefined) throw new Error(late);
  const { status, body } =
    known === undefined ? await servers.control("POST", "worlds", { name, file }) : await servers.control("POST", `worlds/${name}/reset`);
  if (status >= 300) throw new Error(`the world was refused: ${JSON.stringify(body)}`);
  servers.noteFact(name);
  const world = loadWorld(name, file, coverage.reach);
  const ever: EverNodes = new Map();
  noteNodes(world, ever);
  return { world, place: name, ever, copies: new Map(), isUsual: isUsual(plan) };
}

/** A world in which something went wrong is not used again, nor one that was made of an export: its file is another. */
export async function closeScene(
  { servers, ledger, used }: Stage,
  { world, place, elsewhere, isUsual: canBeReset }: Scene,
  isRight: boolean,
): Promise<void> {
  if (elsewhere !== undefined) await elsewhere.stop();
  else if (place !== world.name) await servers.control("DELETE", `worlds/${place}`);
  if (isRight && canBeReset) used[world.profile].push(world.name);
  else await servers.control("DELETE", `worlds/${world.name}`);
  if (!isRight) ledger.ignore(world.name);
}
