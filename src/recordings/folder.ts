/**
 * Where recordings are: `{folder}/{world}/{video}/{session}/` holds segments `0.ts`, `1.ts`, … or `0.mp4`, `1.mp4`, … and `index`, a line of
 * duration (ms), bytes and beginning (the machine's time) for each complete segment, in this order, and `end` as its last line once the
 * session is over. Segments of MP4 need what is in `head.mp4`; then the index begins with the line `mp4`.
 */
import { join } from "node:path";

/** What the segments of a session are: MPEG transport streams, or fragments of MP4. */
export type RecordingForm = "ts" | "mp4";

export const worldFolder = (root: string, world: string): string => join(root, world);
export const videoFolder = (root: string, world: string, video: string): string => join(worldFolder(root, world), video);
export const sessionFolder = (root: string, world: string, video: string, session: number): string =>
  join(videoFolder(root, world, video), String(session));

export const INDEX = "index";
export const HEAD = "head.mp4";
export const MP4_LINE = "mp4\n";
export const END_LINE = "end\n";

export const segmentFile = (number: number, form: RecordingForm): string => `${number}.${form}`;
export const indexLine = (durationMs: number, byteCount: number, beganRealMs: number): string =>
  `${Math.round(durationMs)} ${byteCount} ${Math.round(beganRealMs)}\n`;
