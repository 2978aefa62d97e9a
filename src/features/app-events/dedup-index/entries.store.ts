/**
 * The index of the log: it finds the requests that may contain an event key, a device, or ties of identities (README.md: The index
 * of the log). On PostgreSQL it is the tables below, on SQLite runs (`runs.store.ts`).
 */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";
import { isDevice } from "../intake/parse-request.ts";
import { insertRows, lookups, rowStatement } from "../log/rows.store.ts";
import { fingerprintOf, keyFingerprint, listFingerprint } from "./fingerprints.ts";

/**
 * `[fingerprint, request, fingerprint, request, …]`, in the order of requests. A flat list of numbers, because an object for each
 * of so many entries would cost more than everything else.
 */
export type IndexEntries = readonly number[];

/** A fact by app. Its invalidation discards all that the process knows of the app's log. */
export const logIndexFact = "app_event_log";

/** The key of an event to look for. */
export interface WantedKey {
  readonly fingerprint: number;
  /** Unix seconds. */
  readonly time: number;
}

/** What a batch adds. */
export interface NewEntries {
  readonly keys: IndexEntries;
  readonly devices: IndexEntries;
  /** `[fingerprint, signature, request, …]` (`addEntriesOf`). */
  readonly ties: readonly number[];
  /** The newest request among them. */
  readonly lastRequest: number;
  /** The first and last time of the events. */
  readonly times: TimeSpan;
}

/** The requests that may contain a fingerprint, by fingerprint. Fingerprints without requests are left out. */
export type FoundRequests = ReadonlyMap<number, readonly number[]>;

/** Requests of a device, the nearest ones beyond `from`: downwards, or upwards if `isBackward`. */
export interface WantedRequests {
  readonly ids: readonly string[];
  /** The name of a kind in the log, if only requests of this kind are wanted. */
  readonly kind: string | undefined;
  readonly isBackward: boolean;
  readonly from: number;
  readonly limit: number;
}

export interface LogIndex {
  /** The requests with events of these keys: at least those whose event time differs by less than `within` seconds. */
  findKeys(reader: Reader, app: NodeId, wanted: readonly WantedKey[], within: number): Promise<FoundRequests>;
  /** Requests that may be of this device, in the order of `wanted`, each once: as many as `limit`, unless there are no more. */
  findRequests(reader: Reader, app: NodeId, wanted: WantedRequests): Promise<number[]>;
  /** Requests that together have all that is tied to these identities, and few others. */
  findTies(reader: Reader, app: NodeId, identities: readonly string[]): Promise<number[]>;
  /** Must be called in the transaction that writes the log. */
  add(tx: Transaction, app: NodeId, entries: NewEntries): Promise<void>;
  /** Removes entries of requests up to `request` that the log no longer has. */
  forgetUpTo(tx: Transaction, app: NodeId, request: number): Promise<void>;
}

export interface TimeSpan {
  readonly first: number;
  readonly last: number;
}

