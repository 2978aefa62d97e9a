/**
 * The interface for ingest servers: each function reports an event of an encoder and applies it to the table of states. Each
 * feed of a video has a number; a report about an old feed after a new one has started is ignored (D-110).
 */
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import { findVideoByKey, type LiveVideoRow } from "../live-videos.store.ts";
import type { LiveEvent, State } from "./states.ts";
import { hashOfKey, holdVideo, moveVideo } from "./transitions.ts";

export interface Feed {
  readonly video: NodeId;
  /** Counts the feeds of the video, from 1. */
  readonly session: number;
  readonly state: State;
}

const feedOf = ({ id, feed_session, state }: LiveVideoRow): Feed => ({ video: nodeId(id), session: feed_session, state });

/** An encoder connects with a key. Undefined: the key is unknown or expired, or the broadcast is over, so the encoder is refused. */
export async function feedStarted(world: World, streamKey: string): Promise<Feed | undefined> {
  const hash = hashOfKey(streamKey);
  const known = await findVideoByKey(world.database.reader, hash);
  if (known === undefined) return undefined;
  return world.database.write(async (tx) => {
    const row = await holdVideo(tx, nodeId(known.id));
    // The key may have expired since the first read.
    if (row?.stream_key_hash !== hash) return undefined;
    const moved = await moveVideo(tx, world, row, "feed_started");
    return moved === undefined ? undefined : feedOf(moved);
  });
}

/** LIVE-9: the connection to the encoder is lost. The encoder may reconnect with its key within `RECONNECT_WINDOW_MS`. */
export const feedLost = (world: World, feed: Pick<Feed, "video" | "session">): Promise<Feed | undefined> => reportFeedEvent(world, feed, "feed_lost");

/** The encoder stopped by itself. D-110: this does not end the broadcast, so the encoder may reconnect as after a loss. */
export const feedEnded = feedLost;

/** LIVE-11: the stream ends. */
export const noAudio = (world: World, feed: Pick<Feed, "video" | "session">): Promise<Feed | undefined> =>
  reportFeedEvent(world, feed, "audio_missing");

/** Undefined: the feed is not the current one, and nothing has changed. */
function reportFeedEvent(world: World, { video, session }: Pick<Feed, "video" | "session">, event: LiveEvent): Promise<Feed | undefined> {
  return world.database.write(async (tx) => {
    const row = await holdVideo(tx, video);
    if (row === undefined || row.has_feed === 0 || row.feed_session !== session) return undefined;
    const moved = await moveVideo(tx, world, row, event);
    return moved === undefined ? undefined : feedOf(moved);
  });
}
