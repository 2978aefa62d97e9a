/**
 * Writes one session of a recording. A segment is added to the index only after the segment is written, so a killed process leaves only complete
 * segments.
 */
import { END_LINE, INDEX, indexLine, type RecordingSpace, segmentFile, sessionFolder } from "./recording-space.ts";
import { type RecordingStore, storeAt } from "./recording-store.ts";

export interface RecordedSegment {
  readonly bytes: Uint8Array;
  readonly durationMs: number;
  /** The machine's time at which the segment began to arrive. */
  readonly beganRealMs: number;
  /** Whether the segment's timestamps do not continue those of the previous segment, or its picture or sound has another format. */
  readonly isDiscontinuous: boolean;
}

/** `no_storage` means that the disk is full or too slow, or that the recordings use all of their space. */
export type RecordingFailure = "no_storage";

/** The maximum number of bytes that may wait to be written. If more bytes wait, the recording fails, because the disk is too slow. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

export class SessionRecording {
  readonly #store: RecordingStore;
  readonly #folder: string;
  /** The text of the index that was written so far. */
  #index = "";
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
    this.#store = storeAt(place.root);
    this.#folder = sessionFolder(place.world, place.video, place.session);
    this.#space = space;
    this.#onFailure = onFailure;
    this.#written = this.#attempt(() => this.#store.makeFolder(this.#folder));
  }

  /** Adds a segment. Segments are written in the order in which they were added. */
  add(segment: RecordedSegment): void {
    this.#waitingBytes += segment.bytes.length;
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#fail(new Error("the disk is too slow for the recording"));
    this.#written = this.#written.then(() => this.#attempt(() => this.#write(segment)));
  }

  /** Ends the recording. Resolves when all segments are written. */
  end(): Promise<void> {
    this.#written = this.#written.then(() => this.#attempt(() => this.#append(END_LINE)));
    return this.#written;
  }

  async #write({ bytes, ...segment }: RecordedSegment): Promise<void> {
    this.#waitingBytes -= bytes.length;
    await this.#space.take(bytes.length);
    await this.#store.write(`${this.#folder}/${segmentFile(this.#count)}`, bytes);
    await this.#append(indexLine(segment, bytes.length));
    this.#count++;
  }

  #append(text: string): Promise<void> {
    this.#index += text;
    return this.#store.append(`${this.#folder}/${INDEX}`, text, this.#index);
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
