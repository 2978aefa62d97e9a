/** Reads recordings, even while they grow, and removes recordings. */
import { END_LINE, INDEX, sessionFolder, videoFolder } from "./recording-space.ts";
import { type RecordingStore, storeAt } from "./recording-store.ts";

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

/** Reads the sessions of a video's recording, oldest first. The list is empty if the video has no recording. */
export async function readRecording(root: string, world: string, video: string): Promise<RecordedSession[]> {
  const sessions = await sessionsOf(root, world, video);
  return Promise.all(sessions.map((session) => readSession(storeAt(root), sessionFolder(world, video, session), session)));
}

/** Returns a text that changes whenever the recording grows. The text contains the sizes of the recording's indexes, because an index only grows. */
export async function recordingVersion(root: string, world: string, video: string): Promise<string> {
  const sessions = await sessionsOf(root, world, video);
  const sizeOf = (session: number): Promise<number> => storeAt(root).sizeOf(`${sessionFolder(world, video, session)}/${INDEX}`);
  return (await Promise.all(sessions.map(async (session) => `${session} ${await sizeOf(session)}`))).join();
}

/** Returns the highest number of a session of the video, or 0 if the video has no recording. */
export async function lastSession(root: string, world: string, video: string): Promise<number> {
  return (await sessionsOf(root, world, video)).at(-1) ?? 0;
}

async function sessionsOf(root: string, world: string, video: string): Promise<number[]> {
  const names = await storeAt(root).folders(videoFolder(world, video));
  return names.flatMap((name) => (/^\d{1,15}$/.test(name) ? [Number(name)] : [])).sort((a, b) => a - b);
}

async function readSession(store: RecordingStore, folder: string, session: number): Promise<RecordedSession> {
  const text = await store.readText(`${folder}/${INDEX}`);
  const hasEnded = text.endsWith(END_LINE);
  const lines = text.slice(0, hasEnded ? -END_LINE.length : text.lastIndexOf("\n") + 1).split("\n");
  const segments = lines.flatMap((line, number): SegmentEntry[] => {
    const [, duration, began, discontinuous] = /^(\d{1,9}) \d{1,12} (\d{1,15})( discontinuous)?$/.exec(line) ?? [];
    const isDiscontinuous = discontinuous !== undefined;
    return duration === undefined ? [] : [{ number, durationMs: Number(duration), beganRealMs: Number(began), isDiscontinuous }];
  });
  return { session, segments, hasEnded };
}

/** LIVE-14: when a video is deleted, its recording is removed. */
export const removeRecording = (root: string, world: string, video: string): Promise<void> => storeAt(root).remove(videoFolder(world, video));

/** Removes all recordings of a world that is deleted or reset. */
export const removeRecordings = (root: string, world: string): Promise<void> => storeAt(root).remove(world);
