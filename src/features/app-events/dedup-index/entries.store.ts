/**
 * The index of the log: it finds the requests that may contain an event key, a device or a person (README.md: The index of the log).
 * On PostgreSQL it is the table below, on SQLite runs (`runs.store.ts`).
 */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { append, type Row, sql } from "#storage/sql";
import { inLists, insertRows, rowStatement } from "../log/rows.store.ts";

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
  /** Devices and persons. */
  readonly identities: IndexEntries;
  /** The newest request among them. */
  readonly lastRequest: number;
  /** The first and last time of the events. */
  readonly times: TimeSpan;
}

/** The requests that may contain a fingerprint, by fingerprint. Fingerprints without requests are left out. */
export type FoundRequests = ReadonlyMap<number, readonly number[]>;

export interface LogIndex {
  /** The requests with events of these keys: at least those whose event time differs by less than `within` seconds. */
  findKeys(reader: Reader, app: NodeId, wanted: readonly WantedKey[], within: number): Promise<FoundRequests>;
  /** The requests with these devices or persons. */
  findIdentities(reader: Reader, app: NodeId, fingerprints: readonly number[]): Promise<FoundRequests>;
  /** Must be called in the transaction that writes the log. */
  add(tx: Transaction, app: NodeId, entries: NewEntries): Promise<void>;
  /** Removes entries of requests up to `request` that the log no longer has. */
  forgetUpTo(tx: Transaction, app: NodeId, request: number): Promise<void>;
}

export interface TimeSpan {
  readonly first: number;
  readonly last: number;
}

interface EntryRow extends Row {
  fingerprint: number;
  call: number;
}

const insertion = rowStatement(3, "ON CONFLICT DO NOTHING");
/** A 64th of all fingerprints (53 bits), so that no statement deletes more than a 64th of the index. */
const SLICE = 2 ** 53 / 64;

export class TableIndex implements LogIndex {
  findKeys(reader: Reader, app: NodeId, wanted: readonly WantedKey[]): Promise<FoundRequests> {
    const fingerprints = wanted.map(({ fingerprint }) => fingerprint);
    return this.findIdentities(reader, app, fingerprints);
  }

  async findIdentities(reader: Reader, app: NodeId, fingerprints: readonly number[]): Promise<FoundRequests> {
    const found = new Map<number, number[]>();
    for (const { marks, values } of inLists(fingerprints)) {
      const statement = append(
        sql`SELECT i.fingerprint, i.call FROM app_event_index i WHERE i.app = ${app}`,
        `AND i.fingerprint IN ${marks} ORDER BY i.fingerprint, i.call`,
        values,
      );
      for (const { fingerprint, call } of await reader.all<EntryRow>(statement)) {
        const requests = found.get(fingerprint);
        if (requests === undefined) found.set(fingerprint, [call]);
        else requests.push(call);
      }
    }
    return found;
  }

  async add(tx: Transaction, app: NodeId, { keys, identities }: NewEntries): Promise<void> {
    const values: (string | number)[] = [];
    for (const entries of [keys, identities])
      for (let i = 0; i < entries.length; i += 2) values.push(app, entries[i] as number, entries[i + 1] as number);
    await insertRows(tx, sql`INSERT INTO app_event_index (app, fingerprint, call)`, insertion, values);
  }

  async forgetUpTo(tx: Transaction, app: NodeId, request: number): Promise<void> {
    for (let from = 0; from < 2 ** 53; from += SLICE) {
      await tx.runAny(sql`
        DELETE FROM app_event_index WHERE app = ${app} AND fingerprint >= ${from} AND fingerprint < ${from + SLICE} AND call <= ${request}
          AND NOT EXISTS (SELECT 1 FROM app_events e WHERE e.app = app_event_index.app AND e.call = app_event_index.call)`);
    }
  }
}
