/** A world's clock. All code that needs world time asks this clock (docs/operating/control-api.md). */
export interface Clock {
  /** World time, in milliseconds since 1970-01-01T00:00:00Z. */
  nowMs(): number;
  /**
   * A promise that resolves when the world's time has been read again, because another process may have moved the clock. The promise is undefined if
   * the world's time is not being read. The promise for the new time never rejects.
   */
  readonly rereading?: Promise<void> | undefined;
}

/**
 * The greatest world time, which is the last second of the year 9999. Years after 9999 have five digits, which ISO 8601 does not allow. Up to the
 * last second of the year 9999, a float can store the milliseconds exactly.
 */
export const UNIX_SECONDS_MAX = 253_402_300_799;

/** Returns the world time in Unix seconds, as the interface writes times. */
export const unixSeconds = (clock: Clock): number => Math.floor(clock.nowMs() / 1000);

/** Returns a time as the interface writes times: ISO 8601 in UTC with a numeric offset, e.g. `2026-11-18T00:00:00+0000`. */
export const utcText = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}+0000`;

/** Returns Unix seconds as text for people, like `2026-11-22T10:00:00.000Z`. */
export const timeText = (seconds: number): string => new Date(seconds * 1000).toISOString();

export interface ClockState {
  /** The world time at which the clock was set, in ms. */
  readonly worldMs: number;
  /** The real time at which the clock was set, in ms. */
  readonly realMs: number;
  readonly isFrozen: boolean;
}

/** The world's time at the real time `realNowMs`. A world whose clock was never set uses real time. */
export function worldTimeMs(state: ClockState | undefined, realNowMs: number): number {
  if (state === undefined) return realNowMs;
  return state.isFrozen ? state.worldMs : state.worldMs + (realNowMs - state.realMs);
}
