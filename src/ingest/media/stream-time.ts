/**
 * One timeline for pictures and sound, made of the encoder's time stamps: milliseconds in 32 bits, which may wrap. An encoder's clock may step, for
 * example when a source begins again or the computer's time is set. A step is left out of the timeline, so that the recording goes on.
 */

type Track = "video" | "audio";

interface Newest {
  readonly timestamp: number;
  /** On the timeline. */
  readonly ms: number;
  /** From the one before it. */
  readonly durationMs: number;
  readonly arrivedMs: number;
}

/** Pictures that are missing, and packets out of order, make smaller differences. */
const STEP_MS = 1_000;
/** Between the first picture and the sound beside it: an encoder starts its sources one after the other. */
const START_MS_MAX = 5_000;

export class StreamTime {
  readonly #newest: Record<Track, Newest | undefined> = { video: undefined, audio: undefined };
  #pictureMs = -1;
  /** How often the clock has stepped. A step of both tracks counts once. */
  steps = 0;

  /** Grows with every picture, as decoding times do. `nowMs`: when it arrived. */
  video(timestamp: number, nowMs: number): number {
    this.#pictureMs = Math.max(this.#place("video", timestamp, nowMs), this.#pictureMs + 1);
    return this.#pictureMs;
  }

  audio(timestamp: number, nowMs: number): number {
    return Math.max(0, this.#place("audio", timestamp, nowMs));
  }

  #place(track: Track, timestamp: number, nowMs: number): number {
    const own = this.#newest[track];
    const other = this.#newest[track === "video" ? "audio" : "video"];
    let ms = [own, other].map((newest) => newest && newest.ms + difference(timestamp, newest.timestamp)).find((at) => goesOn(at, own, other, nowMs));
    if (ms === undefined) {
      if (own !== undefined || other !== undefined) this.steps++;
      ms = own === undefined ? (other?.ms ?? 0) : own.ms + own.durationMs;
    }
    const durationMs = own === undefined ? 0 : Math.min(Math.max(ms - own.ms, 0), STEP_MS);
    this.#newest[track] = { timestamp, ms, durationMs, arrivedMs: nowMs };
    return ms;
  }
}

/** With a sign, modulo 2^32. */
const difference = (timestamp: number, before: number): number => (timestamp - before) | 0;

/**
 * Whether a packet at `ms` goes on from its track's newest one, `own`. It may be later by the time that has passed meanwhile, or be where the other track
 * already is: the encoder left something out, or the network held it back.
 */
function goesOn(ms: number | undefined, own: Newest | undefined, other: Newest | undefined, nowMs: number): boolean {
  if (ms === undefined) return false;
  const from = own ?? other;
  if (from === undefined) return false;
  const toleranceMs = own === undefined ? START_MS_MAX : STEP_MS;
  if (ms < from.ms - toleranceMs) return false;
  return ms <= from.ms + (nowMs - from.arrivedMs) + toleranceMs || (other !== undefined && Math.abs(ms - other.ms) <= toleranceMs);
}
