/**
 * The database as features use it. Two drivers implement it: `sqlite/` and `postgres/`.
 *
 * **Invariant:** a write is acknowledged (its promise resolves) only after it is durable.
 * **Invariant:** the body of a write awaits only its `tx`: no network, no timer. SQLite rejects a body that awaits anything else.
 * **Invariant:** a body has effects only through its `tx`: PostgreSQL undoes a body that conflicts with another and runs it again.
 * **Invariant:** SQL is written only in `*.store.ts` and `*.migrations.ts`.
 */
import type { DatabaseHealth } from "./database-health.ts";
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
   * Locks a name until the transaction ends. On SQLite it does nothing, because writers take turns.
   * For check-then-write rules, e.g. `tx.lock("labels", pageId)`. If a body's first statement is a lock, bodies of one process that lock
   * the same name share a commit on PostgreSQL, too.
   */
  lock(scope: string, key: string): Promise<void>;
  /**
   * Ends a SELECT that claims rows for work: locks the rows of the table `alias` until the transaction ends,
   * and skips rows that another process is claiming. Empty on SQLite, where writers take turns.
   */
  skipLocked(alias: string): string;
  /** For a body with very many statements: lets SQLite serve reads in between. PostgreSQL always does. */
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
 * A statement changed no row, or several, when it had to change one. On PostgreSQL a concurrent writer may have deleted the row after the
 * body read it, so the body runs again first; if it fails again, that is a programmer's mistake.
 */
export class NotOneRow extends Error {
  constructor(changed: number, { query }: Sql) {
    super(`${changed} rows were changed instead of one: ${query.text.trim().slice(0, 80)}`);
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
   * Calls `listener` with each fact that any process, including this one, invalidates; `undefined` means that everything may
   * have changed. Returns a function that removes the listener.
   */
  onInvalidate(listener: (kind: string | undefined, key: string | undefined) => void): () => void;
  /**
   * Call it before you use a cached fact. If the database could not confirm for a second that no other process changed anything (for
   * example because this process got no processor time), it tells its listeners that everything may have changed.
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
   * Removes deleted and overwritten values from the files, too. SQLite rewrites its file, which blocks everything else for 16 s per gigabyte
   * (measured). On PostgreSQL the next vacuum removes them.
   */
  scrub(): Promise<void>;
  /** Saves the whole state of the world under a name, and replaces a state of that name. */
  saveState(name: string): Promise<void>;
  /**
   * Replaces the world's content with the saved state, or with nothing if `name` is undefined. A concurrent write happens entirely before
   * or entirely after it. Resolves with false if the state does not exist; rejects with `StateOutdated`.
   */
  restoreState(name: string | undefined): Promise<boolean>;
  /** In the order of their names. */
  listStates(): Promise<readonly SavedState[]>;
  /** Resolves with false if the state does not exist. */
  deleteState(name: string): Promise<boolean>;
  /** Waits for running writes, then closes. */
  close(): Promise<void>;
}

/** The databases of a server, one for each world. */
export interface Databases {
  /**
   * Opens the world's database, and creates it if it does not exist. In-memory worlds are kept until the last one is closed. Errors: see
   * `openDatabase`.
   */
  open(world: string): Promise<Database>;
  /** The worlds of which something is stored, by name. */
  names(): Promise<readonly string[]>;
  /** The migrations that `open` would run, `feature/name`. Undefined: nothing is stored of the world. Throws `UnknownMigration`. */
  pending(world: string): Promise<readonly string[] | undefined>;
  /** Deletes the world's data, if it has any. The world must be closed. */
  remove(world: string): Promise<void>;
  /**
   * Runs `make`, which creates a world, unless another process is creating a world of that name: then it resolves with undefined. It does not lock
   * anything within this process.
   */
  making<T>(world: string, make: () => Promise<T>): Promise<T | undefined>;
}

export interface SavedState {
  readonly name: string;
  /** By the machine's clock. */
  readonly saved_ms: number;
}

/** The state was saved by another version and cannot be converted. */
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
   * Statements run in order, once, in one transaction. Types: BIGINT, INTEGER, TEXT, BYTEA. A table that is read by its
   * primary key ends in `WITHOUT ROWID`, which the PostgreSQL driver removes; TEXT becomes `TEXT COLLATE "C"` there.
   */
  readonly statements: readonly string[];
  /**
   * For a migration that takes something away: `feature/name` of the migration since whose release no program uses it (D-346). Left out: it only adds,
   * so that a program that does not know it works on.
   */
  readonly contracts?: string;
  /**
   * A statement that changes some rows of which it finds fewer each time, with one `?` for their number at most. It runs after `statements`, each time in a
   * transaction of its own, until it changes nothing. Such a migration has no statements that fail the second time.
   */
  readonly batch?: string;
}

export interface FeatureMigrations {
  readonly feature: string;
  /** Tables of the first world that belong to the server. Restoring a state does not change them. */
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

/** A check of a file takes 3 ms a megabyte (measured), so nobody notices a check of this size at the start. */
export const CHECKED_AT_ONCE_BYTES_MAX = 32 * 1024 * 1024;

/** Of PostgreSQL, for each process. */
export interface ConnectionLimits {
  readonly connections: number;
  readonly statementMs: number;
  readonly lockMs: number;
}

export interface MigrationProgress {
  /** `feature/name`. */
  readonly migration: string;
  /** Migrations that have ended, and all of this run. */
  readonly done: number;
  readonly total: number;
  /** Rows that its batches have changed so far. */
  readonly rows: number;
}

export type OnProgress = (progress: MigrationProgress) => void;

/** The program that uses the databases. */
export interface Program {
  readonly version?: string;
  readonly health?: DatabaseHealth;
  /** Of PostgreSQL, for each process. */
  readonly limits?: Partial<ConnectionLimits>;
  /** Called while the data of an earlier version is migrated. */
  readonly onProgress?: OnProgress;
}
