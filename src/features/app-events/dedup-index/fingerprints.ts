/**
 * Fingerprints: an event's key, a device or a person as a number of 53 bits, and the filter that looks them up.
 *
 * **Invariant:** a fingerprint only says where to look. Two texts may share one, so the texts are compared after a match.
 */

/** Two multiplicative hashes of 32 bits, mixed by MurmurHash3's finalizer. 53 bits fit a number and a BIGINT. Never 0. */
export const fingerprintOf = (text: string): number => hashed(text, undefined);

/** The fingerprint of two texts with a line break between them. An event's key is its name, which contains none (D-70), and its id. */
export const keyFingerprint = (name: string, eventId: string): number => hashed(name, eventId);

function hashed(text: string, more: string | undefined): number {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    one = Math.imul(one ^ unit, 2654435761);
    other = Math.imul(other ^ unit, 1597334677);
  }
  if (more !== undefined) {
    one = Math.imul(one ^ LINE_BREAK, 2654435761);
    other = Math.imul(other ^ LINE_BREAK, 1597334677);
    for (let i = 0; i < more.length; i++) {
      const unit = more.charCodeAt(i);
      one = Math.imul(one ^ unit, 2654435761);
      other = Math.imul(other ^ unit, 1597334677);
    }
  }
  return mixed(one, other);
}

/** The fingerprint of a list of fingerprints. */
export function listFingerprint(fingerprints: readonly number[]): number {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (const fingerprint of fingerprints) {
    const high = highOf(fingerprint);
    const low = fingerprint - high * HALF;
    one = Math.imul(Math.imul(one ^ low, 2654435761) ^ high, 2654435761);
    other = Math.imul(Math.imul(other ^ high, 1597334677) ^ low, 1597334677);
  }
  return mixed(one, other);
}

function mixed(one: number, other: number): number {
  const first = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  const second = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(first ^ (first >>> 13), 3266489909);
  // Split into 22 and 31 bits, because converting a double above 2^31 to an integer is slow. 0 marks an empty place in the tables below.
  return (second & 4194303) * HALF + (first & 2147483647) || 1;
}

const LINE_BREAK = 10;
const HALF = 2147483648;
const highOf = (fingerprint: number): number => Math.floor(fingerprint / HALF);
/** The low 31 bits. */
export const lowOf = (fingerprint: number): number => fingerprint - highOf(fingerprint) * HALF;

/** 512 bits, one cache line, so that a lookup costs one cache miss. */
const BLOCK_WORDS = 16;
const BLOCK_SHIFT = 4;
const BLOCK_BITS = 512;
/** At least, because the number of blocks is a power of two. With 6 bits set per entry, at most 3 of 1,000 absent fingerprints look present. */
const BITS_PER_ENTRY = 16;
const PROBES = 6;

/** A fingerprint prepared for lookups in several filters: its bits in a block, each as a word and a mask in that word. */
export class Probe {
  low = 0;
  readonly words = new Uint8Array(PROBES);
  readonly masks = new Int32Array(PROBES);
  /** The first bit again, because it decides most lookups. */
  word = 0;
  mask = 0;

  set(fingerprint: number): this {
    const high = highOf(fingerprint);
    this.low = fingerprint - high * HALF;
    // The low bits choose the block, so the bits inside it are made of the other ones.
    let mixed = Math.imul(high ^ (this.low >>> 9), 2654435761);
    for (let i = 0; i < PROBES; i++) {
      const bit = mixed >>> 23;
      this.words[i] = bit >>> 5;
      this.masks[i] = 1 << (bit & 31);
      mixed = (Math.imul(mixed ^ (mixed >>> 15), 2246822519) + 3266489917) | 0;
    }
    this.word = this.words[0] as number;
    this.mask = this.masks[0] as number;
    return this;
  }
}

/** A blocked Bloom filter: a fingerprint is absent, or may be present. 2 to 4 bytes an entry. */
export class Filter {
  readonly #words: Int32Array;
  /** Mask of the block's number times the words of a block. */
  readonly #mask: number;

  constructor(words: Int32Array) {
    this.#words = words;
    this.#mask = words.length - BLOCK_WORDS;
  }

  static of(entryCount: number): Filter {
    const blocks = 2 ** Math.max(0, Math.ceil(Math.log2((entryCount * BITS_PER_ENTRY) / BLOCK_BITS)));
    return new Filter(new Int32Array(BLOCK_WORDS * blocks));
  }

  /** The stored bytes are in the machine's byte order, which is little-endian wherever Bun runs. */
  static fromBytes(bytes: Uint8Array): Filter {
    return new Filter(new Int32Array(bytes.slice().buffer));
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#words.buffer);
  }

  add({ low, words, masks }: Probe): void {
    const start = (low << BLOCK_SHIFT) & this.#mask;
    for (let i = 0; i < PROBES; i++) {
      const at = start + (words[i] as number);
      this.#words[at] = (this.#words[at] as number) | (masks[i] as number);
    }
  }

  mayHold(probe: Probe): boolean {
    const held = this.#words;
    const start = (probe.low << BLOCK_SHIFT) & this.#mask;
    if (((held[start + probe.word] as number) & probe.mask) === 0) return false;
    const { words, masks } = probe;
    for (let i = 1; i < PROBES; i++) {
      if (((held[start + (words[i] as number)] as number) & (masks[i] as number)) === 0) return false;
    }
    return true;
  }
}
