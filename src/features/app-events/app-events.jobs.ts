/**
 * A job deletes raw events some days after their arrival. The job does not delete counts and sums of events, event names and devices. A request is
 * stored at least as long as a duplicate of one of its events may arrive: 48 hours after the request's arrival, and 48 hours after the time of each
 * event (D-71).
 */
import { defineSetting, readSetting } from "#graph/contract/feature";
import { findSetting, saveSetting } from "#graph/worlds/settings.store";
import type { World } from "#graph/worlds/world";
import type { JobKind } from "#jobs/job-kind";
import { unixSeconds } from "#kernel/clock";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { DAY_SECONDS, DEDUP_WINDOW_SECONDS } from "./app-events.limits.ts";
import { deleteEventsBetween, findExpired, listAppsWithEvents } from "./log/log.store.ts";

/** The number of days for which raw events are stored. A world can override the server's number of days. */
export const appEventDays = defineSetting({
  name: "app_event_days",
  value: "DAYS",
  minimum: 0,
  // 90 days (a quarter of a year) are longer than every attribution window (LIM-10, LIM-12).
  default: 90,
  summary: "days for which Plaza keeps raw app events, at least the 48 hours of deduplication; 0: forever. Counts and sums are kept forever",
});

const KIND = "app_event_retention";
const KEY = "daily";
/**
 * The number of log rows that one transaction deletes, together with the rows of the indexes. Deleting 1,000 rows takes no longer than storing a
 * batch of events.
 */
const ROWS_PER_WRITE = 1_000;

export const retention: JobKind<World> = {
  kind: KIND,
  async run(world, _key, _payload, job) {
    await deleteExpired(world);
    await world.database.write(async (tx) => {
      await job.settle(tx);
      await schedule(tx, world);
    });
  },
};

const schedule = (tx: Transaction, world: World): Promise<void> =>
  world.jobs.schedule(tx, { kind: KIND, key: KEY, dueMs: world.clock.nowMs() + DAY_SECONDS * 1_000 });

/**
 * Schedules the job that deletes old events, unless the job is already scheduled. Each process calls this function in the first transaction that
 * stores events.
 */
export async function ensureRetention(tx: Transaction, world: World): Promise<void> {
  if ((await world.jobs.dueTimeOf(tx, KIND, KEY)) === undefined) await schedule(tx, world);
}

/**
 * Returns the number of days for which the world stores raw events: the world's own setting or, without one, the server's setting. If the number of
 * days is 0, events are never deleted.
 */
export async function readRetentionDays(world: World, reader: Reader = world.database.reader): Promise<number> {
  const ofWorld = await findSetting(reader, appEventDays.name);
  return ofWorld === undefined ? readSetting(world, appEventDays) : Number(ofWorld);
}

export const saveRetentionDays = (world: World, days: number): Promise<void> =>
  world.database.write((tx) => saveSetting(tx, appEventDays.name, String(days)));

async function deleteExpired(world: World): Promise<void> {
  const days = await readRetentionDays(world);
  if (days === 0) return;
  const repeatable = unixSeconds(world.clock) - DEDUP_WINDOW_SECONDS;
  const before = Math.min(unixSeconds(world.clock) - days * DAY_SECONDS, repeatable);
  for (const app of await listAppsWithEvents(world.database.reader)) {
    let after: number | undefined = 0;
    while (after !== undefined) after = await deleteSome(world, app, after, { before, repeatable });
  }
}

/**
 * Two times (Unix seconds) by which the job decides which requests it deletes. A request is deleted if it arrived before `before`, unless one of its
 * events has an `event_id` and a time after `repeatable`, because a duplicate of that event may still arrive.
 */
interface Expiry {
  readonly before: number;
  readonly repeatable: number;
}

/**
 * Deletes some expired requests whose numbers are greater than `after`. Returns the number of the newest request that the call has checked, or
 * undefined if no expired request is left.
 */
const deleteSome = (world: World, app: NodeId, after: number, { before, repeatable }: Expiry): Promise<number | undefined> =>
  world.database.write(async (tx) => {
    await tx.lock("app events", app);
    const last = await findExpired(tx, app, after, before, ROWS_PER_WRITE);
    if (last !== undefined) await deleteEventsBetween(tx, app, after, last, repeatable);
    return last;
  });
