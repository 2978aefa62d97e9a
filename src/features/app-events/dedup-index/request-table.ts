/** The index entries that wait in memory to be written as a run. */
import { lowOf } from "./fingerprints.ts";

/** Above this share of used places, searches in an open-addressed table become long. */
export const LOAD_MAX = 0.6;
export const PLACES_MIN = 1_024;

/** The double of an array that is full. */
export function grown<A extends Float64Array | Int32Array>(array: A, made: A): A {
  made.set(array);
  return made;
}

/**
 * A growing multimap from fingerprint to requests, without deletion: 20 bytes an entry and 4 a place. The entries of a fingerprint
 * are linked, so that a device with very many requests costs no longer searches than others.
 */
export class RequestTable {
  /** By place: the newest entry of a fingerprint. Entries count from 1; 0 is none. */
  #places = new Int32Array(PLACES_MIN);
  #used = 0;
  #fingerprints = new Float64Array(PLACES_MIN);
  #requests = new Float64Array(PLACES_MIN);
  /** By entry: the next older one of its fingerprint. */
  #older = new Int32Array(PLACES_MIN);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the number of the new entry. */
  add(fingerprint: number, request: number): number {
    if (this.#size === this.#requests.length) this.#growEntries();
    const at = this.#placeOf(fingerprint);
    const older = this.#places[at] as number;
    const entry = this.#size + 1;
    this.#fingerprints[this.#size] = fingerprint;
    this.#requests[this.#size] = request;
    this.#older[this.#size] = older;
    this.#places[at] = entry;
    this.#size = entry;
    if (older === 0 && ++this.#used > this.#places.length * LOAD_MAX) this.#growPlaces();
    return entry;
  }

  fingerprintAt(entry: number): number {
    return this.#fingerprints[entry - 1] as number;
  }

  setRequest(entry: number, request: number): void {
    this.#requests[entry - 1] = request;
  }

  /** Shows the requests of a fingerprint, the last added first, until `look` returns false. */
  visitNewest(fingerprint: number, look: (request: number) => boolean): void {
    for (let entry = this.#places[this.#placeOf(fingerprint)] as number; entry !== 0; entry = this.#older[entry - 1] as number) {
      if (!look(this.#requests[entry - 1] as number)) return;
    }
  }

  /** Adds to `found` the requests of a fingerprint. */
  collect(fingerprint: number, found: number[]): void {
    for (let entry = this.#places[this.#placeOf(fingerprint)] as number; entry !== 0; entry = this.#older[entry - 1] as number)
      found.push(this.#requests[entry - 1] as number);
  }

  visit(look: (fingerprint: number, request: number) => void): void {
    for (let at = 0; at < this.#size; at++) look(this.#fingerprints[at] as number, this.#requests[at] as number);
  }

  /** The place of a fingerprint, or the free one where it belongs. */
  #placeOf(fingerprint: number): number {
    const mask = this.#places.length - 1;
    for (let at = lowOf(fingerprint) & mask; ; at = (at + 1) & mask) {
      const entry = this.#places[at] as number;
      if (entry === 0 || this.#fingerprints[entry - 1] === fingerprint) return at;
    }
  }

  #growPlaces(): void {
    const old = this.#places;
    this.#places = new Int32Array(old.length * 2);
    for (const entry of old) if (entry !== 0) this.#places[this.#placeOf(this.fingerprintAt(entry))] = entry;
  }

  #growEntries(): void {
    const size = this.#size * 2;
    this.#fingerprints = grown(this.#fingerprints, new Float64Array(size));
    this.#requests = grown(this.#requests, new Float64Array(size));
    this.#older = grown(this.#older, new Int32Array(size));
  }
}
