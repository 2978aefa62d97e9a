/** The objects that a history is played on: the server, the receiver of webhooks, and each world with its model. */
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
  /** Starts another server for a world that moves to it. */
  readonly startOther: () => Promise<Servers>;
  readonly ledger: Ledger;
  readonly coverage: Coverage;
  /**
   * The names of worlds that earlier histories have used. Resetting a world for the next history is, on PostgreSQL, five times as fast as creating a
   * new world.
   */
  readonly used: Readonly<Record<Profile, string[]>>;
}

/** One world of a history. */
export interface Scene {
  readonly world: World;
  /** The name of the world in the server, which changes when the world is exported and imported. */
  place: string;
  /** The server that the world has moved to; undefined if it has not moved. */
  elsewhere?: Servers;
  readonly ever: EverNodes;
  /** Whether the world was made from the usual world file, whose content a reset restores. */
  isUsual: boolean;
  /** The last successful read, with the entity tag of its response. */
  last?: { readonly request: GraphRequest; readonly etag: string; readonly body: unknown };
  /** The copies of tokens, by the value of the original token. */
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

/**
 * Ends the use of a world in this history. Later histories use the world again, unless this history failed in it or made it from an export, because
 * an export's world file differs.
 */
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
