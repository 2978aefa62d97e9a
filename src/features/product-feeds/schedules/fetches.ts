/**
 * The job that fetches a feed's file at the times of one of the feed's schedules (D-146). Plaza ingests the fetched file like a file that a caller
 * uploads.
 */
import type { World } from "#graph/worlds/world";
import type { JobKind } from "#jobs/job-kind";
import { certain, type Transaction } from "#storage/database";
import { countWaitingUploads } from "../ingestion/uploads.store.ts";
import { receiveUrl } from "../ingestion/uploads.ts";
import { UPLOADS_WAITING_MAX } from "../product-feeds.limits.ts";
import { findFeed } from "../product-feeds.store.ts";
import { nextFetchMs, readSchedule, type ScheduleKind, scheduleKinds } from "./schedule.ts";

const KIND = "feed_fetch";

const keyOf = (feed: string, kind: ScheduleKind): string => `${feed} ${kind}`;

/**
 * Plans the next fetches of a feed. The caller must have stored or deleted the feed. The caller passes undefined for an unchanged schedule, and null
 * for a removed schedule.
 */
export async function planFetches(
  tx: Transaction,
  world: World,
  feed: string,
  schedules: { readonly [kind in ScheduleKind]?: string | null | undefined },
): Promise<void> {
  for (const kind of scheduleKinds) {
    const text = schedules[kind];
    if (text === undefined) continue;
    const schedule = readSchedule(text);
    if (schedule === undefined) await world.jobs.cancel(tx, KIND, keyOf(feed, kind));
    else await world.jobs.schedule(tx, { kind: KIND, key: keyOf(feed, kind), dueMs: nextFetchMs(schedule, world.clock.nowMs()) });
  }
}

export const feedFetches: JobKind<World> = {
  kind: KIND,
  async run(world, key, _payload, job) {
    const [feed = "", kind = "schedule"] = key.split(" ") as [string?, ScheduleKind?];
    await world.database.write(async (tx) => {
      const schedule = readSchedule((await findFeed(tx, feed))?.[kind] ?? null);
      if (schedule === undefined) return job.settle(tx);
      // If too many earlier files of the feed wait to be read, the job skips the fetch.
      const isBusy = (await countWaitingUploads(tx, feed)) >= UPLOADS_WAITING_MAX;
      const input = { isUpdate: kind === "update_schedule" };
      if (!isBusy) await certain(receiveUrl(tx, world, feed, schedule.url, input), "begin an upload of an existing feed");
      await job.settle(tx);
      await world.jobs.schedule(tx, { kind: KIND, key, dueMs: nextFetchMs(schedule, world.clock.nowMs(), job.dueMs) });
    });
  },
};
