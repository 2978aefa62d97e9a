/** A world's time. All code reads the time here (docs/operating/control-api.md). */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  nowMs(): number;
  /** Set while the time is read again, because another process may have moved it. Never rejects. */
  readonly rereading?: Promise<void> | undefined;
}

/** The end of the year 9999: the last moment of ISO 8601 with four digits. In milliseconds such numbers keep all digits. */
export const UNIX_SECONDS_MAX = 253_402_300_799;

/** Unix seconds, as the interface writes times. */
export const unixSeconds = (clock: Clock): number => Math.floor(clock.nowMs() / 1000);

/** ISO 8601 in UTC with a numeric offset, `2026-11-18T00:00:00+0000`. */
export const utcText = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}+0000`;

export interface ClockState {
  /** World time at the moment of setting, ms. */
  readonly worldMs: number;
  /** Real time at the moment of setting, ms. */
  readonly realMs: number;
  readonly isFrozen: boolean;
}

/** The world's time at `realNowMs`. Without a state the world runs on real time. */
export function worldTimeMs(state: ClockState | undefined, realNowMs: number): number {
  if (state === undefined) return realNowMs;
  return state.isFrozen ? state.worldMs : state.worldMs + (realNowMs - state.realMs);
}
