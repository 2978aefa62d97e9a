/** One SQLite connection with its prepared statements. Everything here is synchronous. */
import { Database, type Statement } from "bun:sqlite";
import { BoundedMap } from "#kernel/bounded-map";
import { databaseUnreachable } from "#kernel/errors";
import type { FeatureMigrations, Reader } from "../database.ts";
import type { Row, Sql, SqlText, SqlValue } from "../sql.ts";
import { migrateSqlite } from "./empty-file.ts";

/** Statements kept per connection, at some 5 kB each; a program has a few hundred. */
const STATEMENTS_MAX = 1_000;

export interface ConnectionOptions {
  readonly role: "writer" | "reader";
  /** `OFF` where nothing has to outlive the process. */
  readonly synchronous: "FULL" | "OFF";
}

interface Prepared {
  readonly statement: Statement<Row, SqlValue[]>;
  /** One that hands out rows may write as well (RETURNING). */
  readonly mayWrite: boolean;
}

const WRITING = /\b(?:INSERT|UPDATE|DELETE)\b/i;

export class Connection {
  readonly #handle: Database;
  readonly #statements = new BoundedMap<SqlText, Prepared>(STATEMENTS_MAX, ({ statement }) => statement.finalize());
  readonly #kept: Statement[] = [];
  /** Rows were changed since this was set back. */
  hasWritten = false;

  constructor(file: string, { role, synchronous }: ConnectionOptions) {
    this.#handle = role === "writer" ? new Database(file) : new Database(file, { readonly: true });
    // A tool that holds the file for a moment (a backup, the sqlite3 shell) is waited for; longer would stall every request.
    this.execute("PRAGMA busy_timeout = 1000");
    // 4 MB each: the upper levels of every index. What lies below them is read where the system has it, without a request and a
    // copy for each page (measured among 1,000,000 nodes at random: a request 11 µs in place of 14).
    this.execute("PRAGMA cache_size = -4000");
    if (role === "reader") this.execute("PRAGMA mmap_size = 268435456");
    this.execute("PRAGMA temp_store = MEMORY");
    this.execute("PRAGMA foreign_keys = OFF");
    if (role === "writer") {
      this.execute(`PRAGMA synchronous = ${synchronous}`);
      // 16 MB of log before it is copied into the file: a quarter of the syncs that 4 MB (the default) costs.
      this.execute("PRAGMA wal_autocheckpoint = 4000");
      // A log that grew while a snapshot held it back is cut to this size when it starts anew.
      this.execute("PRAGMA journal_size_limit = 33554432");
    }
  }

  get inTransaction(): boolean {
    return this.#handle.inTransaction;
  }

