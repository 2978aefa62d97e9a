/** The entries of the log's index on SQLite that are in no run yet (`runs.store.ts`). */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import { identitiesOfText } from "../intake/parse-request.ts";
import { readKeysAfter } from "../log/log.store.ts";
import {
  addEntriesOf,
  type IndexEntries,
  type IndexedRequest,
  joined,
  type NewEntries,
  NO_TIMES,
  nearest,
  type RequestEntries,
  type TimeSpan,
  type WantedRequests,
} from "./entries.store.ts";
import { keyFingerprint, lowOf } from "./fingerprints.ts";

/** Above this share of used places, searches in an open-addressed table become long. */
const LOAD_MAX = 0.6;
const PLACES_MIN = 1_024;

/** The double of an array that is full. */
function grown<A extends Float64Array | Int32Array>(array: A, made: A): A {
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

/** Ties that wait in memory to be written as a run: of each identity and each signature the newest request (`addEntriesOf`). */
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

/** Requests stand in the order of their numbers. */
export interface Pending {
  readonly keys: RequestTable;
  readonly devices: RequestTable;
  readonly ties: TieTable;
  times: TimeSpan;
  lastRequest: number;
  /** While the log is read: what was committed meanwhile, which it may or may not have shown. */
  waiting: NewEntries[] | undefined;
}

export const nothingPending = (lastRequest: number, waiting?: NewEntries[]): Pending => ({
  keys: new RequestTable(),
  devices: new RequestTable(),
  ties: new TieTable(),
  times: NO_TIMES,
  lastRequest,
  waiting,
});

export const sizeOf = ({ keys, devices, ties }: Pending): number => keys.size + devices.size + ties.requests.size;

/** Adds what was committed. A transaction's requests are all known already, or all new. */
export function addPending(pending: Pending, entries: NewEntries): void {
  if (pending.waiting !== undefined) {
    pending.waiting.push(entries);
    return;
  }
  if (entries.lastRequest <= pending.lastRequest) return;
  addTo(pending.keys, entries.keys);
  addRequests(pending, entries);
  pending.times = joined(pending.times, entries.times);
  pending.lastRequest = entries.lastRequest;
}

function addTo(table: RequestTable, entries: IndexEntries): void {
  for (let i = 0; i < entries.length; i += 2) table.add(entries[i] as number, entries[i + 1] as number);
}

function addRequests({ devices, ties }: Pending, entries: Pick<NewEntries, "devices" | "ties">): void {
  addTo(devices, entries.devices);
  for (let i = 0; i < entries.ties.length; i += 3) ties.set(entries.ties[i] as number, entries.ties[i + 1] as number, entries.ties[i + 2] as number);
}

/** The wanted requests among the pending ones. */
export function pendingRequests({ devices }: Pending, fingerprints: readonly number[], wanted: WantedRequests): number[] {
  const { isBackward, from, limit } = wanted;
  const found: number[] = [];
  for (const fingerprint of fingerprints) {
    let left = limit;
    devices.visitNewest(fingerprint, (request) => {
      if (isBackward ? request <= from : request >= from) return !isBackward;
      found.push(request);
      return isBackward || --left > 0;
    });
  }
  return nearest(found, wanted);
}

/** Rows of the log read at once. */
const LOAD_ROWS = 5_000;

/** Adds the requests of the log after `last`, and what waits. */
export async function loadPending(reader: Reader, app: NodeId, last: number, pending: Pending): Promise<void> {
  let [request, position] = [last, Number.MAX_SAFE_INTEGER];
  let open: (IndexedRequest & { isTracked: boolean }) | undefined;
  const close = () => {
    const entries: RequestEntries = { devices: [], ties: [] };
    if (open !== undefined) addEntriesOf(open, request, entries);
    addRequests(pending, entries);
  };
  for (;;) {
    const rows = await readKeysAfter(reader, app, request, position, LOAD_ROWS);
    for (const row of rows) {
      if (row.position === 0) {
        close();
        open = { identities: identitiesOfText(row.device ?? "{}"), name: row.name, isTracked: false };
      }
      if (open !== undefined) open.isTracked ||= row.tracking === 1;
      if (row.event_id !== null) pending.keys.add(keyFingerprint(row.name, row.event_id), row.request);
      pending.times = joined(pending.times, { first: row.time, last: row.time });
      [request, position] = [row.request, row.position];
    }
    if (rows.length === 0) break;
  }
  close();
  pending.lastRequest = request;
  const { waiting = [] } = pending;
  pending.waiting = undefined;
  for (const entries of waiting) addPending(pending, entries);
}
