/**
 * Converts texts to numbers, which are called fingerprints. The indexes of the log store fingerprints instead of texts.
 *
 * **Invariant:** two texts may have the same fingerprint, so readers must compare the texts of the rows that they find.
 */
import { DEDUP_WINDOW_SECONDS } from "../app-events.limits.ts";

/** 64 secret bits of a world. Without knowing these bits, nobody can find two texts with the same fingerprint. */
export type FingerprintKey = readonly [number, number];

/**
 * The key for indexes that are searched within one app. They need no secret: an app that sends many texts with the same fingerprint slows down only
 * its own searches.
 */
const NO_KEY: FingerprintKey = [0, 0];

/** Makes a fingerprint key from a random text (`KEY_BYTES` bytes in base64url). */
export function fingerprintKeyOf(secret: string): FingerprintKey {
  const bytes = Buffer.from(secret, "base64url");
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)];
}
export const KEY_BYTES = 8;

/**
 * Returns the HalfSipHash-1-3 of the text's UTF-16 units, in pairs, and of the text's length (https://github.com/veorq/SipHash). This hash is
 * designed for short texts and 32-bit arithmetic, and nobody can compute collisions without the key. Only 53 of its 64 bits are returned, because a
 * JavaScript number represents 53 bits exactly.
 */
export function fingerprintOf(text: string, [low, high]: FingerprintKey = NO_KEY): number {
  const words = (text.length + 1) >> 1;
  let [a, b, c, d] = [low, high ^ 0xee, 0x6c796765 ^ low, 0x74656462 ^ high];
  let first = 0;
  // There is one round for each pair of units and one for the length, and then three rounds for each half of the result.
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

/** The length of a period: four times the longest time between two duplicates. So the duplicates of an event are in at most two periods. */
const PERIOD_SECONDS = 4 * DEDUP_WINDOW_SECONDS;

/**
 * Returns the periods in which an event at `time` can have a duplicate (D-71), including the period of `time` itself. A period contains only a few
 * events with the same key, at most one in 48 hours.
 */
export function periodsNear(time: number): number[] {
  const [first, last] = [periodOf(time - DEDUP_WINDOW_SECONDS), periodOf(time + DEDUP_WINDOW_SECONDS)];
  return first === last ? [first] : [first, last];
}

export const periodOf = (time: number): number => Math.floor(time / PERIOD_SECONDS);

/** The key of an event: its name, which contains no line break (D-70), and its `event_id`. */
export const keyText = (name: string, eventId: string): string => `${name}\n${eventId}`;

/**
 * The number under which the log's index has a key: a period, followed by 32 bits of the key's fingerprint. So new events change only the end of the
 * index, which has the last days. This end fits into memory even if the log is old.
 */
export const keyIn = (period: number, fingerprint: number): number => period * 2 ** 32 + (fingerprint % 2 ** 32);
