/**
 * Fingerprints: texts (an event's key, a device, a person) as numbers of 53 bits, and the two sets in which they are looked for.
 *
 * **Invariant:** a fingerprint only says where to look. Two texts may share one, and whoever finds it compares the texts.
 */

/** Two multiplicative hashes of 32 bits, mixed into each other (MurmurHash3's finalizer); 53 bits fit a number and a BIGINT. */
export function fingerprintOf(text: string): number {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    one = Math.imul(one ^ unit, 2654435761);
    other = Math.imul(other ^ unit, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  // 0 marks an empty place below.
  return (2097151 & other) * 4294967296 + (one >>> 0) || 1;
}

/** An event's key: no name holds a line break (D-70). */
export const keyText = (name: string, eventId: string): string => `${name}\n${eventId}`;

const highOf = (fingerprint: number): number => Math.floor(fingerprint / 4294967296);
const lowOf = (fingerprint: number): number => fingerprint >>> 0;

/** Above this share of places in use, searches in an open-addressed table grow long. */
const LOAD_MAX = 0.6;
const PLACES_MIN = 1_024;

/** Fingerprint → calls, many to many; grows, and never forgets. 16 bytes a place. */
export class CallTable {
  #fingerprints = new Float64Array(PLACES_MIN);
  #calls = new Float64Array(PLACES_MIN);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(fingerprint: number, call: number): void {
    if (this.#size >= this.#fingerprints.length * LOAD_MAX) this.#grow();
    this.#place(fingerprint, call);
    this.#size++;
  }

  /** Adds to `found` the calls of a fingerprint. */
  collect(fingerprint: number, found: number[]): void {
    const mask = this.#fingerprints.length - 1;
    for (let at = lowOf(fingerprint) & mask; this.#fingerprints[at] !== 0; at = (at + 1) & mask) {
      if (this.#fingerprints[at] === fingerprint) found.push(this.#calls[at] as number);
    }
  }

  visit(look: (fingerprint: number, call: number) => void): void {
    for (let at = 0; at < this.#fingerprints.length; at++) {
      const fingerprint = this.#fingerprints[at] as number;
      if (fingerprint !== 0) look(fingerprint, this.#calls[at] as number);
    }
  }

  #place(fingerprint: number, call: number): void {
    const mask = this.#fingerprints.length - 1;
    let at = lowOf(fingerprint) & mask;
    while (this.#fingerprints[at] !== 0) at = (at + 1) & mask;
    this.#fingerprints[at] = fingerprint;
    this.#calls[at] = call;
  }

  #grow(): void {
    const [fingerprints, calls] = [this.#fingerprints, this.#calls];
    this.#fingerprints = new Float64Array(fingerprints.length * 2);
    this.#calls = new Float64Array(fingerprints.length * 2);
    for (let at = 0; at < fingerprints.length; at++) {
      if (fingerprints[at] !== 0) this.#place(fingerprints[at] as number, calls[at] as number);
    }
  }
}

/** 512 bits: one line of the processor's cache, so that a question costs one miss. */
const BLOCK_WORDS = 16;
/** With 6 bits set for each of them in its block, some 3 of 1,000 absent fingerprints look present. */
const BITS_PER_ENTRY = 16;
const PROBES = 6;

/** A blocked Bloom filter: says of a fingerprint that it is absent, or that it may be there. 2 bytes an entry. */
export class Filter {
  readonly #words: Uint32Array;
  readonly #blocks: number;

  constructor(words: Uint32Array) {
    this.#words = words;
    this.#blocks = words.length / BLOCK_WORDS;
  }

  static of(entryCount: number): Filter {
    return new Filter(new Uint32Array(BLOCK_WORDS * Math.max(1, Math.ceil((entryCount * BITS_PER_ENTRY) / (BLOCK_WORDS * 32)))));
  }

  /** As stored; in the machine's byte order, which is little-endian on all that Bun runs on. */
  static fromBytes(bytes: Uint8Array): Filter {
    return new Filter(new Uint32Array(bytes.slice().buffer));
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#words.buffer);
  }

  add(fingerprint: number): void {
    const start = this.#blockOf(fingerprint);
    let bits = bitsOf(fingerprint);
    for (let i = 0; i < PROBES; i++) {
      const bit = bits & 511;
      this.#words[start + (bit >>> 5)] = (this.#words[start + (bit >>> 5)] as number) | (1 << (bit & 31));
      bits = next(bits);
    }
  }

  mayHold(fingerprint: number): boolean {
    const start = this.#blockOf(fingerprint);
    let bits = bitsOf(fingerprint);
    for (let i = 0; i < PROBES; i++) {
      const bit = bits & 511;
      if (((this.#words[start + (bit >>> 5)] as number) & (1 << (bit & 31))) === 0) return false;
      bits = next(bits);
    }
    return true;
  }

  #blockOf(fingerprint: number): number {
    return Math.floor((lowOf(fingerprint) / 4294967296) * this.#blocks) * BLOCK_WORDS;
  }
}

/** The block is chosen by the low half, so the bits come from both, mixed. */
const bitsOf = (fingerprint: number): number => Math.imul(highOf(fingerprint) ^ (lowOf(fingerprint) >>> 7), 2654435761) >>> 0;
const next = (bits: number): number => (Math.imul(bits ^ (bits >>> 15), 2246822519) + 3266489917) >>> 0;

/** Entries of one page of a run: at 16 bytes each it fits one row beside its key. */
const PAGE_ENTRIES = 240;

/** How many leading bits of the low half choose the page of a run. */
export const pageBitsFor = (entryCount: number): number => Math.max(0, Math.ceil(Math.log2(Math.max(1, entryCount) / PAGE_ENTRIES)));

export const pageOf = (fingerprint: number, pageBits: number): number => (pageBits === 0 ? 0 : lowOf(fingerprint) >>> (32 - pageBits));

/** Splits entries into the pages of a run: `[fingerprint, call, fingerprint, call, …]` each. */
export function pagesOf(table: CallTable, pageBits: number): Float64Array[] {
  const sizes = new Uint32Array(2 ** pageBits);
  table.visit((fingerprint) => {
    const page = pageOf(fingerprint, pageBits);
    sizes[page] = (sizes[page] as number) + 2;
  });
  const pages = Array.from(sizes, (size) => new Float64Array(size));
  const filled = new Uint32Array(pages.length);
  table.visit((fingerprint, call) => {
    const page = pageOf(fingerprint, pageBits);
    const values = pages[page] as Float64Array;
    const at = filled[page] as number;
    values[at] = fingerprint;
    values[at + 1] = call;
    filled[page] = at + 2;
  });
  return pages;
}

/** Adds to `found` the calls of a fingerprint in a stored page. */
export function collectInPage(bytes: Uint8Array, fingerprint: number, found: number[]): void {
  const values = new Float64Array(bytes.slice().buffer);
  for (let i = 0; i < values.length; i += 2) if (values[i] === fingerprint) found.push(values[i + 1] as number);
}
