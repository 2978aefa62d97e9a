/** What is kept of a world, and how it comes back: snapshots, and the state in which it was made. */
import type { Database } from "#storage/database";
import { DatabaseLease } from "#storage/database-lease";
import { WorldClock } from "../clock.ts";
import type { OpenWorld } from "../open-world.ts";

/** The state in which a world was made, for its reset. No snapshot can have the name. */
export const BEGINNING = "_beginning";

/** A file's name on every system; it begins with a letter or digit. */
export const SNAPSHOT_NAME = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$";
const SNAPSHOT = new RegExp(SNAPSHOT_NAME);

export const isSnapshotName = (name: string): boolean => SNAPSHOT.test(name);

export async function keepWorld({ clock, database }: OpenWorld, state: string): Promise<void> {
  await clock.note();
  await database.saveState(state);
}

/** `state` undefined: the world is empty. False: there is no such state, and nothing has changed. Rejects with `StateOutdated`. */
export async function bringBack(database: Database, state: string | undefined, realNowMs: () => number): Promise<boolean> {
  if (!(await database.restoreState(state))) return false;
  const lease = new DatabaseLease(database);
  const clock = await WorldClock.open(lease, realNowMs);
  await clock.resume();
  await lease.close();
  return true;
}
