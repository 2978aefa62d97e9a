/**
 * Turns texts into numbers for indexes.
 *
 * **Invariant:** two texts may have the same fingerprint, so readers compare the texts of the rows that they find.
 */
import { DEDUP_WINDOW_SECONDS } from "../app-events.limits.ts";

/** Secret bits of a world, without which nobody can find two texts with one fingerprint. */
export type FingerprintKey = readonly [number, number];

/** For indexes that are searched within one app: an app that made up texts with one fingerprint would slow down its own searches only. */
const NO_KEY: FingerprintKey = [0, 0];

/** Random text (base64url of `KEY_BYTES`) as a key. */
export function fingerprintKeyOf(secret: string): FingerprintKey {
  const bytes = Buffer.from(secret, "base64url");
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)];
}
export const KEY_BYTES = 8;

/**
 * HalfSipHash-1-3 of the text's UTF-16 units, in pairs, and of its length (https://github.com/veorq/SipHash). It is made for short texts and
 * 32-bit arithmetic, and its collisions cannot be computed without the key. 53 of its 64 bits fit a number and a BIGINT.
 */
export function fingerprintOf(text: string, [low, high]: FingerprintKey = NO_KEY): number {
  const words = (text.length + 1) >> 1;
  let [a, b, c, d] = [low, high ^ 0xee, 0x6c796765 ^ low, 0x74656462 ^ high];
  let first = 0;
  // A round for each pair and for the length, then three for each half of the result.
  for (let round = 0; round < words + 7; round++) {
    let word = 0;
    if (round < words) word = text.charCodeAt(2 * round) | (text.charCodeAt(2 * round + 1) << 16);
    else if (round === words) word = text.length;
    else if (round === words + 1) c ^= 0xee;
    else if (round === words + 4) {
      first = b ^ d;
      b ^= 0xdd;
    }
    d ^= word;
    a = (a + b) | 0;
    b = rotated(b, 5) ^ a;
    a = rotated(a, 16);
    c = (c + d) | 0;
    d = rotated(d, 8) ^ c;
    a = (a + d) | 0;
    d = rotated(d, 7) ^ a;
    c = (c + b) | 0;
    b = rotated(b, 13) ^ c;
    c = rotated(c, 16);
    a ^= word;
  }
  return ((b ^ d) & 0x1fffff) * 2 ** 32 + (first >>> 0);
}

const rotated = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/** Four times the time between two duplicates, so that the duplicates of an event are in at most two periods. */
const PERIOD_SECONDS = 4 * DEDUP_WINDOW_SECONDS;

/**
 * The periods in which an event at `time` can have a duplicate (D-71), including the period of `time`. A period has few events of one key:
 * at most one in 48 hours.
 */
export function periodsNear(time: number): number[] {
  const [first, last] = [periodOf(time - DEDUP_WINDOW_SECONDS), periodOf(time + DEDUP_WINDOW_SECONDS)];
  return first === last ? [first] : [first, last];
}

export const periodOf = (time: number): number => Math.floor(time / PERIOD_SECONDS);

/** An event's key is its name, which contains no line break (D-70), and its `event_id`. */
export const keyText = (name: string, eventId: string): string => `${name}\n${eventId}`;

/**
 * The number by which the log is searched: a period, then 32 bits of the key's fingerprint. So new events change only the part of the index for the
 * last days, which is small enough for memory, however old the log is.
 */
export const keyIn = (period: number, fingerprint: number): number => period * 2 ** 32 + (fingerprint % 2 ** 32);