  /** Also turns a file into one with a write-ahead log, where it came from elsewhere (a copy, a backup). */
  migrate(migrations: readonly FeatureMigrations[]): Promise<void> {
    this.execute("PRAGMA journal_mode = WAL");
    return migrateSqlite(this.#handle, migrations);
  }

  /** A statement without values or rows that is not worth keeping. */
  execute(text: string): void {
    this.#handle.run(text);
  }

  /** A statement without values or rows, kept. */
  prepare(text: string): () => void {
    const statement = this.#handle.prepare(text);
    this.#kept.push(statement);
    return () => {
      statement.run();
    };
  }

  get<R extends Row>(statement: Sql): R | undefined {
    const { statement: prepared, mayWrite } = this.#prepared(statement.query);
    const row = prepared.get(...statement.values);
    if (row === null) return undefined;
    this.hasWritten ||= mayWrite;
    return checked(row) as R;
  }

  all<R extends Row>(statement: Sql): R[] {
    const { statement: prepared, mayWrite } = this.#prepared(statement.query);
    const rows = prepared.all(...statement.values);
    if (rows.length > 0) this.hasWritten ||= mayWrite;
    for (const row of rows) checked(row);
    return rows as R[];
  }

  run(statement: Sql): number {
    const { changes } = this.#prepared(statement.query).statement.run(...statement.values);
    if (changes > 0) this.hasWritten = true;
    return changes;
  }

  /** A statement left would keep the file open, and the log from being folded into it. */
  close(): void {
    for (const statement of this.#kept) statement.finalize();
    for (const { statement } of this.#statements.values()) statement.finalize();
    this.#statements.clear();
    this.#handle.close();
  }

  #prepared(query: SqlText): Prepared {
    let prepared = this.#statements.get(query);
    if (prepared === undefined) {
      prepared = { statement: this.#handle.prepare<Row, SqlValue[]>(withPlainMarks(query.text)), mayWrite: WRITING.test(query.text) };
      this.#statements.set(query, prepared);
    }
    return prepared;
  }
}

/**
 * Each mark as `+?`, outside of what is quoted. SQLite compiles a statement with ORDER BY or a join anew whenever a bare mark of
 * it is bound, because a value might lend itself to a better plan; a plus, which changes no value of any kind, keeps it from
 * looking. Measured: a list of six rows 1.3 µs in place of 4.3, a look-up with ORDER BY that finds nothing 0.4 in place of 3.5.
 */
const withPlainMarks = (text: string): string => text.replace(MARK_OR_QUOTED, (found) => (found === "?" ? "+?" : found));

const MARK_OR_QUOTED = /\?|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*/g;

/** SQLite hands out integers as doubles: one that lost digits is a query without its CAST, a programmer's mistake. */
function checked(row: Row): Row {
  for (const name in row) {
    const value = row[name];
    if (typeof value === "number" && (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER)) {
      throw new RangeError(`column ${name} is beyond 2^53: select CAST(… AS TEXT)`);
    }
  }
  return row;
}

/** Codes of a store that cannot be used just now (disk full, I/O error, locked), as against a wrong statement. */
const OUTAGE = /^SQLITE_(FULL|IOERR|CANTOPEN|CORRUPT|NOTADB|BUSY|LOCKED|NOMEM|PROTOCOL)/;

/** D-21: what the store's own troubles look like to callers; anything else is handed on as it is. */
export function translated(error: unknown): unknown {
  if (error instanceof Error && "code" in error && typeof error.code === "string" && OUTAGE.test(error.code)) {
    return Object.assign(databaseUnreachable(), { cause: error });
  }
  return error;
}

/** Reads of a connection as promises. */
export class ConnectionReader implements Reader {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async get<R extends Row>(statement: Sql): Promise<R | undefined> {
    try {
      return this.#connection.get<R>(statement);
    } catch (error) {
      throw translated(error);
    }
  }

  async all<R extends Row>(statement: Sql): Promise<R[]> {
    try {
      return this.#connection.all<R>(statement);
    } catch (error) {
      throw translated(error);
    }
  }
}

/**
 * Reads of what is committed. A statement by itself takes a lock on the log and gives it back, which is most of what a look-up
 * costs (measured: 2.6 µs against 0.5 inside a transaction). So the first read begins a transaction, and it lasts until the
 * writer calls `letGo`, just before each commit: what a read sees is then always the last commit, and no log is held back.
 */
export class CommittedReader implements Reader {
  readonly #connection: Connection;
  readonly #begin: () => void;
  readonly #end: () => void;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#begin = connection.prepare("BEGIN");
    this.#end = connection.prepare("COMMIT");
  }

  async get<R extends Row>(statement: Sql): Promise<R | undefined> {
    return this.getAtOnce<R>(statement);
  }

  getAtOnce<R extends Row>(statement: Sql): R | undefined {
    try {
      if (!this.#connection.inTransaction) this.#begin();
      return this.#connection.get<R>(statement);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async all<R extends Row>(statement: Sql): Promise<R[]> {
    try {
      if (!this.#connection.inTransaction) this.#begin();
      return this.#connection.all<R>(statement);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  letGo(): void {
    if (this.#connection.inTransaction) this.#end();
  }

  /** A store that was away is looked at anew. */
  #failed(error: unknown): unknown {
    try {
      this.letGo();
    } catch {
      // The read has failed, and is told so.
    }
    return translated(error);
  }
}
