/**
 * Stores the current quality of a world's feeds in memory. Only the process of the server to which the ingest process reports knows the quality of
 * the feeds.
 */
import type { World } from "#graph/worlds/world";

export interface FeedHealth {
  readonly video: string;
  readonly session: number;
  readonly bits_per_second: number;
  readonly frames_per_second: number;
  readonly audio_bits_per_second: number;
  /** The time in ms by which the newest sound is older than the newest picture. */
  readonly audio_behind_ms: number;
  /** The number of times since the feed began that pictures were missing for at least a quarter of a second. */
  readonly gaps: number;
  /** The number of times that the encoder's clock jumped since the feed began. */
  readonly clock_steps: number;
  /** The time between the last two key frames; null before the second key frame. */
  readonly key_frame_ms: number | null;
  readonly width: number;
  readonly height: number;
}

const worlds = new WeakMap<World, ReadonlyMap<string, FeedHealth>>();

/** Stores the quality of the feeds that send now, and deletes the stored quality of all other feeds of the world. */
export const keepHealth = (world: World, feeds: readonly FeedHealth[]): void =>
  void worlds.set(world, new Map(feeds.map((feed) => [feed.video, feed])));

export const forgetHealth = (world: World, video: string): void => {
  const known = new Map(worlds.get(world));
  known.delete(video);
  worlds.set(world, known);
};

export const healthOf = (world: World, video: string): FeedHealth | undefined => worlds.get(world)?.get(video);

/**
 * If more than 4 s pass between two key frames, Plaza shows a warning. A viewer can start only at a key frame; encoders usually send a key frame
 * every 2 s.
 */
const KEY_FRAME_MS_WANTED_MAX = 4_000;

/**
 * If the sound is more than 2 s behind the picture, Plaza shows a warning. Sound is usually a fraction of a second away from its picture. After 10 s
 * without sound, the stream ends (D-51).
 */
const AUDIO_BEHIND_MS_MAX = 2_000;
/**
 * If the sound has less than 4 kbit/s, Plaza warns that nothing can be heard. In AAC, silence has about 2 kbit/s, and speech has 30 kbit/s or more.
 */
const AUDIBLE_BITS_MIN = 4_000;

/** Returns warnings about a feed, with advice for the person at the encoder. */
export function warningsOf({ key_frame_ms, audio_behind_ms, audio_bits_per_second, gaps, clock_steps }: FeedHealth): string[] {
  const warnings: string[] = [];
  if (key_frame_ms !== null && key_frame_ms > KEY_FRAME_MS_WANTED_MAX)
    warnings.push(`key frames every ${Math.round(key_frame_ms / 1000)} s let viewers start late: set a key frame interval of 2 s`);
  if (audio_behind_ms > AUDIO_BEHIND_MS_MAX)
    warnings.push(`no sound for ${Math.round(audio_behind_ms / 1000)} s: check the audio source, because the stream ends after 10 s without sound`);
  else if (audio_bits_per_second < AUDIBLE_BITS_MIN) warnings.push("the sound is silent or almost so: check the audio source");
  if (gaps > 0) warnings.push(`pictures were missing ${gaps === 1 ? "once" : `${gaps} times`}: lower the bit rate, or use a better network`);
  if (clock_steps > 0)
    warnings.push(
      `the encoder's clock jumped ${clock_steps === 1 ? "once" : `${clock_steps} times`}: do not restart a source or set the computer's time while the encoder sends`,
    );
  return warnings;
}
