/**
 * What a feature sees of a database. Two drivers implement it: `sqlite/` and `postgres/`.
 *
 * **Invariant:** a write is acknowledged (its promise resolves) only after it is durable.
 * **Invariant:** the body of a write awaits nothing but its `tx`; no network, no timer. SQLite refuses one that does.
 * **Invariant:** a body has no effect but through its `tx`: PostgreSQL undoes one that conflicts with another and runs it again.
 * **Invariant:** SQL stands only in `*.store.ts` and `*.migrations.ts`.
 */
import type { Row, Sql } from "./sql.ts";

export interface Reader {
  get<R extends Row>(statement: Sql): Promise<R | undefined>;
  all<R extends Row>(statement: Sql): Promise<R[]>;
  /** The same as `get` without a promise, where the store answers at once (SQLite): for the hot path. Throws what `get` rejects with. */
  getAtOnce?<R extends Row>(statement: Sql): R | undefined;
}

/** A statement that fails ends the transaction, also when the body swallows the error: for expected conflicts, `ON CONFLICT`. */
export interface Transaction extends Reader {
  /** Answers the number of rows changed. */
  run(statement: Sql): Promise<number>;
  /**
   * Until the transaction ends, no other one holds the lock of that name. On SQLite writers take turns anyway.
   * For check-then-write rules, e.g. `tx.lock("labels", pageId)`.
   */
  lock(scope: string, key: string): Promise<void>;
  /**
   * Ends a SELECT that claims rows for work: rows of the table called `alias` there are locked until the transaction ends,
   * and those that another process is claiming are left out. Nothing on SQLite, where writers take turns.
   */
  skipLocked(alias: string): string;
  /**
   * Says that a cached fact changed: dropped from this process's cache when the transaction has committed,
   * and from every other process's within 1 s. See `facts.ts`.
   */
  invalidate(kind: string, key: string): void;
  /** Runs once the write is durable; never when it was rolled back. It must not throw. */
  afterCommit(action: () => void): void;
}

export interface Database {
  readonly dialect: "sqlite" | "postgres";
  /** Reads what is committed, on a connection that no writer uses. */
  readonly reader: Reader;
  /**
   * Runs `body` in one transaction; a throw rolls it back and is thrown on. Resolves when durable.
   * Rejects with `databaseUnreachable` when the store fails (connection lost, disk full); the write may then have been
   * stored only if the connection broke at its very commit.
   */
  write<T>(body: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Several reads of one moment (a snapshot), for exports and reports. */
  snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T>;
  /** Called with each fact that any process, this one too, invalidated; `undefined`: everything may have changed. */
  onInvalidate(listener: (kind: string | undefined, key: string | undefined) => void): void;
  /**
   * A number that no other running process on this database has, 0 to 1023: part of minted ids. It is asked for each time,
   * because it changes when PostgreSQL was away and another process took it meanwhile.
   */
  readonly processNumber: number;
  /** Rejects with `databaseUnreachable` when the database does not answer; for readiness. */
  ping(): Promise<void>;
  /** Waits for running writes, then closes. */
  close(): Promise<void>;
}

export interface Migration {
  /** Past tense or noun, unique in its feature, e.g. `personas`. */
  readonly name: string;
  /**
   * Statements run in order, once, in one transaction. Types: BIGINT, INTEGER, TEXT, BYTEA. A table whose primary key is
   * how it is read ends in `WITHOUT ROWID`, which PostgreSQL's driver leaves out; TEXT becomes `TEXT COLLATE "C"` there.
   */
  readonly statements: readonly string[];
}

export interface FeatureMigrations {
  readonly feature: string;
  readonly migrations: readonly Migration[];
}
