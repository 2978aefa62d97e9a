/**
 * The space for recordings: a limit for all recordings together, and a reserve on the disk that stays free for other data. This file also defines the
 * paths of a recording in its store.
 */
import { storeAt } from "./recording-store.ts";

class NoSpace extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "NoSpace";
  }
}

export interface SpaceLimits {
  /** The maximum number of bytes for all recordings together; 0 means that there is no limit. */
  readonly bytesMax: number;
  /** The number of bytes that recordings leave free on the disk. */
  readonly reserveBytes: number;
}

/** The number of recorded bytes after which the free space is read again, because reading the free space for each segment would take too long. */
const LOOK_EVERY_BYTES = 16 * 1024 * 1024;
/** The number of recorded bytes after which the sizes of all files are added up again, so that the bytes of deleted recordings no longer count. */
const COUNT_EVERY_BYTES = 1024 * 1024 * 1024;

const freeBytesOf = (root: string): Promise<number> => storeAt(root).freeBytes();

export class RecordingSpace {
  readonly #root: string;
  readonly #limits: SpaceLimits;
  readonly #freeBytesOf: (folder: string) => Promise<number>;
  #usedBytes: number | undefined;
  #freeBytes: number | undefined;
  #sinceLook = 0;
  #sinceCount = 0;

  constructor(root: string, limits: SpaceLimits, freeOf = freeBytesOf) {
    this.#root = root;
    this.#limits = limits;
    this.#freeBytesOf = freeOf;
  }

  /** Reserves space for a recording. A recording calls this method before it writes `byteCount` bytes. Throws `NoSpace`. */
  async take(byteCount: number): Promise<void> {
    await this.#look();
    const used = (this.#usedBytes ?? 0) + byteCount;
    const free = (this.#freeBytes ?? 0) - byteCount;
    if (free < this.#limits.reserveBytes) {
      this.#freeBytes = undefined;
      throw new NoSpace(`the recording would leave ${free} bytes of the disk free, and --disk-reserve-bytes is ${this.#limits.reserveBytes}`);
    }
    if (this.#limits.bytesMax > 0 && used > this.#limits.bytesMax) {
      this.#usedBytes = undefined;
      throw new NoSpace(`the recordings would use more than the ${this.#limits.bytesMax} bytes of --recordings-bytes-max`);
    }
    this.#usedBytes = used;
    this.#freeBytes = free;
    this.#sinceLook += byteCount;
    this.#sinceCount += byteCount;
  }

  async #look(): Promise<void> {
    if (this.#freeBytes === undefined || this.#sinceLook >= LOOK_EVERY_BYTES) {
      this.#freeBytes = await this.#freeBytesOf(this.#root);
      this.#sinceLook = 0;
    }
    if (this.#limits.bytesMax > 0 && (this.#usedBytes === undefined || this.#sinceCount >= COUNT_EVERY_BYTES)) {
      this.#usedBytes = await storeAt(this.#root).usedBytes();
      this.#sinceCount = 0;
    }
  }
}

/**
 * A session of a recording is a folder of the store, `{world}/{video}/{session}/`, with the segments `0.ts`, `1.ts`, … and the file `index`. For each
 * complete segment the index has a line with the segment's duration (ms), its number of bytes, its start time (the machine's time), and the word
 * `discontinuous` if the segment does not continue the previous one. When the session is over, the index gets a last line with the word `end`.
 */
export const videoFolder = (world: string, video: string): string => `${world}/${video}`;
export const sessionFolder = (world: string, video: string, session: number): string => `${videoFolder(world, video)}/${session}`;

export const INDEX = "index";
export const END_LINE = "end\n";

export const segmentFile = (number: number): string => `${number}.ts`;
export const indexLine = (
  { durationMs, beganRealMs, isDiscontinuous }: { readonly durationMs: number; readonly beganRealMs: number; readonly isDiscontinuous: boolean },
  byteCount: number,
): string => `${Math.round(durationMs)} ${byteCount} ${Math.round(beganRealMs)}${isDiscontinuous ? " discontinuous" : ""}\n`;

/**
 * The greatest duration of a segment, in whole seconds. The value is fixed, because a playlist's target duration must never change (RFC 8216, 4.3.3.1
 * and 6.2.1).
 */
export const SEGMENT_SECONDS_MAX = 6;
