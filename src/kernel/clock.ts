/** A world's clock. All code that needs world time reads the time from this clock (docs/operating/control-api.md). */
export interface Clock {
  /** World time, in milliseconds since 1970-01-01T00:00:00Z. */
  nowMs(): number;
  /**
   * A promise while the world's time is being read again, because another process may have moved it; otherwise undefined. The promise never rejects.
   */
  readonly rereading?: Promise<void> | undefined;
}

/**
 * The last second of the year 9999, which is the last one that ISO 8601 writes with four digits of the year. Times up to this one keep all digits as
 * milliseconds.
 */
export const UNIX_SECONDS_MAX = 253_402_300_799;

/** World time in Unix seconds, as the interface writes times. */
export const unixSeconds = (clock: Clock): number => Math.floor(clock.nowMs() / 1000);

/** A time as the interface writes it: ISO 8601 in UTC with a numeric offset, e.g. `2026-11-18T00:00:00+0000`. */
export const utcText = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}+0000`;

/** Unix seconds as text for people, like `2026-11-22T10:00:00.000Z`. */
export const timeText = (seconds: number): string => new Date(seconds * 1000).toISOString();

export interface ClockState {
  /** The world time at the moment when the clock was set, in ms. */
  readonly worldMs: number;
  /** The real time at the moment when the clock was set, in ms. */
  readonly realMs: number;
  readonly isFrozen: boolean;
}

/** The world's time when the real time is `realNowMs`. If a world has no state of its clock, its time is real time. */
export function worldTimeMs(state: ClockState | undefined, realNowMs: number): number {
  if (state === undefined) return realNowMs;
  return state.isFrozen ? state.worldMs : state.worldMs + (realNowMs - state.realMs);
}
