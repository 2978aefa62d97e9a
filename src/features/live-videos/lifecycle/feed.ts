/**
 * The functions that ingest processes and media servers use to report the events of encoders. Each function applies an event by the table of states
 * in `states.ts`. The feeds of a video are numbered, so that a report about an old feed is ignored after a new feed has started (D-110).
 */
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import { lastSession } from "#recordings/read-recording";
import type { Reader, Transaction } from "#storage/database";
import { passOf } from "../ingest/test-encoder.ts";
import { findVideoById, findVideoByKey, type LiveVideoRow } from "../live-videos.store.ts";
import { type LiveEvent, type State, takesFeed } from "./states.ts";
import { hashOfKey, holdVideo, moveVideo } from "./transitions.ts";

export interface Feed {
  readonly video: NodeId;
  /** The number of the feed among the feeds of its video; the first feed has the number 1. */
  readonly session: number;
  readonly state: State;
}

export type FeedName = Pick<Feed, "video" | "session">;

/** The source of a feed that starts: the ingest process or media server, and the size of the pictures. */
export interface FeedSource {
  readonly ingest: string;
  /** The width of the pictures in pixels; absent if the width is not known. */
  readonly width?: number;
  readonly height?: number;
}

const feedOf = ({ id, feed_session, state }: LiveVideoRow): Feed => ({ video: nodeId(id), session: feed_session, state });

/** Returns the video to which an encoder with this key may send, or undefined if the encoder must be refused. */
export async function findFeedByKey(world: World, streamKey: string): Promise<LiveVideoRow | undefined> {
  const row = await findVideoOf(world, hashOfKey(streamKey));
  return row !== undefined && takesFeed(row.state) ? row : undefined;
}

/** Returns whether a video of a world has this stream key. The world may be closed, so the function reads the stored data of the world (D-333). */
export const isStreamKey = async (reader: Reader, streamKey: string): Promise<boolean> =>
  (await findVideoByKey(reader, hashOfKey(streamKey))) !== undefined;

/**
 * Starts a feed when an encoder connects with a stream key. Returns undefined if the encoder must be refused, because the key is unknown or expired,
 * or because the broadcast is over.
 */
export async function feedStarted(world: World, streamKey: string, source?: FeedSource): Promise<Feed | undefined> {
  const hash = hashOfKey(streamKey);
  const known = await findVideoOf(world, hash);
  if (known === undefined) return undefined;
  const pass = passOf(world, hash);
  // A snapshot of the world contains no recordings. So after the world is restored, the folder of recordings may contain sessions of the video with
  // greater numbers than `feed_session`.
  const recorded = world.recordings === undefined ? 0 : await lastSession(world.recordings, world.name, known.id);
  const feed = await world.database.write(async (tx) => {
    const row = await holdVideo(tx, nodeId(known.id));
    // The key may have expired since the video was read outside the transaction.
    if (row === undefined || (pass === undefined && row.stream_key_hash !== hash)) return undefined;
    const { ingest = null, width: feed_width = row.feed_width, height: feed_height = row.feed_height } = source ?? {};
    const feed_session = Math.max(row.feed_session, recorded);
    const moved = await moveVideo(tx, world, { ...row, has_feed: 1, feed_session, feed_ingest: ingest, feed_width, feed_height }, "feed_started");
    return moved === undefined ? undefined : feedOf(moved);
  });
  if (feed !== undefined) pass?.began.resolve();
  return feed;
}

/** Finds a video by its stream key, or by the pass of the test encoder (D-119). */
async function findVideoOf(world: World, keyHash: string): Promise<LiveVideoRow | undefined> {
  const { reader } = world.database;
  const pass = passOf(world, keyHash);
  return pass === undefined ? findVideoByKey(reader, keyHash) : findVideoById(reader, pass.video);
}

/**
 * LIVE-9: reports that the connection to the encoder is lost, or that the encoder has stopped. A lost connection or a stopped encoder does not end
 * the broadcast (D-110): the encoder may reconnect with its key within `RECONNECT_WINDOW_MS`.
 */
export const feedLost = (world: World, feed: FeedName): Promise<Feed | undefined> => reportFeedEvent(world, feed, "feed_lost");

/** LIVE-11: reports that the stream has no sound, which ends the stream. */
export const noAudio = (world: World, feed: FeedName): Promise<Feed | undefined> => reportFeedEvent(world, feed, "audio_missing");

/** D-115: reports that the recording cannot be stored, which ends the stream. */
export const noStorage = (world: World, feed: FeedName): Promise<Feed | undefined> => reportFeedEvent(world, feed, "storage_missing");

/** Applies an event of a feed in a transaction. Returns undefined, and changes nothing, if the feed is not the current feed of its video. */
function reportFeedEvent(world: World, feed: FeedName, event: LiveEvent): Promise<Feed | undefined> {
  return world.database.write((tx) => applyFeedEvent(tx, world, feed, event));
}

export async function applyFeedEvent(tx: Transaction, world: World, { video, session }: FeedName, event: LiveEvent): Promise<Feed | undefined> {
  const row = await holdVideo(tx, video);
  if (row === undefined || row.has_feed === 0 || row.feed_session !== session) return undefined;
  const moved = await moveVideo(tx, world, row, event);
  return moved === undefined ? undefined : feedOf(moved);
}
