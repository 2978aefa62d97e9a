/** Feeds whose last file could not be read. */
import { ALERTS_MAX, type Alert } from "#control-contract/alert";
import type { World } from "#graph/worlds/world";
import { listFailedFeeds } from "../ingestion/uploads.store.ts";

export const feedAlerts = async ({ database: { reader } }: World): Promise<readonly Alert[]> =>
  (await listFailedFeeds(reader, ALERTS_MAX)).map(({ feed, n, problem, ended_time }) => ({
    ...{ kind: "feed", level: "warning", of: feed, time: ended_time },
    text: `Upload ${n} of feed ${feed} failed: ${problem ?? "it was not read to its end"}. The feed holds what it held before.`,
  }));
