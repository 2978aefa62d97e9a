/** Retention: raw events are deleted some days after they arrived; counts, sums, names and installs stay. */
import { readSetting } from "#graph/contract/setting";
import { findSetting, saveSetting } from "#graph/worlds/settings.store";
import type { World } from "#graph/worlds/world";
import type { JobKind } from "#jobs/job-kind";
import { unixSeconds } from "#kernel/clock";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { DAY_SECONDS } from "./app-events.limits.ts";
import { appEventDays } from "./app-events.settings.ts";
import { logIndexOf } from "./dedup-index/log-index.ts";
import { deleteEventsUpTo, findExpired, listAppsWithEvents } from "./log/log.store.ts";

const KIND = "app_event_retention";
const KEY = "daily";
/** Rows deleted in one write. It takes some 10 ms, no longer than a batch of events. */
const ROWS_PER_WRITE = 2_000;

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

/** Schedules the job in the transaction of a world's first events, unless it is scheduled already. */
export async function ensureRetention(tx: Transaction, world: World): Promise<void> {
  if ((await world.jobs.dueTimeOf(tx, KIND, KEY)) === undefined) await schedule(tx, world);
}

/** Days: the setting of the world, else the configured one; 0 keeps events forever. */
export async function readRetentionDays(world: World, reader: Reader = world.database.reader): Promise<number> {
  const ofWorld = await findSetting(reader, appEventDays.name);
  return ofWorld === undefined ? readSetting(world, appEventDays) : Number(ofWorld);
}

export const saveRetentionDays = (world: World, days: number): Promise<void> =>
  world.database.write((tx) => saveSetting(tx, appEventDays.name, String(days)));

async function deleteExpired(world: World): Promise<void> {
  const days = await readRetentionDays(world);
  if (days === 0) return;
  const before = unixSeconds(world.clock) - days * DAY_SECONDS;
  for (const app of await listAppsWithEvents(world.database.reader)) {
    let deleted: number | undefined;
    for (let last = await deleteSome(world, app, before); last !== undefined; last = await deleteSome(world, app, before)) deleted = last;
    const upTo = deleted;
    if (upTo !== undefined) await world.database.write((tx) => logIndexOf(world).forgetUpTo(tx, app, upTo));
  }
}

/** Returns the number of the newest deleted request, or undefined when nothing is left to delete. */
const deleteSome = (world: World, app: NodeId, before: number): Promise<number | undefined> =>
  world.database.write(async (tx) => {
    await tx.lock("app events", app);
    const last = await findExpired(tx, app, before, ROWS_PER_WRITE);
    if (last !== undefined) await deleteEventsUpTo(tx, app, last);
    return last;
  });
