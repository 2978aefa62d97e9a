/**
 * The times after the first attempt, in ms, at which a failed delivery is tried again (D-62); a replayed delivery starts at the first of these times
 * again. Each wait is shortened by up to a tenth, so that deliveries that failed together are retried at different times. A wait before a retry is
 * never lengthened, so a caller who moves the clock by a whole wait knows that the retry was made.
 */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const RETRY_OFFSETS_MS: readonly number[] = [
  15 * SECOND,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
  36 * HOUR,
];

const JITTER = 0.1;

/** An attempt that failed. All times of the attempt are world time. */
export interface FailedAttempt {
  /** The time at which the first attempt at the delivery began. */
  readonly firstMs: number;
  /** The time at which the failed attempt began. */
  readonly startedMs: number;
  /** The number of attempts so far, including the failed one. */
  readonly tries: number;
}

/**
 * Returns the world time of the next attempt; undefined if there is no next attempt. Times of the retry table that have passed (because somebody
 * moved the clock, or the program did not run) are skipped. No wait is longer than in the table, even after an attempt that came early (D-137). The
 * parameter `share` is a random number from 0 to 1, which shortens the wait.
 */
export function nextRetryMs({ firstMs, startedMs, tries }: FailedAttempt, nowMs: number, share: number): number | undefined {
  const passedMs = nowMs - firstMs;
  for (let step = tries - 1; step < RETRY_OFFSETS_MS.length; step++) {
    const offsetMs = RETRY_OFFSETS_MS[step] as number;
    if (offsetMs <= passedMs) continue;
    const waitMs = offsetMs - (step === 0 ? 0 : (RETRY_OFFSETS_MS[step - 1] as number));
    const latestMs = Math.min(firstMs + offsetMs, startedMs + waitMs);
    return Math.max(nowMs + 1, Math.ceil(latestMs - waitMs * JITTER * share));
  }
  return undefined;
}
