/**
 * Playlists as long as nothing more is recorded: all viewers of a video ask for the same one every second, and making it takes 0.7 ms of CPU
 * after an hour and 2.5 ms after four (1,800 and 7,200 segments, measured), against 0.1 ms for a look at whether it has grown.
 */
import type { World } from "#graph/worlds/world";
import { BoundedMap } from "#kernel/bounded-map";
import { readRecording, recordingVersion } from "#recordings/read-recording";
import { playlistOf } from "./playlist.ts";

interface KeptPlaylist {
  readonly version: string;
  readonly fromRealMs: number | null;
  /** Without an end; undefined: there is nothing to play yet. */
  readonly playlist: string | undefined;
  /** When the last segment of a session that may go on ends (the machine's time); undefined: there is none, or all sessions are over. */
  readonly openUntilRealMs: number | undefined;
}

/** Of four hours each has some 180 KB. */
const KEPT_MAX = 100;

const worlds = new WeakMap<World, BoundedMap<string, KeptPlaylist>>();

export async function readKeptPlaylist(world: World, recordings: string, video: string, fromRealMs: number | null): Promise<KeptPlaylist> {
  const kept = worlds.get(world) ?? new BoundedMap<string, KeptPlaylist>(KEPT_MAX);
  worlds.set(world, kept);
  const version = await recordingVersion(recordings, world.name, video);
  const known = kept.get(video);
  if (known?.version === version && known.fromRealMs === fromRealMs) return known;
  const sessions = await readRecording(recordings, world.name, video);
  const newest = sessions.at(-1);
  const last = newest?.segments.at(-1);
  const openUntilRealMs = newest?.hasEnded === true || last === undefined ? undefined : last.beganRealMs + last.durationMs;
  const made: KeptPlaylist = { version, fromRealMs, playlist: playlistOf(sessions, fromRealMs), openUntilRealMs };
  kept.set(video, made);
  return made;
}
