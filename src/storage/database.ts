/**
 * The database as features use it. Two drivers implement this interface of the database: `sqlite/` and `postgres/`.
 *
 * **Invariant:** a write is acknowledged (its promise resolves) only after it is durable.
 * **Invariant:** the body of a write awaits only its `tx`, and no network or timer. The SQLite driver rejects the body of a write that awaits
 * anything else than its `tx`.
 * **Invariant:** the body of a write has effects only through its `tx`, because the PostgreSQL driver rolls back a body that conflicts with another
 * body, and runs the body again.
 * **Invariant:** SQL is written only in `*.store.ts` and `*.migrations.ts`.
 */
import type { DatabaseHealth } from "./database-health.ts";
import type { Row, Sql } from "./sql.ts";

export interface Reader {
  get<R extends Row>(statement: Sql): Promise<R | undefined>;
  all<R extends Row>(statement: Sql): Promise<R[]>;
}

/**
 * A failed statement ends the transaction, even if the body of the transaction catches the error. If the body of a write expects a conflict, its
 * statement must use `ON CONFLICT`.
 */
export interface Transaction extends Reader {
  /** Runs a statement, and resolves with the number of changed rows. */
  run(statement: Sql): Promise<number>;
  /** Runs a statement that must change exactly one row. If the statement changes any other number of rows, the transaction ends with `NotOneRow`. */
  runOne(statement: Sql): Promise<void>;
  /**
   * Locks a name until the transaction ends, for a rule that checks first and then writes, e.g. `tx.lock("labels", pageId)`. On SQLite `lock` does
   * nothing, because only one writer runs at a time. On PostgreSQL, write bodies of one process whose first statement locks the same name are
   * committed together.
   */
  lock(scope: string, key: string): Promise<void>;
  /**
   * Returns the text that ends a SELECT that claims rows for work: the text locks the rows of the table `alias` until the transaction ends, and skips
   * rows that another process is claiming. On SQLite the returned text is empty, because only one writer runs at a time.
   */
  skipLocked(alias: string): string;
  /**
   * Lets the event loop do other work between the statements of a write body that has very many statements. On SQLite, other writers still wait until
   * the write body ends.
   */
  pause(): Promise<void>;
  /**
   * Invalidates a cached fact: when the transaction has committed, the fact leaves the cache of this process, and within 1 s the cache of every other
   * process. See `facts.ts`.
   */
  invalidate(kind: string, key: string): void;
  /**
   * Runs `action` after the write of the transaction is durable. The action does not run if the transaction is rolled back, and it must not throw.
   */
  afterCommit(action: () => void): void;
}

/**
 * The error for a statement that had to change exactly one row, but changed no row or several rows. On PostgreSQL a concurrent writer may have
 * deleted the row after the body read it, so the body runs a second time; a second failure is a mistake in the server's code.
 */
export class NotOneRow extends Error {
  constructor(changed: number, { query }: Sql) {
    super(`a statement changed ${changed} rows instead of one: ${query.text.trim().slice(0, 80)}`);
  }
}

