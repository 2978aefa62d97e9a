/** Reads a recording, also while it grows, and removes recordings. */
import { existsSync } from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { END_LINE, INDEX, sessionFolder, videoFolder, worldFolder } from "./recording-space.ts";

interface SegmentEntry {
  readonly number: number;
  readonly durationMs: number;
  readonly beganRealMs: number;
  readonly isDiscontinuous: boolean;
}

export interface RecordedSession {
  readonly session: number;
  readonly segments: readonly SegmentEntry[];
  readonly hasEnded: boolean;
}

/** Reads the sessions of a video's recording, oldest first; the list is empty if nothing was recorded. */
export async function readRecording(root: string, world: string, video: string): Promise<RecordedSession[]> {
  const sessions = await sessionsOf(root, world, video);
  return Promise.all(sessions.map((session) => readSession(sessionFolder(root, world, video, session), session)));
}

/** A text that changes whenever the recording grows, because an index only grows. */
export async function recordingVersion(root: string, world: string, video: string): Promise<string> {
  const sessions = await sessionsOf(root, world, video);
  const sizeOf = async (session: number): Promise<number> =>
    (await stat(join(sessionFolder(root, world, video, session), INDEX)).catch(nothing({ size: 0 }))).size;
  return (await Promise.all(sessions.map(async (session) => `${session} ${await sizeOf(session)}`))).join();
}

/** The highest number of a session of the video; 0 if nothing was recorded. */
export async function lastSession(root: string, world: string, video: string): Promise<number> {
  return (await sessionsOf(root, world, video)).at(-1) ?? 0;
}

async function sessionsOf(root: string, world: string, video: string): Promise<number[]> {
  const names = await readdir(videoFolder(root, world, video)).catch(nothing<string[]>([]));
  return names.flatMap((name) => (/^\d{1,15}$/.test(name) ? [Number(name)] : [])).sort((a, b) => a - b);
}

async function readSession(folder: string, session: number): Promise<RecordedSession> {
  const text = await readFile(join(folder, INDEX), "utf8").catch(nothing(""));
  const hasEnded = text.endsWith(END_LINE);
  const lines = text.slice(0, hasEnded ? -END_LINE.length : text.lastIndexOf("\n") + 1).split("\n");
  const segments = lines.flatMap((line, number): SegmentEntry[] => {
    const [, duration, began, discontinuous] = /^(\d{1,9}) \d{1,12} (\d{1,15})( discontinuous)?$/.exec(line) ?? [];
    const isDiscontinuous = discontinuous !== undefined;
    return duration === undefined ? [] : [{ number, durationMs: Number(duration), beganRealMs: Number(began), isDiscontinuous }];
  });
  return { session, segments, hasEnded };
}

/** LIVE-14: a deleted video's recording is removed. */
export const removeRecording = (root: string, world: string, video: string): Promise<void> =>
  rm(videoFolder(root, world, video), { recursive: true, force: true });

/**
 * Removes all recordings of a world that is deleted or reset. Most worlds have no recordings, and looking costs a tenth of removing a folder that
 * does not exist.
 */
export async function removeRecordings(root: string, world: string): Promise<void> {
  const folder = worldFolder(root, world);
  if (existsSync(folder)) await rm(folder, { recursive: true, force: true });
}

/** Treats a missing file or folder as empty. Other problems of the disk are errors. */
const nothing =
  <T>(empty: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === "ENOENT") return empty;
    throw error;
  };
