/**
 * The database as features use it. Two drivers implement it: `sqlite/` and `postgres/`.
 *
 * **Invariant:** a write is acknowledged (its promise resolves) only after it is durable.
 * **Invariant:** the body of a write awaits only its `tx`: no network, no timer. SQLite rejects a body that does.
 * **Invariant:** a body has effects only through its `tx`: PostgreSQL undoes a body that conflicts with another and runs it again.
 * **Invariant:** SQL is written only in `*.store.ts` and `*.migrations.ts`.
 */
import type { Row, Sql } from "./sql.ts";

export interface Reader {
  get<R extends Row>(statement: Sql): Promise<R | undefined>;
  all<R extends Row>(statement: Sql): Promise<R[]>;
}

/** A failed statement ends the transaction, even if the body swallows the error. For expected conflicts, use `ON CONFLICT`. */
export interface Transaction extends Reader {
  /** Resolves with the number of changed rows. */
  run(statement: Sql): Promise<number>;
  /** For a statement that changes exactly one row. Any other number ends the transaction with `NotOneRow`. */
  runOne(statement: Sql): Promise<void>;
  /**
   * Locks a name until the transaction ends. On SQLite writers take turns anyway.
   * For check-then-write rules, e.g. `tx.lock("labels", pageId)`. If a body's first statement is a lock, bodies of one process that lock
   * the same name share a commit on PostgreSQL, too.
   */
  lock(scope: string, key: string): Promise<void>;
  /**
   * Ends a SELECT that claims rows for work: locks the rows of the table `alias` until the transaction ends,
   * and skips rows that another process is claiming. Empty on SQLite, where writers take turns.
   */
  skipLocked(alias: string): string;
  /** For a body of very many statements: requests that only read are served in between. On PostgreSQL they are anyway. */
  pause(): Promise<void>;
  /**
   * Invalidates a cached fact: it leaves this process's cache when the transaction has committed,
   * and the cache of every other process within 1 s. See `facts.ts`.
   */
  invalidate(kind: string, key: string): void;
  /** Runs when the write is durable, and never after a rollback. It must not throw. */
  afterCommit(action: () => void): void;
}

/**
 * Nothing was stored where a row had to be. On PostgreSQL a concurrent writer may have deleted the row after the body read it, so the body
 * runs again before this counts; otherwise it is a programmer's mistake.
 */
export class NotOneRow extends Error {
  constructor(changed: number, { query }: Sql) {
    super(`${changed} rows were changed where one had to be: ${query.text.trim().slice(0, 80)}`);
  }
}

export interface Database {
  readonly dialect: "sqlite" | "postgres";
  /** Reads committed data, on a connection that no writer uses. */
  readonly reader: Reader;
  /**
   * Runs `body` in one transaction; a throw rolls it back and rejects the promise. Resolves when durable.
   * Rejects with `databaseUnreachable` when the store fails (connection lost, disk full); the write may then have been
   * stored only if the connection broke at its very commit.
   */
  write<T>(body: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Several reads of one snapshot, for exports and reports. */
  snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T>;
  /**
   * Called with each fact that any process, including this one, invalidates; `undefined` means that everything may have changed.
   * Returns a function that ends it.
   */
  onInvalidate(listener: (kind: string | undefined, key: string | undefined) => void): () => void;
  /**
   * Called before what is cached is used: everything may have changed where it was not confirmed for a second that no other process changed
   * anything, e.g. because this one had no processor.
   */
  confirm(): void;
  /**
   * A number from 0 to 1023 that no other running process on this database has; part of new ids. Callers read it each time,
   * because it can change after an outage of PostgreSQL.
   */
  readonly processNumber: number;
  /** Rejects with `databaseUnreachable` if the database does not respond; for readiness. */
  ping(): Promise<void>;
  /**
   * Removes deleted and overwritten values from the files, too. SQLite writes its file anew, and nothing else runs meanwhile: 16 s a gigabyte
   * (measured). PostgreSQL does it by itself, with its next vacuum.
   */
  scrub(): Promise<void>;
  /** Saves the whole state of the world under a name, and replaces a state of that name. */
  saveState(name: string): Promise<void>;
  /**
   * Everything is as it was when the state was saved; undefined: empty. Writes that run meanwhile are before it or after it. Resolves with
   * false where there is no such state; rejects with `StateOutdated`.
   */
  restoreState(name: string | undefined): Promise<boolean>;
  /** By name. */
  listStates(): Promise<readonly SavedState[]>;
  /** Resolves with whether there was one. */
  deleteState(name: string): Promise<boolean>;
  /** Waits for running writes, then closes. */
  close(): Promise<void>;
}

/** Those of a server, one for each world. */
export interface Databases {
  /** Made if it is missing, and as it was when it was closed. In memory all of them last while any is open. Errors: those of `openDatabase`. */
  open(world: string): Promise<Database>;
  /** Deletes what is stored of the world, if anything is. Nothing has it open. */
  remove(world: string): Promise<void>;
  /**
   * Runs what makes a world, while no other process does so under that name; undefined: one does. Within a process nothing is held up.
   */
  making<T>(world: string, make: () => Promise<T>): Promise<T | undefined>;
}

export interface SavedState {
  readonly name: string;
  /** The machine's time. */
  readonly saved_ms: number;
}

/** The state was saved by another version, and cannot be brought up to date. */
export class StateOutdated extends Error {
  constructor(name: string) {
    super(`the state ${name} was saved by another version of Plaza`);
    this.name = "StateOutdated";
  }
}

export interface Migration {
  /** Past tense or noun, unique in its feature, e.g. `personas`. */
  readonly name: string;
  /**
   * Statements run in order, once, in one transaction. Types: BIGINT, INTEGER, TEXT, BYTEA. A table whose primary key is
   * how it is read ends in `WITHOUT ROWID`, which the PostgreSQL driver removes; TEXT becomes `TEXT COLLATE "C"` there.
   */
  readonly statements: readonly string[];
}

export interface FeatureMigrations {
  readonly feature: string;
  /** Tables in which the first world keeps what is the server's: no saved state brings back or removes their rows. */
  readonly serverTables?: readonly string[];
  readonly migrations: readonly Migration[];
}

/** A write is durable even if a listener or action throws; such a throw is a programmer's mistake and surfaces as an uncaught error. */
export function runAction(action: () => void): void {
  try {
    action();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Only one outcome is possible here. Another one is a programmer's mistake: the write is rolled back, and the caller gets a 500. */
export async function certain<T>(outcome: Promise<T | false | undefined>, what: string): Promise<T> {
  const result = await outcome;
  if (result === false || result === undefined) throw new Error(`could not ${what}`);
  return result;
}
