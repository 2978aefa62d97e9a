/** The end of a feed, and of the uploads that were nodes. Jobs delete its items and files afterwards, because there may be millions. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { eitherWay } from "#storage/outcomes";
import { scheduleIngestion } from "./ingestion/jobs.ts";
import { deleteUploadsOfFeed } from "./ingestion/uploads.store.ts";
import { deleteFeed, listFeedsOfCatalog } from "./product-feeds.store.ts";
import { planFetches } from "./schedules/fetches.ts";

/** Returns false if there is no such feed. */
export async function removeFeed(tx: Transaction, world: World, feed: NodeId): Promise<boolean> {
  if (!(await deleteFeed(tx, feed))) return false;
  await planFetches(tx, world, feed, { schedule: null, update_schedule: null });
  await scheduleIngestion(tx, world, feed);
  await deleteUploadsOfFeed(tx, feed);
  return true;
}

export async function removeFeedsOfCatalog(tx: Transaction, catalog: NodeId, world: World): Promise<void> {
  for (const feed of await listFeedsOfCatalog(tx, catalog)) await eitherWay(removeFeed(tx, world, feed));
}
