/**
 * An operator's own media server that can only call an address (D-118): each feed of it has a source, which is the connection as the
 * media server names it.
 */
import type { World } from "#graph/worlds/world";
import { nodeId } from "#kernel/ids";
import { eitherWay } from "#storage/outcomes";
import { feedLost, feedStarted, findFeedByKey } from "../lifecycle/feed.ts";
import { deleteIngest, findIngest, saveIngest } from "./ingests.store.ts";
import { DEAD_AFTER_MS } from "./liveness.ts";

/** A media server that speaks of its feeds again and again does so every 30 s; three times missed, its feed is lost. */
const SILENT_MS_MAX = 90_000;

const idOf = (source: string): string => `media server ${source}`;

/**
 * The source sends, or wants to. `isRepeated`: it says so again and again, so its silence is a loss. False: it may not, or not any more.
 */
export async function sourceSends(world: World, key: string, source: string, isRepeated: boolean): Promise<boolean> {
  const { database, realNowMs } = world;
  const ingest = idOf(source);
  const row = await findFeedByKey(world, key);
  if (row === undefined) return false;
  const isOwn = row.has_feed === 1 && row.feed_ingest === ingest;
  if (row.has_feed === 1 && !isOwn && row.feed_ingest !== null) {
    // One that says nothing more gives way.
    const other = await findIngest(database.reader, row.feed_ingest);
    if (other !== undefined && other.seen_ms >= realNowMs() - DEAD_AFTER_MS) return false;
  }
  if (!isOwn && (await feedStarted(world, key, { ingest })) === undefined) return false;
  if (isRepeated) await database.write((tx) => saveIngest(tx, ingest, realNowMs() + SILENT_MS_MAX - DEAD_AFTER_MS));
  return true;
}

/** The source sends no more. Another one's feed goes on. */
export async function sourceEnded(world: World, key: string, source: string): Promise<void> {
  const row = await findFeedByKey(world, key);
  if (row?.has_feed !== 1 || row.feed_ingest !== idOf(source)) return;
  await feedLost(world, { video: nodeId(row.id), session: row.feed_session });
  // Only one that says so again and again has a row.
  await world.database.write((tx) => eitherWay(deleteIngest(tx, idOf(source))));
}
