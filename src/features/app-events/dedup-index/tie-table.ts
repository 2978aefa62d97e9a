import { lowOf } from "./fingerprints.ts";
import { grown, LOAD_MAX, PLACES_MIN, RequestTable } from "./request-table.ts";

/** Ties that wait in memory to be written as a run: of each identity and each signature the newest request (`request-entries.ts`). */
export class TieTable {
  readonly requests = new RequestTable();
  /** By place: the entry of an identity and a signature in `requests`; 0 is none. */
  #places = new Int32Array(PLACES_MIN);
  /** By entry. */
  #signatures = new Float64Array(PLACES_MIN);

  set(fingerprint: number, signature: number, request: number): void {
    const at = this.#placeOf(fingerprint, signature);
    const known = this.#places[at] as number;
    if (known !== 0) {
      this.requests.setRequest(known, request);
      return;
    }
    const entry = this.requests.add(fingerprint, request);
    if (entry > this.#signatures.length) this.#signatures = grown(this.#signatures, new Float64Array(this.#signatures.length * 2));
    this.#signatures[entry - 1] = signature;
    this.#places[at] = entry;
    if (entry > this.#places.length * LOAD_MAX) this.#growPlaces();
  }

  #placeOf(fingerprint: number, signature: number): number {
    const mask = this.#places.length - 1;
    // The low bits of both, mixed, because many identities may share a signature, and many signatures an identity.
    for (let at = (lowOf(fingerprint) ^ Math.imul(lowOf(signature), 2654435761)) & mask; ; at = (at + 1) & mask) {
      const entry = this.#places[at] as number;
      if (entry === 0 || (this.#signatures[entry - 1] === signature && this.requests.fingerprintAt(entry) === fingerprint)) return at;
    }
  }

  #growPlaces(): void {
    const old = this.#places;
    this.#places = new Int32Array(old.length * 2);
    for (const entry of old)
      if (entry !== 0) this.#places[this.#placeOf(this.requests.fingerprintAt(entry), this.#signatures[entry - 1] as number)] = entry;
  }
}
