/** Implements `Database` on SQLite: one connection writes, one reads, and one reads snapshots. */
import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { OnProgress } from "../database.ts";
import {
  CHECKED_AT_ONCE_BYTES_MAX,
  type Database,
  type FeatureMigrations,
  type Reader,
  runAction,
  type SavedState,
  StateOutdated,
  type Transaction,
} from "../database.ts";
import { DatabaseHealth } from "../database-health.ts";
import { sql } from "../sql.ts";
import { Connection, isCorrupt, translated } from "./connection.ts";
import { emptyFile, migrateFile, placeFile } from "./empty-file.ts";
import { DamagedFile, problemOfSize } from "./files/check-file.ts";
import { FilesChanged, FileWatch } from "./files/file-watch.ts";
import { type Place, placeOf } from "./place.ts";
import { CommittedReader, ConnectionReader } from "./readers.ts";
import { StateFiles } from "./saved-states.ts";
import { WriteQueue } from "./write-queue.ts";

/** The first statement on a connection makes SQLite read the file, open the log and begin the snapshot, and fails if the file is not a database. */
const firstRead = sql`SELECT 1 AS one FROM sqlite_schema LIMIT 1`;

/** The error of a read through a snapshot that has ended. */
class SnapshotEnded extends Error {
  constructor() {
    super("a snapshot was used after its body had ended");
    this.name = "SnapshotEnded";
  }
}

/** Returns a reader that calls `check` before each read. */
const checked = (reader: Reader, check: () => void): Reader => ({
  get: async (statement) => {
    check();
    return reader.get(statement);
  },
  all: async (statement) => {
    check();
    return reader.all(statement);
  },
});

export interface SqliteOptions {
  /** The name of the world. The world's file is `<folder>/<world>.sqlite`. */
  readonly world?: string;
  readonly migrations: readonly FeatureMigrations[];
  /** The object that collects the problems of the database. If `health` is left out, the problems are not reported. */
  readonly health?: DatabaseHealth;
  readonly onProgress?: OnProgress | undefined;
  /** This function is called after each commit, with the number of the commit's writes. The metrics use the number of writes in each commit. */
  readonly onCommit?: (writes: number) => void;
}

interface Files {
  readonly path: string;
  readonly isDurable: boolean;
  readonly writer: Connection;
  openReader(): Connection;
  readonly states: StateFiles;
  readonly health: DatabaseHealth;
  /** This function is called when the database is closed. */
  letGo(): void;
}

/**
 * Opens a world's database. `folder` is created if it does not exist, and is locked for this process. The data of `:memory:` are deleted when the
 * database is closed. The promise for the database rejects with the errors of `openIn`.
 */
export const openSqlite = ({ folder, ...options }: SqliteOptions & { readonly folder: string }): Promise<Database> =>
  openIn(placeOf(folder), options);

/**
 * Opens a world's database in a data folder. Throws `FolderInUse`, `DamagedFile`, `UnknownMigration`, `MigrationFailed`, or the system's own error if
 * the folder cannot be used.
 */
export async function openIn(
  place: Place,
  { world = "default", migrations, health = new DatabaseHealth(), onProgress, onCommit }: SqliteOptions,
): Promise<Database> {
  const empty = await emptyFile(migrations);
  const letGo = place.hold(world);
  const { isDurable } = place;
  const file = join(place.folder, `${world}.sqlite`);
  let writer: Connection | undefined;
  try {
    const isNew = !existsSync(file);
    if (isNew) placeFile(file, empty, isDurable);
    else {
      if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
      requireWhole(file, problemOfSize(file));
    }
    writer = Connection.open(file, { role: "writer", isDurable });
    if (!isNew && writer.bytes <= CHECKED_AT_ONCE_BYTES_MAX) requireWhole(file, writer.damage());
    if (!isNew) await writer.migrate(migrations, onProgress);
    const openReader = (): Connection => Connection.open(file, { role: "reader", isDurable });
    return new SqliteDatabase(
      { ...{ path: file, isDurable, writer, openReader }, states: new StateFiles(place, world), health, letGo },
      migrations,
      onCommit,
    );
  } catch (error) {
    writer?.close();
    letGo();
    throw isCorrupt(error) ? new DamagedFile(file, `is damaged (${error.message})`) : error;
  }
}

