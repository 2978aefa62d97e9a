import { lowOf } from "./fingerprints.ts";

/** Above this share of used places, searches in an open-addressed table become long. */
const LOAD_MAX = 0.6;
const PLACES_MIN = 1_024;

/** A growing multimap from fingerprint to requests, without deletion. 16 bytes a place. */
export class RequestTable {
  #fingerprints = new Float64Array(PLACES_MIN);
  #requests = new Float64Array(PLACES_MIN);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(fingerprint: number, request: number): void {
    if (this.#size >= this.#fingerprints.length * LOAD_MAX) this.#grow();
    this.#place(fingerprint, request);
    this.#size++;
  }

  /** Adds to `found` the requests of a fingerprint. */
  collect(fingerprint: number, found: number[]): void {
    const mask = this.#fingerprints.length - 1;
    for (let at = lowOf(fingerprint) & mask; this.#fingerprints[at] !== 0; at = (at + 1) & mask) {
      if (this.#fingerprints[at] === fingerprint) found.push(this.#requests[at] as number);
    }
  }

  visit(look: (fingerprint: number, request: number) => void): void {
    for (let at = 0; at < this.#fingerprints.length; at++) {
      const fingerprint = this.#fingerprints[at] as number;
      if (fingerprint !== 0) look(fingerprint, this.#requests[at] as number);
    }
  }

  #place(fingerprint: number, request: number): void {
    const mask = this.#fingerprints.length - 1;
    let at = lowOf(fingerprint) & mask;
    while (this.#fingerprints[at] !== 0) at = (at + 1) & mask;
    this.#fingerprints[at] = fingerprint;
    this.#requests[at] = request;
  }

  #grow(): void {
    const [fingerprints, requests] = [this.#fingerprints, this.#requests];
    this.#fingerprints = new Float64Array(fingerprints.length * 2);
    this.#requests = new Float64Array(fingerprints.length * 2);
    for (let at = 0; at < fingerprints.length; at++) {
      if (fingerprints[at] !== 0) this.#place(fingerprints[at] as number, requests[at] as number);
    }
  }
}
