/**
 * Writes one session of a recording. A segment is added to the index only after it is written, so a process that is killed leaves only complete
 * segments.
 */
import { appendFile, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { END_LINE, INDEX, indexLine, type RecordingSpace, segmentFile, sessionFolder } from "./recording-space.ts";

export interface RecordedSegment {
  readonly bytes: Uint8Array;
  readonly durationMs: number;
  /** The machine's time at which the segment began to arrive. */
  readonly beganRealMs: number;
  /** Whether players have to expect other times, or another form of picture or sound, than in the segment before. */
  readonly isDiscontinuous: boolean;
}

/** `no_storage`: the disk is full or too slow, or the recordings use all of their space. */
export type RecordingFailure = "no_storage";

/** The number of bytes that may wait to be written: if more wait, the disk is too slow. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

/** A recording may be private: only the user of the server may read it. */
const OWN = { mode: 0o600 };

export class SessionRecording {
  readonly #folder: string;
  readonly #space: RecordingSpace;
  readonly #onFailure: (failure: RecordingFailure, error: unknown) => void;
  #count = 0;
  #waitingBytes = 0;
  #hasFailed = false;
  #written: Promise<void>;

  constructor(
    place: { readonly root: string; readonly world: string; readonly video: string; readonly session: number },
    space: RecordingSpace,
    onFailure: (failure: RecordingFailure, error: unknown) => void,
  ) {
    this.#folder = sessionFolder(place.root, place.world, place.video, place.session);
    this.#space = space;
    this.#onFailure = onFailure;
    this.#written = this.#attempt(async () => void (await mkdir(this.#folder, { recursive: true, mode: 0o700 })));
  }

  /** Adds a segment. Segments are written in the order in which they are added. */
  add(segment: RecordedSegment): void {
    this.#waitingBytes += segment.bytes.length;
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#fail(new Error("the disk is too slow for the recording"));
    this.#written = this.#written.then(() => this.#attempt(() => this.#write(segment)));
  }

  /** Resolves when all segments are written. */
  end(): Promise<void> {
    this.#written = this.#written.then(() => this.#attempt(() => appendFile(join(this.#folder, INDEX), END_LINE, OWN)));
    return this.#written;
  }

  async #write({ bytes, ...segment }: RecordedSegment): Promise<void> {
    this.#waitingBytes -= bytes.length;
    await this.#space.take(bytes.length);
    await this.#writeWhole(segmentFile(this.#count), bytes);
    await appendFile(join(this.#folder, INDEX), indexLine(segment, bytes.length), OWN);
    this.#count++;
  }

  /** Writes a file in such a way that readers never see an incomplete one. */
  async #writeWhole(name: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#folder, name);
    await writeFile(`${path}.part`, bytes, OWN);
    await rename(`${path}.part`, path);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    if (this.#hasFailed) return;
    try {
      await work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#onFailure("no_storage", error);
  }
}
