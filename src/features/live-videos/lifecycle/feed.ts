/**
 * The door for whoever receives streams (an ingest, or an operator's own behind HTTP): what an encoder does, told to the
 * table. Each feed of a video has a number; what is told of an old one after a new one began counts no more.
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

/** An encoder came with a key. Undefined: the key opens nothing (unknown, dead, or the broadcast is over), so it is turned away. */
export async function feedStarted(world: World, streamKey: string): Promise<Feed | undefined> {
  const hash = hashOfKey(streamKey);
  const known = await findVideoByKey(world.database.reader, hash);
  if (known === undefined) return undefined;
  return world.database.write(async (tx) => {
    const row = await holdVideo(tx, nodeId(known.id));
    // The key may have died between the two looks.
    if (row?.stream_key_hash !== hash) return undefined;
    const moved = await moveVideo(tx, world, row, "feed_started");
    return moved === undefined ? undefined : feedOf(moved);
  });
}

/** LIVE-9: the encoder failed or the network did; it may come back with its key for as long as the window is open. */
export const feedLost = (world: World, feed: Pick<Feed, "video" | "session">): Promise<Feed | undefined> => tellOfFeed(world, feed, "feed_lost");

/** The encoder stopped by itself. D-110: only `end_live_video` ends a broadcast, so it may come back as after a loss. */
export const feedEnded = feedLost;

/** LIVE-11: the stream ends. */
export const noAudio = (world: World, feed: Pick<Feed, "video" | "session">): Promise<Feed | undefined> => tellOfFeed(world, feed, "audio_missing");

/** Undefined: there is no such feed any more, and nothing happened. */
function tellOfFeed(world: World, { video, session }: Pick<Feed, "video" | "session">, event: LiveEvent): Promise<Feed | undefined> {
  return world.database.write(async (tx) => {
    const row = await holdVideo(tx, video);
    if (row === undefined || row.has_feed === 0 || row.feed_session !== session) return undefined;
    const moved = await moveVideo(tx, world, row, event);
    return moved === undefined ? undefined : feedOf(moved);
  });
}
