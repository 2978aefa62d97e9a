/**
 * Where recordings are: `{folder}/{world}/{video}/{session}/` holds segments `0.ts`, `1.ts`, … and `index`, a line of
 * duration (ms), bytes and beginning (the machine's time) for each complete segment, in this order, and `end` as its last line once the
 * session is over.
 */
import { join } from "node:path";

export const worldFolder = (root: string, world: string): string => join(root, world);
export const videoFolder = (root: string, world: string, video: string): string => join(worldFolder(root, world), video);
export const sessionFolder = (root: string, world: string, video: string, session: number): string =>
  join(videoFolder(root, world, video), String(session));

export const INDEX = "index";
export const END_LINE = "end\n";

export const segmentFile = (number: number): string => `${number}.ts`;
export const indexLine = (durationMs: number, byteCount: number, beganRealMs: number): string =>
  `${Math.round(durationMs)} ${byteCount} ${Math.round(beganRealMs)}\n`;