/**
 * Runs `read` on the file of a closed world. Resolves with undefined if the world has no file. The promise of the result rejects with the errors of
 * SQLite.
 */
export async function lookIn<T>({ folder, isDurable }: Place, world: string, read: (reader: Reader) => Promise<T>): Promise<T | undefined> {
  const file = join(folder, `${world}.sqlite`);
  if (!existsSync(file)) return undefined;
  const connection = Connection.open(file, { role: "reader", isDurable });
  try {
    return await read(new ConnectionReader(connection, new DatabaseHealth()));
  } finally {
    connection.close();
  }
}

function requireWhole(file: string, problem: string | undefined): void {
  if (problem !== undefined) throw new DamagedFile(file, problem);
}

class SqliteDatabase implements Database {
  readonly dialect = "sqlite";
  /** The process number is constant, because only one process can use the data folder. */
  readonly processNumber = 0;
  readonly reader: CommittedReader;
  readonly #files: Files;
  readonly #readingConnection: Connection;
  readonly #migrations: readonly FeatureMigrations[];
  readonly #queue: WriteQueue;
  readonly #listeners = new Set<(kind: string | undefined, key: string | undefined) => void>();
  readonly #watch: FileWatch;
  /**
   * The error that is set when another program has changed the database's files. After the files were changed, the database neither reads nor writes.
   */
  #changed: FilesChanged | undefined;
  #snapshot: Connection | undefined;
  #lastSnapshot: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  /** The names of the world's tables, after they were first read. The tables do not change while the database is open. */
  #tables: readonly string[] | undefined;

