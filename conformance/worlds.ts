/** World files: reading, adding a case's fragment, and putting one into a server that already runs. */
import { parse } from "yaml";
import { worldTexts } from "./files.ts";
import { exchange } from "./http/requests.ts";
import { fill } from "./names.ts";
import type { Target } from "./session.ts";

export type World = Readonly<Record<string, unknown>>;

type Entry = Readonly<Record<string, unknown>>;

/** What makes two entries of a world file the same one. */
const identity = (entry: Entry): string => String(entry.id ?? entry.token ?? JSON.stringify(entry));

/** The base world with the fragment's entries added; an entry with a known id is laid over the base's. */
export function buildWorld(name: string, fragment: World, names: ReadonlyMap<string, unknown>): World {
  const text = worldTexts[`${name}.yaml`];
  if (text === undefined) throw new Error(`no world is named ${name}`);
  const base = parse(text, { merge: true }) as World;
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

/** Entries refer to those above: people before pages, pages before what hangs on them, and so on. */
const KEYS_IN_ORDER = [
  "users",
  "businesses",
  "microblog_users",
  "apps",
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

/** Puts the entries that the server's default world lacks into it, one by one; 409 says that one is there. */
export async function loadWorld(target: Target, world: World): Promise<void> {
  const post = async (path: string, json: unknown) => {
    const { response } = await exchange({ method: "POST", target: path, on: "world", json }, target.addresses, {
      Authorization: `Bearer ${target.controlKey}`,
    });
    if (response.status >= 300 && response.status !== 409)
      throw new Error(`loading the world: POST ${path} returned ${response.status} ${response.text}`);
  };
  for (const key of KEYS_IN_ORDER) for (const entry of (world[key] ?? []) as Entry[]) await post(`/nodes/${key}`, entry);
  for (const token of (world.tokens ?? []) as Entry[]) await post("/tokens", token);
}
