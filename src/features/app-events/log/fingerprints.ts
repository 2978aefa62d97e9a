/**
 * Converts texts to numbers, which are called fingerprints. The indexes of the log store fingerprints instead of texts.
 *
 * **Invariant:** two texts may have the same fingerprint, so code that searches by fingerprint must compare the texts of the rows that it finds.
 */
import { DEDUP_WINDOW_SECONDS } from "../app-events.limits.ts";

/** A secret of a world, with 64 bits. Without the secret, nobody can find two texts with the same fingerprint. */
export type FingerprintKey = readonly [number, number];

/**
 * The key of the indexes in which a search is limited to one app. An index whose searches are limited to one app needs no secret: if an app sends
 * many texts with the same fingerprint, only the searches of this app become slow.
 */
const NO_KEY: FingerprintKey = [0, 0];

/** Makes a fingerprint key from a random text (`KEY_BYTES` bytes in base64url). */
export function fingerprintKeyOf(secret: string): FingerprintKey {
  const bytes = Buffer.from(secret, "base64url");
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)];
}
export const KEY_BYTES = 8;

/**
 * Returns the fingerprint of a text: the HalfSipHash-1-3 of the text's UTF-16 units, in pairs, and of the text's length
 * (https://github.com/veorq/SipHash). This hash function is designed for short texts and 32-bit arithmetic, and nobody can compute collisions without
 * the key. The function returns only 53 of the 64 bits of the hash, because a JavaScript number represents 53 bits exactly.
 */
export function fingerprintOf(text: string, [low, high]: FingerprintKey = NO_KEY): number {
  const words = (text.length + 1) >> 1;
  let [a, b, c, d] = [low, high ^ 0xee, 0x6c796765 ^ low, 0x74656462 ^ high];
  let first = 0;
  // HalfSipHash-1-3 has one round for each pair of units and one round for the length, and then three rounds for each half of the result.
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

/** The length of a period is four times the deduplication window, so an event and its duplicates are in at most two periods. */
const PERIOD_SECONDS = 4 * DEDUP_WINDOW_SECONDS;

/**
 * Returns the periods in which an event at `time` can have a duplicate (D-71), including the period of `time` itself. The log has at most one event
 * with the same key in 48 hours, so a period contains only a few events with the same key.
 */
export function periodsNear(time: number): number[] {
  const [first, last] = [periodOf(time - DEDUP_WINDOW_SECONDS), periodOf(time + DEDUP_WINDOW_SECONDS)];
  return first === last ? [first] : [first, last];
}

export const periodOf = (time: number): number => Math.floor(time / PERIOD_SECONDS);

/** Returns the key of an event: the event's name, which contains no line break (D-70), and the event's `event_id`. */
export const keyText = (name: string, eventId: string): string => `${name}\n${eventId}`;

/** Derives the key for the event keys of one app, so that equal event keys of two apps have different numbers. */
export function keyOfApp(key: FingerprintKey, app: string): FingerprintKey {
  const own = fingerprintOf(app, key);
  return [own | 0, Math.floor(own / 2 ** 32)];
}

/**
 * The number of characters at the end of an `event_id` that do not decide where the log's index stores the event's key: a counter up to 999, whose
 * keys fill some five pages of the index.
 */
const COUNTER_CHARACTERS = 3;
/** The bits of a key's number. Together with the period of a time in the year 9999, which has 19 bits, a number can have 53 bits. */
const PLACE_BITS = 14;
const KEY_BITS = 20;

/**
 * Returns the number under which the log's index stores an event's key, without the key's period: 14 bits for the beginning of the `event_id`,
 * followed by 20 bits for the whole key. Many apps count their events (`order-1007-1`, `order-1007-2`), and the index stores such ids next to each
 * other, so the events of a request change a few pages of the index instead of a page for each event.
 */
export function keyNumber(name: string, eventId: string, key: FingerprintKey): number {
  const place = fingerprintOf(eventId.slice(0, -COUNTER_CHARACTERS), key) % 2 ** PLACE_BITS;
  return place * 2 ** KEY_BITS + (fingerprintOf(keyText(name, eventId), key) % 2 ** KEY_BITS);
}

/**
 * Returns the number under which the log's index stores a key: the period, followed by the number of the key (`keyNumber`). New events belong to the
 * latest periods, so new events change only the end of the index. The end of this index fits into memory even if the log has events of many years.
 */
export const keyIn = (period: number, number: number): number => period * 2 ** (PLACE_BITS + KEY_BITS) + number;
