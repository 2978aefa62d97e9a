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

/**
 * World time of the attempt after the `tries`th, of which the first was made at `firstMs`; undefined: there is none. Steps
 * that have passed already (the clock was moved, the program stood) are left out. `share` is 0 to 1, from a die.
 */
export function nextRetryMs(firstMs: number, tries: number, nowMs: number, share: number): number | undefined {
  const passedMs = nowMs - firstMs;
  for (let step = tries - 1; step < RETRY_OFFSETS_MS.length; step++) {
    const offsetMs = RETRY_OFFSETS_MS[step] as number;
    if (offsetMs <= passedMs) continue;
    const waitMs = offsetMs - (step === 0 ? 0 : (RETRY_OFFSETS_MS[step - 1] as number));
    return Math.max(nowMs + 1, firstMs + Math.ceil(offsetMs - waitMs * JITTER * share));
  }
  return undefined;
}
