/** One SQLite connection with its prepared statements. All methods of a connection except `migrate` are synchronous. */
import { Database, type Statement } from "bun:sqlite";
import { chmodSync, writeFileSync } from "node:fs";
import { BoundedMap } from "#kernel/bounded-map";
import { databaseUnreachable } from "#kernel/errors";
import type { FeatureMigrations, OnProgress } from "../database.ts";
import type { DatabaseHealth, ProblemKind } from "../database-health.ts";
import { type Row, type Sql, type SqlText, type SqlValue, sql } from "../sql.ts";
import { migrateSqlite, withoutLog } from "./empty-file.ts";
import { problemOfContent } from "./files/check-file.ts";
import { FilesChanged } from "./files/file-watch.ts";
import { haveSameMigrations, replaceContent, tablesOf } from "./replace-content.ts";

/** The maximum number of prepared statements per connection. Each statement takes about 5 kB, and a program has a few hundred statements. */
const STATEMENTS_MAX = 1_000;

/**
 * The pages of a database up to this size are copied through memory, which takes half a millisecond for a small world. `VACUUM INTO` takes eight
 * times as long as copying the pages through memory.
 */
const IMAGE_BYTES_MAX = 64 * 1024 * 1024;

const fileBytes = sql`SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size`;

const dataVersion = sql`PRAGMA data_version`;

export interface ConnectionOptions {
  readonly role: "writer" | "reader";
  /** Whether a commit waits until the data are on the disk. */
  readonly isDurable: boolean;
}

interface Prepared {
  readonly statement: Statement<Row, SqlValue[]>;
  /** Whether the statement may write data. A statement that returns rows can write too (RETURNING). */
  readonly mayWrite: boolean;
}

const WRITING = /\b(?:INSERT|UPDATE|DELETE)\b/i;

export class Connection {
  readonly #handle: Database;
  readonly #statements = new BoundedMap<SqlText, Prepared>(STATEMENTS_MAX, ({ statement }) => statement.finalize());
  readonly #kept: Statement[] = [];
  /** Whether a statement has changed rows since the property was last set to false. */
  hasWritten = false;

  private constructor(handle: Database) {
    this.#handle = handle;
  }

