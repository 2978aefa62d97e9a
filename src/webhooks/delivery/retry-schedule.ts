/**
 * When a delivery that failed is tried again (D-62), in ms after its first attempt; a replay begins anew. Each wait is shortened
 * by up to a tenth, so that deliveries that failed together spread; it is never lengthened, so that after a whole step the retry
 * has been made.
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

/** An attempt that failed. World time. */
export interface FailedAttempt {
  /** When the first attempt at the delivery began. */
  readonly firstMs: number;
  /** When this one began. */
  readonly startedMs: number;
  /** With this one. */
  readonly tries: number;
}

/**
 * World time of the next attempt; undefined: there is none. Steps that have passed already (the clock was moved, the program
 * stood) are left out. No wait is longer than its step, also after an attempt that came early (D-137). `share` is 0 to 1, from
 * a die.
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
