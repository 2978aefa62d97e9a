/** What the feeds of a world are like at the moment, kept in memory by the process that the ingest reports to. */
import type { World } from "#graph/worlds/world";

export interface FeedHealth {
  readonly video: string;
  readonly session: number;
  readonly bits_per_second: number;
  readonly frames_per_second: number;
  /** Between the last two key frames; null before the second one. */
  readonly key_frame_ms: number | null;
  readonly width: number;
  readonly height: number;
}

const worlds = new WeakMap<World, ReadonlyMap<string, FeedHealth>>();

/** All that send now, in place of what was known. */
export const keepHealth = (world: World, feeds: readonly FeedHealth[]): void =>
  void worlds.set(world, new Map(feeds.map((feed) => [feed.video, feed])));

export const forgetHealth = (world: World, video: string): void => {
  const known = new Map(worlds.get(world));
  known.delete(video);
  worlds.set(world, known);
};

export const healthOf = (world: World, video: string): FeedHealth | undefined => worlds.get(world)?.get(video);

/** Segments are never shorter than this distance, so viewers start late; encoders are usually set to 2 s. */
const KEY_FRAME_MS_WANTED_MAX = 4_000;

/** What the person at the encoder should change, in words. */
export function warningsOf({ key_frame_ms }: FeedHealth): string[] {
  if (key_frame_ms === null || key_frame_ms <= KEY_FRAME_MS_WANTED_MAX) return [];
  return [`key frames every ${Math.round(key_frame_ms / 1000)} s: viewers start late; set 2 s`];
}
