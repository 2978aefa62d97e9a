/**
 * Texts as numbers that an index can hold.
 *
 * **Invariant:** a fingerprint only says where to look. Two texts may share one, so the texts are compared after a match.
 */
import { DEDUP_WINDOW_SECONDS } from "../app-events.limits.ts";

/** Two multiplicative hashes of 32 bits, mixed by MurmurHash3's finalizer. 53 bits fit a number and a BIGINT. */
export function fingerprintOf(text: string): number {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    one = Math.imul(one ^ unit, 2654435761);
    other = Math.imul(other ^ unit, 1597334677);
  }
  const first = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  const second = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(first ^ (first >>> 13), 3266489909);
  return (second & 0x1fffff) * 2 ** 32 + (first >>> 0);
}

/** Four times as long as two events can be apart and be duplicates, so that a duplicate's period is one of at most two. */
const PERIOD_SECONDS = 4 * DEDUP_WINDOW_SECONDS;

/**
 * The periods of time in which an event at `time` can have a duplicate (D-71), that of `time` itself among them. Few events of a key fall
 * into a period: at most one every 48 hours.
 */
export function periodsNear(time: number): number[] {
  const [first, last] = [periodOf(time - DEDUP_WINDOW_SECONDS), periodOf(time + DEDUP_WINDOW_SECONDS)];
  return first === last ? [first] : [first, last];
}

export const periodOf = (time: number): number => Math.floor(time / PERIOD_SECONDS);

/** An event's key is its name, which contains no line break (D-70), and its `event_id`. */
export const keyText = (name: string, eventId: string): string => `${name}\n${eventId}`;

/**
 * What the log is searched by: a period, then 32 bits of the key's fingerprint. So new events are added to the part of the index that holds
 * the last days, which is small and in memory, however old the log is.
 */
export const keyIn = (period: number, fingerprint: number): number => period * 2 ** 32 + (fingerprint % 2 ** 32);