  constructor(files: Files, migrations: readonly FeatureMigrations[], onCommit: ((writes: number) => void) | undefined) {
    this.#files = files;
    this.#migrations = migrations;
    this.#readingConnection = files.openReader();
    this.reader = new CommittedReader(this.#readingConnection, files.health);
    const { path, writer, isDurable } = files;
    this.#watch = new FileWatch({
      ...{ file: path, log: `${path}-wal` },
      isWriting: () => writer.inTransaction,
      dataVersion: () => writer.dataVersion,
      onProblem: (error) => this.#refuse(error),
    });
    this.#queue = new WriteQueue(writer, {
      // The writes of an in-memory world are not durable anyway, so this world's files need no check before each group of writes: the regular checks
      // are enough.
      beforeGroup: () => this.#check(() => isDurable && this.#watch.check()),
      afterGroup: () => this.#check(() => this.#watch.note()),
      beforeCommit: () => this.reader.letGo(),
      onFact: (kind, key) => {
        for (const listener of this.#listeners) listener(kind, key);
      },
      ...{ onCommit, health: files.health },
    });
  }

  #refuse(error: unknown): void {
    translated(error, this.#files.health);
    if (!(error instanceof FilesChanged) || this.#changed !== undefined) return;
    this.#changed = error;
    this.#watch.stop();
    this.reader.refuse(error);
  }

  /**
   * Checks the database's files with `look`. Throws `FilesChanged` if this check or an earlier check has found that another program changed the
   * files.
   */
  #check(look: () => unknown): void {
    if (this.#changed !== undefined) throw this.#changed;
    try {
      look();
    } catch (error) {
      this.#refuse(error);
      throw error;
    }
  }

  write<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(new Error("the database is closed"));
    return this.#queue.write(body);
  }

  /**
   * Calls `body` with a reader whose reads all see one snapshot, one snapshot after another. The first snapshot uses the connection of ordinary reads,
   * because opening a connection takes longer than reading a small world. If a write commits meanwhile, `body` runs again with a connection of its
   * own, which later snapshots use, too. The log grows while such a snapshot is open, so `body` should only read and not do slow work.
   */
  snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(new Error("the database is closed"));
    const turn = this.#lastSnapshot.then(() => this.#runSnapshot(body));
    this.#lastSnapshot = turn.catch(() => {});
    return turn;
  }

  async #runSnapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T> {
    const read = this.#snapshot === undefined ? await this.#readBetweenCommits(body) : undefined;
    return read === undefined ? this.#readAlone(body) : read.result;
  }

  /** Runs `body` on the connection of ordinary reads. Undefined if a write was committed before the body ended. */
  async #readBetweenCommits<T>(body: (reader: Reader) => Promise<T>): Promise<{ readonly result: T } | undefined> {
    const { reader } = this;
    const { transactionNumber } = reader;
    let isOpen = true;
    try {
      const result = await body(
        checked(reader, () => {
          if (!isOpen || reader.transactionNumber !== transactionNumber) throw new SnapshotEnded();
        }),
      );
      return reader.transactionNumber === transactionNumber ? { result } : undefined;
    } catch (error) {
      if (reader.transactionNumber === transactionNumber) throw error;
      return undefined;
    } finally {
      isOpen = false;
    }
  }

  async #readAlone<T>(body: (reader: Reader) => Promise<T>): Promise<T> {
    try {
      if (this.#changed !== undefined) throw this.#changed;
      this.#snapshot ??= this.#files.openReader();
      this.#snapshot.execute("BEGIN");
    } catch (error) {
      throw translated(error, this.#files.health);
    }
    let isOpen = true;
    const inner = new ConnectionReader(this.#snapshot, this.#files.health);
    try {
      await inner.get(firstRead);
      return await body(
        checked(inner, () => {
          if (!isOpen) throw new SnapshotEnded();
        }),
      );
    } finally {
      isOpen = false;
      if (this.#snapshot.inTransaction) this.#snapshot.execute("COMMIT");
    }
  }

  onInvalidate(listener: (kind: string | undefined, key: string | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The method does nothing, because no other process writes to the database file. */
  confirm(): void {}

  async ping(): Promise<void> {
    await this.reader.get(firstRead);
  }

  /**
   * Rewrites the whole database file. Deleted rows leave traces in pages that were split or merged, so only a newly written file is free of traces of
   * deleted rows (measured).
   */
  async scrub(): Promise<void> {
    await this.#alone(
      (writer) => {
        writer.execute("VACUUM");
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)");
      },
      () => this.#snapshot?.inTransaction === true,
    );
  }

  saveState(name: string): Promise<void> {
    return this.#alone((writer) => this.#files.states.save(name, writer));
  }

  async restoreState(name: string | undefined): Promise<boolean> {
    this.#tables ??= this.#files.writer.tablesOf(this.#migrations);
    const tables = this.#tables;
    const replace = (path: string | undefined) => this.#alone((writer) => writer.replaceContent(tables, path));
    if (name === undefined) {
      await replace(undefined);
    } else {
      const isThere = await this.#files.states.use(name, async (path) => {
        if (await replace(path)) return true;
        await migrateFile(path, this.#migrations);
        return replace(path);
      });
      if (isThere === undefined) return false;
      if (!isThere) throw new StateOutdated(name);
    }
    for (const listener of this.#listeners) runAction(() => listener(undefined, undefined));
    return true;
  }

  async listStates(): Promise<readonly SavedState[]> {
    return this.#files.states.list();
  }

  async deleteState(name: string): Promise<boolean> {
    return this.#files.states.delete(name);
  }

  /** Runs `work` while the writer has no open transaction. */
  async #alone<T>(work: (writer: Connection) => T, isBusy: () => boolean = () => false): Promise<T> {
    const { writer } = this.#files;
    while (writer.inTransaction || isBusy()) {
      await this.#lastSnapshot;
      await this.#queue.idle();
    }
    if (this.#closing !== undefined) throw new Error("the database is closed");
    this.reader.letGo();
    try {
      this.#check(() => this.#watch.check());
      return work(writer);
    } catch (error) {
      throw translated(error, this.#files.health);
    } finally {
      if (this.#changed === undefined) this.#check(() => this.#watch.note());
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#queue.idle();
    await this.#lastSnapshot;
    this.#watch.stop();
    for (const connection of [this.#snapshot, this.#readingConnection, this.#files.writer]) connection?.close();
    this.#watch.close();
    this.#files.letGo();
  }
}
