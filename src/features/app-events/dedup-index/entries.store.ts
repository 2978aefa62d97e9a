/**
 * The index of the log: in which requests an event key, a device or a person may stand (README.md: The index of the log).
 * PostgreSQL keeps it in a table; SQLite in runs (`log-index-runs.store.ts`).
 */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { append, type Row, sql } from "#storage/sql";
import { inLists, insertRows, rowStatement } from "../log/rows.store.ts";

/** `[fingerprint, call, fingerprint, call, …]`, in the order of requests: there are many, and objects would cost more than the rest. */
export type IndexEntries = readonly number[];

/** Changed, by app, when all that is known of its log is void. */
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
  /** The newest call among them. */
  readonly lastRequest: number;
  /** Of the events. */
  readonly times: TimeSpan;
}

/** Calls by fingerprint, in which it may stand; what stands nowhere is left out. */
export type FoundRequests = ReadonlyMap<number, readonly number[]>;

export interface LogIndex {
  /** Calls with events of these keys, at least all those less than `within` seconds away. */
  findKeys(reader: Reader, app: NodeId, wanted: readonly WantedKey[], within: number): Promise<FoundRequests>;
  /** Calls that name these devices or persons. */
  findIdentities(reader: Reader, app: NodeId, fingerprints: readonly number[]): Promise<FoundRequests>;
  /** To be called in the transaction that writes the log. */
  add(tx: Transaction, app: NodeId, entries: NewEntries): Promise<void>;
  /** The log has forgotten all requests up to `call`. */
  forgetUpTo(tx: Transaction, app: NodeId, call: number): Promise<void>;
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
/** 53 bits in slices, so that no statement deletes more than a 64th of the index. */
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

  async forgetUpTo(tx: Transaction, app: NodeId, call: number): Promise<void> {
    for (let from = 0; from < 2 ** 53; from += SLICE) {
      await tx.run(sql`
        DELETE FROM app_event_index WHERE app = ${app} AND fingerprint >= ${from} AND fingerprint < ${from + SLICE} AND call <= ${call}`);
    }
  }
}
