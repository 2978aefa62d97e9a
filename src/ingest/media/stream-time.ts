/** The encoder's timestamps as milliseconds since its first one. They have 32 bits, wrap, and may be a little out of order. */
import { MediaProblem } from "./problem.ts";

/** A larger step is another clock: the encoder connects again and gets a session of its own. */
const JUMP_MS_MAX = 30_000;

export class StreamTime {
  #first: number | undefined;
  #latestMs = 0;
  #videoMs = -1;

  /** Grows with every picture, as decoding times do. Throws `MediaProblem`. */
  video(timestamp: number): number {
    this.#videoMs = Math.max(this.#msOf(timestamp), this.#videoMs + 1);
    return this.#videoMs;
  }

  /** Throws `MediaProblem`. */
  audio(timestamp: number): number {
    return this.#msOf(timestamp);
  }

  #msOf(timestamp: number): number {
    this.#first ??= timestamp;
    // The difference with a sign, modulo 2^32.
    const step = (timestamp - this.#first - this.#latestMs) | 0;
    if (Math.abs(step) > JUMP_MS_MAX) throw new MediaProblem("the timestamps jump by more than 30 s");
    const ms = this.#latestMs + step;
    this.#latestMs = Math.max(this.#latestMs, ms);
    return Math.max(ms, 0);
  }
}