  static open(file: string, options: ConnectionOptions): Connection {
    const connection = new Connection(options.role === "writer" ? new Database(file) : new Database(file, { readonly: true }));
    try {
      connection.#configure(options);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #configure({ role, isDurable }: ConnectionOptions): void {
    // The connection waits up to a second for a tool that locks the database file briefly (a backup, the sqlite3 shell). A longer wait for a lock of
    // the file would delay every request.
    this.execute("PRAGMA busy_timeout = 1000");
    // The cache of each connection has 4 MB, enough for the upper levels of every index. The lower levels of an index are read from the system's
    // cache through the memory map, without a system call and a copy for each page (measured among 1,000,000 nodes at random: a request takes 11 µs
    // instead of 14 µs).
    this.execute("PRAGMA cache_size = -4000");
    if (role === "reader") this.execute("PRAGMA mmap_size = 268435456");
    this.execute("PRAGMA temp_store = MEMORY");
    this.execute("PRAGMA foreign_keys = OFF");
    if (role === "writer") {
      this.execute(`PRAGMA synchronous = ${isDurable ? "FULL" : "OFF"}`);
      // The write-ahead log grows to 16 MB before SQLite copies the log into the database file. A write-ahead log of 16 MB needs a quarter of the
      // syncs that the default size of 4 MB needs.
      this.execute("PRAGMA wal_autocheckpoint = 4000");
      // If the write-ahead log has grown larger because of a snapshot, SQLite cuts it to this size when the log restarts.
      this.execute("PRAGMA journal_size_limit = 33554432");
    }
  }

  get inTransaction(): boolean {
    return this.#handle.inTransaction;
  }

  /** Runs the missing migrations. The method also turns on the write-ahead log for a file that was copied into the folder, e.g. from a backup. */
  migrate(migrations: readonly FeatureMigrations[], onProgress?: OnProgress): Promise<void> {
    this.execute("PRAGMA journal_mode = WAL");
    return migrateSqlite(this.#handle, migrations, onProgress);
  }

  /** Runs a statement without values or rows once. The statement is not kept prepared. */
  execute(text: string): void {
    this.#handle.run(text);
  }

  /** Returns a function that runs a statement without values or rows. The statement is kept prepared for further calls. */
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

  /** Writes the committed content of the database to a new file without a write-ahead log. */
  saveInto(path: string): void {
    if (this.bytes <= IMAGE_BYTES_MAX) {
      writeFileSync(path, withoutLog(this.#handle.serialize()), { mode: 0o600 });
      return;
    }
    this.#handle.run("VACUUM INTO ?", [path]);
    // SQLite creates files with the permissions of the process's umask.
    chmodSync(path, 0o600);
  }

  /** Reads the whole database file. Returns the file's damage, or undefined if the file is intact (`files/check-file.ts`). */
  damage(): string | undefined {
    return problemOfContent(this.#handle);
  }

  /** A number that changes when another connection has written to the database file. */
  get dataVersion(): number {
    return this.get<{ data_version: number }>(dataVersion)?.data_version ?? 0;
  }

  /** The size of the database file, without its log. */
  get bytes(): number {
    return this.get<{ bytes: number }>(fileBytes)?.bytes ?? 0;
  }

  /**
   * Replaces the rows of the tables with the rows of the file at `path`, or deletes the rows of the tables if `path` is undefined. If other
   * migrations have run on the file at `path`, the method returns false and changes nothing.
   */
  replaceContent(tables: readonly string[], path: string | undefined): boolean {
    if (path === undefined) {
      replaceContent(this, tables, undefined);
      return true;
    }
    this.#handle.run("ATTACH ? AS saved", [path]);
    try {
      if (!haveSameMigrations(this, "main", "saved")) return false;
      replaceContent(this, tables, "saved");
      return true;
    } finally {
      this.#handle.run("DETACH saved");
    }
  }

  tablesOf(migrations: readonly FeatureMigrations[]): string[] {
    return tablesOf(this, migrations);
  }

  /**
   * Closes the connection and finalizes all its statements. An unfinalized statement would keep the file open and prevent the checkpoint of the log.
   */
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
 * Writes each parameter `?` of a statement outside of quotes as `+?`. SQLite recompiles a statement with ORDER BY or a join whenever a value is bound
 * to a bare parameter, because the value could allow a better plan; a plus sign before the parameter changes no value, and prevents the
 * recompilation. Measured: with the plus sign a list of six rows takes 1.3 µs instead of 4.3 µs, and a look-up with ORDER BY that finds no row takes
 * 0.4 µs instead of 3.5 µs.
 */
const withPlainMarks = (text: string): string => text.replace(MARK_OR_QUOTED, (found) => (found === "?" ? "+?" : found));

const MARK_OR_QUOTED = /\?|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*/g;

/**
 * Checks that the numbers of a row have lost no digits. SQLite returns integers as doubles; if a number lost digits, the query lacks a CAST, which is
 * a mistake in the server's code.
 */
function checked(row: Row): Row {
  for (const name in row) {
    const value = row[name];
    if (typeof value === "number" && (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER)) {
      throw new RangeError(`the column ${name} contains a number beyond 2^53: select CAST(… AS TEXT)`);
    }
  }
  return row;
}

/**
 * The error codes of a database that is temporarily unusable (disk full, I/O error, locked) or damaged. Errors in the SQL of a statement have other
 * codes.
 */
const OUTAGE = /^SQLITE_(FULL|IOERR|CANTOPEN|CORRUPT|NOTADB|BUSY|LOCKED|NOMEM|PROTOCOL)/;

const KINDS: Readonly<Record<string, ProblemKind>> = {
  FULL: "disk_full",
  IOERR: "disk_error",
  CANTOPEN: "disk_error",
  CORRUPT: "file_damaged",
  NOTADB: "file_damaged",
  BUSY: "locked",
  LOCKED: "locked",
  PROTOCOL: "locked",
  NOMEM: "no_memory",
};

export const isCorrupt = (error: unknown): error is Error => error instanceof Error && "code" in error && /^SQLITE_CORRUPT/.test(String(error.code));

/** Returns the kind of problem that an error of SQLite shows, or undefined if the database did not cause the error. */
function problemKindOf(error: unknown): ProblemKind | undefined {
  if (error instanceof FilesChanged) return "file_changed";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return KINDS[OUTAGE.exec(code)?.[1] ?? ""];
}

/**
 * Adds the code of an SQLite error to the error's message, because SQLite has one message, "disk I/O error", for everything that can fail with a
 * file.
 */
const withCode = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? new Error(`${error.message} (${String(error.code)})`) : error;

/**
 * D-21: every failure of the database becomes the one error `databaseUnreachable`, and is reported. Errors with other causes than the database are
 * unchanged.
 */
export function translated(error: unknown, health: DatabaseHealth): unknown {
  const kind = problemKindOf(error);
  if (kind === undefined) return error;
  health.failed(kind, withCode(error));
  return Object.assign(databaseUnreachable(), { cause: error });
}