export interface Database {
  readonly dialect: "sqlite" | "postgres";
  /** Reads committed data, on a connection that no writer uses. */
  readonly reader: Reader;
  /**
   * Runs `body` in one transaction, and resolves when the writes are durable. If the body of the write throws, the transaction is rolled back and the
   * promise rejects. If the database fails (connection lost, disk full), the promise rejects with `databaseUnreachable`, and the write is not stored.
   * If the connection broke during the commit, the write may be stored nevertheless.
   */
  write<T>(body: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Gives `body` a reader whose reads all see the same snapshot of the data. Exports and reports use this method to read a snapshot. `body` should only
   * read, because it may run a second time, with another snapshot; the result of its last run counts.
   */
  snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T>;
  /**
   * Calls `listener` with each fact that any process, including this one, invalidates. The kind `undefined` means that everything may have changed.
   * Returns a function that removes the listener.
   */
  onInvalidate(listener: (kind: string | undefined, key: string | undefined) => void): () => void;
  /**
   * Callers call this method before they use a cached fact. If the database has not been able to confirm for a second that no other process
   * changed anything (for example because this process got no processor time), the database reports to its listeners that everything may have
   * changed.
   */
  confirm(): void;
  /**
   * A number from 0 to 1023 that is part of new ids; no other running process on this database has the same number. Callers read the number each
   * time, because the number can change after an outage of PostgreSQL.
   */
  readonly processNumber: number;
  /** The promise rejects with `databaseUnreachable` if the database does not respond. Readiness checks call this function. */
  ping(): Promise<void>;
  /**
   * Removes deleted and overwritten values from the database's files. SQLite rewrites its file, which blocks all other work for 16 s per gigabyte
   * (measured). On PostgreSQL the next vacuum removes the values.
   */
  scrub(): Promise<void>;
  /** Saves all data of the world under a name. If a saved state has the same name, it is replaced. */
  saveState(name: string): Promise<void>;
  /**
   * Replaces the world's content with the saved state, or empties the world if `name` is undefined. A concurrent write happens entirely before or
   * entirely after the replacement. The promise resolves with false if the saved state does not exist, and rejects with `StateOutdated` if the state
   * cannot be converted.
   */
  restoreState(name: string | undefined): Promise<boolean>;
  /** Lists the saved states, sorted by name. */
  listStates(): Promise<readonly SavedState[]>;
  /** Deletes a saved state. The promise resolves with false if no saved state has this name. */
  deleteState(name: string): Promise<boolean>;
  /** Waits until running writes have ended, and closes the database. */
  close(): Promise<void>;
}

/** The kind of the fact that a database reports to its own listeners after its world was moved to another database (D-421). */
export const MOVED_AWAY = "moved_away";

/** One of the databases of `--databases` (D-420). */
export interface NamedDatabase {
  readonly name: string;
  /** The address of the database, in the form `postgres://…`, as in the option `--data`. */
  readonly url: string;
}

/** A database of `--databases` with the state that a running server knows. */
export interface SpreadDatabase {
  readonly name: string;
  /** Whether the server is connected to the database. */
  readonly isUp: boolean;
  /** The promise rejects if the database does not respond. */
  ping(): Promise<void>;
}

/**
 * The databases of a server, one for each world. If the server has `--databases`, its worlds are in several PostgreSQL clusters, and the argument
 * `at` is the name of the database that the world is in. If `at` is left out, the method uses the first database, which has the first world.
 */
export interface Databases {
  /** The databases of `--databases`, in the order of that option. The list of databases is empty if the server has only one database. */
  readonly spread: readonly SpreadDatabase[];
  /**
   * Opens the world's database, and creates it if it does not exist. The data of in-memory worlds are kept until the last world is closed. The method
   * `open` throws the errors of `openDatabase`.
   */
  open(world: string, at?: string): Promise<Database>;
  /**
   * Runs `read` on the stored data of a closed world, without opening the world. The promise resolves with undefined if no data of the world is
   * stored. The promise rejects if the world's data cannot be read, e.g. because an earlier version of the program stored it.
   */
  look<T>(world: string, read: (reader: Reader) => Promise<T>, at?: string): Promise<T | undefined>;
  /** The names of the worlds that have data in the database, in alphabetical order. */
  names(at?: string): Promise<readonly string[]>;
  /** The migrations that `open` would run, each as `feature/name`; undefined if no data of the world is stored. Throws `UnknownMigration`. */
  pending(world: string, at?: string): Promise<readonly string[] | undefined>;
  /** Deletes the world's data, if the world has any. The world must be closed. */
  remove(world: string, at?: string): Promise<void>;
  /**
   * Runs `make`, which creates a world. If another process is creating a world of the same name, `making` resolves with undefined and does not run
   * `make`. `making` does not exclude other calls of `making` in the same process.
   */
  making<T>(world: string, make: () => Promise<T>): Promise<T | undefined>;
  /**
   * Copies a world to another database, and fences the old database: statements of a process that still uses the old database fail. The caller
   * ensures that the world is closed and that no other process moves the world. The promise resolves at once if an earlier call has moved the world.
   * Only servers with `--databases` have the method `move`.
   */
  move?(world: string, from: string, to: string): Promise<void>;
  /** Whether the world was moved away from a database, so that the world can only be opened in its new database. */
  hasMoved?(world: string, from: string): Promise<boolean>;
  /** Deletes the old copy of a world that was moved to another database. */
  forgetMoved?(world: string, from: string): Promise<void>;
}

export interface SavedState {
  readonly name: string;
  /** The time at which the world's state was saved, by the machine's clock. */
  readonly saved_ms: number;
}

/** The error for a saved state that is from another version of the program and cannot be converted. */
export class StateOutdated extends Error {
  constructor(name: string) {
    super(`the state ${name} was saved by another version of Plaza`);
    this.name = "StateOutdated";
  }
}

export interface Migration {
  /** The migration's name: a noun or a past tense that is unique in its feature, e.g. `personas`. */
  readonly name: string;
  /**
   * The statements of the migration run in order, once, in one transaction. Column types are BIGINT, INTEGER, TEXT and BYTEA. The statement of a
   * table that is read by its primary key ends in `WITHOUT ROWID`. The PostgreSQL driver removes the words `WITHOUT ROWID`, and turns TEXT into `TEXT
   * COLLATE "C"`.
   */
  readonly statements: readonly string[];
  /**
   * A migration that removes something, e.g. a column, sets `contracts` to the `feature/name` of an earlier migration: programs since the release of
   * that earlier migration do not use the removed thing (D-346). A migration that only adds something has no `contracts`, because a program that does
   * not know the addition still works.
   */
  readonly contracts?: string;
  /**
   * A statement that changes a limited number of rows, and finds fewer rows each time; the one `?` of the statement is the limit. The statement runs
   * after `statements`, each time in its own transaction, until it changes no row. The `statements` of such a migration must not fail when they run a
   * second time.
   */
  readonly batch?: string;
}

export interface FeatureMigrations {
  readonly feature: string;
  /**
   * The tables in the first world's database that belong to the server and not to the world. When a saved state is restored, the server's own tables
   * do not change.
   */
  readonly serverTables?: readonly string[];
  readonly migrations: readonly Migration[];
}

/**
 * Runs an action that must not fail. The write is durable even if a listener or action throws; such an error is a mistake in the server's code, and
 * becomes an uncaught error.
 */
export function runAction(action: () => void): void {
  try {
    action();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/**
 * Awaits a statement that can have only one outcome. Any other outcome of the statement is a mistake in the server's code: the write is rolled back,
 * and the caller gets the status 500.
 */
export async function certain<T>(outcome: Promise<T | false | undefined>, what: string): Promise<T> {
  const result = await outcome;
  if (result === false || result === undefined) throw new Error(`could not ${what}`);
  return result;
}

/** A database file up to this size is checked when it is opened. The check takes 3 ms per megabyte (measured), which nobody notices at the start. */
export const CHECKED_AT_ONCE_BYTES_MAX = 32 * 1024 * 1024;

/** Limits for each process on PostgreSQL; the SQLite driver ignores these limits. */
export interface ConnectionLimits {
  readonly connections: number;
  readonly statementMs: number;
  readonly lockMs: number;
}

export interface MigrationProgress {
  /** The migration that runs, as `feature/name`. */
  readonly migration: string;
  /** `done` is the number of migrations that have ended; `total` is the number of all migrations of this run. */
  readonly done: number;
  readonly total: number;
  /** The number of rows that the batches of this migration have changed so far. */
  readonly rows: number;
}

export type OnProgress = (progress: MigrationProgress) => void;

/** The program that uses the databases. */
export interface Program {
  readonly version?: string;
  readonly health?: DatabaseHealth;
  /** Limits for each process on PostgreSQL. */
  readonly limits?: Partial<ConnectionLimits>;
  /** The database calls this function while it migrates the data of an earlier version. */
  readonly onProgress?: OnProgress;
  /** The databases that the worlds are in; `data` is the address of the first database. */
  readonly databases?: readonly NamedDatabase[];
}
