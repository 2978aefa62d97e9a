/** Reads world files, adds the entries of a case, and loads a world into a running server. */

import { worldTexts } from "./files.ts";
import { exchange } from "./http/requests.ts";
import { fill } from "./names.ts";
import type { Target } from "./session.ts";
import { readYaml } from "./yaml.ts";

export type World = Readonly<Record<string, unknown>>;

type Entry = Readonly<Record<string, unknown>>;

interface ClockState {
  /** The time on the world's clock, in Unix seconds. */
  readonly now: number;
  readonly frozen: boolean;
}

/**
 * The greatest difference between the server's clock and the time that cases expect. The clock moves on by some minutes during a run, and the
 * times in cases stay right for an hour.
 */
const CLOCK_SECONDS_MAX = 3_600;

/** Returns a text that identifies an entry of a world file. If two entries have the same identifying text, they are treated as one entry. */
const identity = (entry: Entry): string => String(entry.id ?? entry.token ?? JSON.stringify(entry));

const worldsRead = new Map<string, World>();

function readWorld(name: string): World {
  const known = worldsRead.get(name);
  if (known !== undefined) return known;
  const text = worldTexts[`${name}.yaml`];
  if (text === undefined) throw new Error(`no world is named ${name}`);
  const world = readYaml(text) as World;
  worldsRead.set(name, world);
  return world;
}

/**
 * Returns the base world with the entries of the case added. If an entry of the case has the id of an entry of the base world, its keys replace
 * the keys of that entry.
 */
export function buildWorld(name: string, fragment: World, names: ReadonlyMap<string, unknown>): World {
  const base = readWorld(name);
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(fragment))
    merged[key] = Array.isArray(value) && Array.isArray(base[key]) ? mergeLists(base[key], value) : value;
  return fill(merged, new Map(names)) as World;
}

function mergeLists(base: readonly Entry[], added: readonly Entry[]): Entry[] {
  const byIdentity = new Map(base.map((entry) => [identity(entry), entry]));
  for (const entry of added) byIdentity.set(identity(entry), { ...byIdentity.get(identity(entry)), ...entry });
  return [...byIdentity.values()];
}

/**
 * The keys of a world file in the order in which their entries can be created, because entries refer to entries of earlier keys: pages to
 * people, posts to pages.
 */
const KEYS_IN_ORDER = [
  "users",
  "businesses",
  "microblog_users",
  "apps",
  "places",
  "pages",
  "social_accounts",
  "labels",
  "personas",
  "required_actions",
  "live_videos",
  "media",
  "microblog_media",
  "activity",
  "followers",
  "catalogs",
  "product_feeds",
  "chatapp_accounts",
  "phone_numbers",
  "solutions",
  "migration_intents",
  "ads",
];

/** The keys of a world file that are not nodes. */
const OTHER_KEYS: readonly string[] = ["clock", "tokens"];

/**
 * Returns the nodes of a world in the order in which they can be created. Throws if the world has a key that `KEYS_IN_ORDER` lacks, because the
 * nodes of that key would be missing without a message.
 */
export function nodesInOrder(world: World): (readonly [key: string, entry: Entry])[] {
  const unknown = Object.keys(world).find((key) => !KEYS_IN_ORDER.includes(key) && !OTHER_KEYS.includes(key));
  if (unknown !== undefined) throw new Error(`a world has the key "${unknown}", which KEYS_IN_ORDER of conformance/worlds.ts lacks`);
  return KEYS_IN_ORDER.flatMap((key) => ((world[key] ?? []) as Entry[]).map((entry) => [key, entry] as const));
}

/**
 * Loads the entries that the server's default world lacks, one by one. If the server returns status 409 for an entry, its world already has the
 * entry. `loaded` has the entries that this run has already loaded. After it has loaded the entries, the function sets the world's clock to the
 * day that many cases name.
 */
export async function loadWorld(target: Target, world: World, loaded: Set<string>): Promise<void> {
  const ask = async (method: string, path: string, json?: unknown) => {
    const step = { method, target: path, on: "world", ...(json === undefined ? {} : { json }) };
    const { response } = await exchange(step, target.addresses, { Authorization: `Bearer ${target.controlKey}` });
    if (response.status >= 300 && response.status !== 409)
      throw new Error(`loading the world: ${method} ${path} returned ${response.status} ${response.text}`);
    return response.text;
  };
  const tokens = ((world.tokens ?? []) as Entry[]).map((token) => ["/tokens", token] as const);
  for (const [path, entry] of [...nodesInOrder(world).map(([key, node]) => [`/nodes/${key}`, node] as const), ...tokens]) {
    const name = `${path} ${JSON.stringify(entry)}`;
    if (!loaded.has(name)) await ask("POST", path, entry);
    loaded.add(name);
  }
  const wanted = world.clock as ClockState | undefined;
  if (wanted === undefined) return;
  const { now, frozen } = JSON.parse(await ask("GET", "/clock")) as ClockState;
  if (frozen !== wanted.frozen || now < wanted.now || now > wanted.now + CLOCK_SECONDS_MAX) await ask("PUT", "/clock", wanted);
}
