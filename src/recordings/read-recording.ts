/** Reads what a recording holds so far. */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { END_LINE, INDEX, sessionFolder, videoFolder, worldFolder } from "./folder.ts";

interface SegmentEntry {
  readonly number: number;
  readonly durationMs: number;
  readonly beganRealMs: number;
}

export interface RecordedSession {
  readonly session: number;
  /** `0.ts`, `1.ts`, … */
  readonly segments: readonly SegmentEntry[];
  readonly hasEnded: boolean;
}

/** Oldest first; empty where nothing was recorded. */
export async function readRecording(root: string, world: string, video: string): Promise<RecordedSession[]> {
  const names = await readdir(videoFolder(root, world, video)).catch(nothing<string[]>([]));
  const sessions = names.filter((name) => /^\d{1,15}$/.test(name)).map(Number);
  return Promise.all(sessions.sort((a, b) => a - b).map((session) => readSession(sessionFolder(root, world, video, session), session)));
}

async function readSession(folder: string, session: number): Promise<RecordedSession> {
  const text = await readFile(join(folder, INDEX), "utf8").catch(nothing(""));
  const hasEnded = text.endsWith(END_LINE);
  const lines = text.slice(0, hasEnded ? -END_LINE.length : text.lastIndexOf("\n") + 1).split("\n");
  const segments = lines.flatMap((line, number): SegmentEntry[] => {
    const [, duration, began] = /^(\d{1,9}) \d{1,12} (\d{1,15})$/.exec(line) ?? [];
    return duration === undefined ? [] : [{ number, durationMs: Number(duration), beganRealMs: Number(began) }];
  });
  return { session, segments, hasEnded };
}

/** LIVE-14: nothing of a deleted video stays. */
export const removeRecording = (root: string, world: string, video: string): Promise<void> =>
  rm(videoFolder(root, world, video), { recursive: true, force: true });

/** Of a world that is deleted. */
export const removeRecordings = (root: string, world: string): Promise<void> => rm(worldFolder(root, world), { recursive: true, force: true });

/** What is not there has nothing in it; any other problem of the disk is one. */
const nothing =
  <T>(empty: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === "ENOENT") return empty;
    throw error;
  };