export const NO_TIMES: TimeSpan = { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
export const joined = (one: TimeSpan, other: TimeSpan): TimeSpan => ({
  first: Math.min(one.first, other.first),
  last: Math.max(one.last, other.last),
});

/** A request as the index sees it. */
export interface IndexedRequest {
  /** The ids of its device and its persons. */
  readonly identities: readonly string[];
  /** The name of its first event in the log: that of a kind begins with a colon. */
  readonly name: string;
  /** D-76: a request whose events are all kept out of attribution ties ids of its device only, not persons. */
  readonly isTracked: boolean;
}

export interface RequestEntries {
  /** `[fingerprint, request, …]` */
  readonly devices: number[];
  /** `[fingerprint, signature, request, …]` */
  readonly ties: number[];
}

/** `kind`: the name of a kind in the log, to find only requests of this kind. */
export const deviceFingerprint = (id: string, kind?: string): number => (kind === undefined ? fingerprintOf(id) : keyFingerprint(id, kind));

export const tieFingerprint = (identity: string): number => keyFingerprint(identity, "tie");

/**
 * Adds what the index holds of a request besides its event keys:
 *
 * - `devices`: each id of its device leads to the request, so that a page of a device's events is found from either end. A request
 *   of another kind than custom events is found by its kind too: an install is not looked for behind all conversions that followed.
 * - `ties`: the identities that the request ties together (D-74). Nearly all requests of a device name the same ones. So each of
 *   these identities leads to the newest request with exactly this set, whose *signature* is the fingerprint of the set. As the log
 *   is deleted from its oldest request on, a tie is lost with the last request that has it, and not before. (Except a request that
 *   D-71 keeps for a time far in the future: it keeps no tie.)
 */
export function addEntriesOf({ identities, name, isTracked }: IndexedRequest, request: number, { devices, ties }: RequestEntries): void {
  const ids = identities.filter(isDevice);
  for (const id of ids) {
    devices.push(deviceFingerprint(id), request);
    if (name.startsWith(":")) devices.push(deviceFingerprint(id, name), request);
  }
  const tied = isTracked ? identities : ids;
  if (tied.length < 2) return;
  const fingerprints = tied.map(tieFingerprint);
  const signature = listFingerprint(fingerprints);
  for (const fingerprint of fingerprints) ties.push(fingerprint, signature, request);
}

/** The requests that are wanted, of all that were found. */
export function nearest(found: readonly number[], { isBackward, from, limit }: WantedRequests): number[] {
  const ascending = Float64Array.from(found).sort();
  const requests: number[] = [];
  for (const request of isBackward ? ascending : ascending.reverse()) {
    if (requests.length === limit) break;
    if ((isBackward ? request > from : request < from) && request !== requests[requests.length - 1]) requests.push(request);
  }
  return requests;
}

interface EntryRow extends Row {
  fingerprint: number;
  request: number;
}

const ENTRIES_OF_EACH = "SELECT i.fingerprint, i.request FROM app_event_index i WHERE i.fingerprint = w.value AND i.app = ?";
const TIES_OF_EACH = "SELECT t.request FROM app_event_ties t WHERE t.fingerprint = w.value AND t.app = ?";

const insertion = rowStatement(3, "ON CONFLICT DO NOTHING");
const tieInsertion = rowStatement(4, "ON CONFLICT (app, fingerprint, signature) DO UPDATE SET request = excluded.request");
/** A 64th of all fingerprints (53 bits), so that no statement deletes more than a 64th of the index. */
const SLICE = 2 ** 53 / 64;

export class TableIndex implements LogIndex {
  async findKeys(reader: Reader, app: NodeId, wanted: readonly WantedKey[]): Promise<FoundRequests> {
    const found = new Map<number, number[]>();
    const fingerprints = wanted.map(({ fingerprint }) => fingerprint);
    for (const statement of lookups(ENTRIES_OF_EACH, app, fingerprints, "ORDER BY r.fingerprint, r.request")) {
      for (const { fingerprint, request } of await reader.all<EntryRow>(statement)) {
        const requests = found.get(fingerprint);
        if (requests === undefined) found.set(fingerprint, [request]);
        else requests.push(request);
      }
    }
    return found;
  }

  async findRequests(reader: Reader, app: NodeId, wanted: WantedRequests): Promise<number[]> {
    const found: number[] = [];
    for (const id of wanted.ids) found.push(...(await this.#nearest(reader, app, deviceFingerprint(id, wanted.kind), wanted)));
    return nearest(found, wanted);
  }

  /** A statement for each fingerprint, because the primary key has only its own requests in order: it reads no entry in vain. */
  async #nearest(reader: Reader, app: NodeId, fingerprint: number, { isBackward, from, limit }: WantedRequests): Promise<number[]> {
    const entries = isBackward
      ? sql`SELECT i.request FROM app_event_index i WHERE i.app = ${app} AND i.fingerprint = ${fingerprint} AND i.request > ${from}
          ORDER BY i.request LIMIT ${limit}`
      : sql`SELECT i.request FROM app_event_index i WHERE i.app = ${app} AND i.fingerprint = ${fingerprint} AND i.request < ${from}
          ORDER BY i.request DESC LIMIT ${limit}`;
    return (await reader.all<{ request: number }>(entries)).map(({ request }) => request);
  }

  async findTies(reader: Reader, app: NodeId, identities: readonly string[]): Promise<number[]> {
    const found = new Set<number>();
    for (const statement of lookups(TIES_OF_EACH, app, identities.map(tieFingerprint)))
      for (const { request } of await reader.all<{ request: number }>(statement)) found.add(request);
    return [...found];
  }

  async add(tx: Transaction, app: NodeId, { keys, devices, ties }: NewEntries): Promise<void> {
    const values: (string | number)[] = [];
    for (const entries of [keys, devices])
      for (let i = 0; i < entries.length; i += 2) values.push(app, entries[i] as number, entries[i + 1] as number);
    await insertRows(tx, sql`INSERT INTO app_event_index (app, fingerprint, request)`, insertion, values);
    if (ties.length > 0)
      await insertRows(tx, sql`INSERT INTO app_event_ties (app, fingerprint, signature, request)`, tieInsertion, newestTies(app, ties));
  }

  async forgetUpTo(tx: Transaction, app: NodeId, request: number): Promise<void> {
    for (let from = 0; from < 2 ** 53; from += SLICE) {
      await tx.run(sql`
        DELETE FROM app_event_index WHERE app = ${app} AND fingerprint >= ${from} AND fingerprint < ${from + SLICE} AND request <= ${request}
          AND (SELECT e.request FROM app_events e WHERE e.app = app_event_index.app AND e.request = app_event_index.request LIMIT 1) IS NULL`);
      await tx.run(sql`
        DELETE FROM app_event_ties WHERE app = ${app} AND fingerprint >= ${from} AND fingerprint < ${from + SLICE} AND request <= ${request}
          AND (SELECT e.request FROM app_events e WHERE e.app = app_event_ties.app AND e.request = app_event_ties.request LIMIT 1) IS NULL`);
    }
  }
}

/** The rows of the ties, the newest of those that are equal: a statement cannot change a row twice. */
function newestTies(app: NodeId, ties: readonly number[]): (string | number)[] {
  const rows = new Map<string, (string | number)[]>();
  for (let i = 0; i < ties.length; i += 3) {
    const [fingerprint, signature, request] = [ties[i], ties[i + 1], ties[i + 2]] as [number, number, number];
    rows.set(`${fingerprint} ${signature}`, [app, fingerprint, signature, request]);
  }
  return [...rows.values()].flat();
}
