/**
 * Gives pictures and sound their times on one timeline, by the encoder's time stamps (milliseconds in 32 bits, which wrap). An encoder's clock may
 * step, for example when a source begins again or somebody sets the computer's time. The timeline does not contain the steps of the encoder's clock
 * (D-297).
 */

type Track = "video" | "audio";

interface Newest {
  readonly timestamp: number;
  /** The time of the packet on the timeline. */
  readonly ms: number;
  /** The time since the previous packet of the track. */
  readonly durationMs: number;
  readonly arrivedMs: number;
}

/**
 * A difference between two time stamps counts as a step of the clock if it exceeds `STEP_MS`. Missing pictures and packets in the wrong order
 * cause smaller differences.
 */
const STEP_MS = 1_000;
/**
 * The longest time between the first picture and the first sound. An encoder does not start its source of pictures and its source of sound at the
 * same time.
 */
const START_MS_MAX = 5_000;

export class StreamTime {
  readonly #newest: Record<Track, Newest | undefined> = { video: undefined, audio: undefined };
  #pictureMs = -1;
  /** The number of steps of the encoder's clock. A step that concerns both tracks counts once. */
  steps = 0;

  /**
   * Returns the time of a picture on the timeline, always later than the time of the previous picture. The time at which the picture arrived is
   * `nowMs`.
   */
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

/** The signed difference of two time stamps, modulo 2^32. */
const difference = (timestamp: number, before: number): number => (timestamp - before) | 0;

/**
 * Whether a packet at `ms` continues its track, whose newest packet is `own`. The packet may be later than `own` by the time that has passed since
 * `own` arrived. The packet may also have the time of the other track's newest packet, because the encoder left pictures out or the network delayed
 * them.
 */
function goesOn(ms: number | undefined, own: Newest | undefined, other: Newest | undefined, nowMs: number): boolean {
  if (ms === undefined) return false;
  const from = own ?? other;
  if (from === undefined) return false;
  const toleranceMs = own === undefined ? START_MS_MAX : STEP_MS;
  if (ms < from.ms - toleranceMs) return false;
  return ms <= from.ms + (nowMs - from.arrivedMs) + toleranceMs || (other !== undefined && Math.abs(ms - other.ms) <= toleranceMs);
}
