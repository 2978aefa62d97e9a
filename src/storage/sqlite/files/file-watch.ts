/**
 * Detects that somebody deleted, replaced, shortened or wrote the files of a world while this process uses them. SQLite itself would continue to use
 * deleted files, and would acknowledge writes to a deleted log, which are lost (D-342).
 *
 * NOTE: when a process closes a file, it loses all its locks on that file. The watch therefore opens the file after SQLite has opened it, and closes
 * the file after SQLite has closed it.
 */
import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { basename } from "node:path";

/**
 * The time between two regular checks of the files. The watch detects a change within this time plus the duration of a check, which together are at
 * most a second. Each write also checks whether somebody changed the files.
 */
const LOOK_EVERY_MS = 500;
/** The size of a SQLite file's header, which contains the number of pages, and counters of changes (sqlite.org/fileformat2). */
const HEADER_BYTES = 100;

export class FilesChanged extends Error {
  constructor(file: string, change: string) {
    super(`${basename(file)} ${change}`);
    this.name = "FilesChanged";
  }
}

interface Watched {
  readonly file: string;
  readonly log: string;
  /** Whether the writer has an open transaction, which may write to the log before it ends. */
  isWriting(): boolean;
  /** Returns a number that changes when a connection other than the writer's has written. */
  dataVersion(): number;
  /** This function is called with `FilesChanged`, or with an error of SQLite, when a check of the files finds a problem. */
  onProblem(error: unknown): void;
}

export class FileWatch {
  readonly #watched: Watched;
  readonly #handle: number;
  readonly #timer: ReturnType<typeof setInterval>;
  #header: Buffer;
  #file: Stats;
  #log: Stats | undefined;
  /** The value of `dataVersion` when `note` was last called. The value of `dataVersion` also changes when SQLite rolls back a failed write. */
  #dataVersion: number;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#handle = openSync(watched.file, "r");
    this.#header = this.#readHeader();
    this.#file = statSync(watched.file);
    this.#log = statOf(watched.log);
    this.#dataVersion = watched.dataVersion();
    // A timer checks the files, because no event happens when somebody deletes a file. The timer does not keep the program running.
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Throws `FilesChanged` if anybody other than this process has changed the files since the last call of `note`. */
  check(): void {
    const { file, log, isWriting } = this.#watched;
    const now = this.#same(file, this.#file);
    const logNow = this.#log === undefined ? statOf(log) : this.#same(log, this.#log);
    if (isWriting()) return;
    if (isWritten(this.#file, now)) {
      if (now.size < this.#file.size) throw new FilesChanged(file, "became shorter");
      if (!this.#readHeader().equals(this.#header)) throw new FilesChanged(file, "was written by another program");
      this.#file = now;
    }
    if (logNow === undefined || this.#log === undefined || !isWritten(this.#log, logNow)) return;
    if (logNow.size < this.#log.size) throw new FilesChanged(log, "became shorter");
    if (this.#watched.dataVersion() !== this.#dataVersion) throw new FilesChanged(log, "was written by another program");
    this.#log = logNow;
  }

  /**
   * Stores the size, time and header of the files after this process has written. Throws `FilesChanged` if the files with the names of the world's
   * files are not the files that this process wrote.
   */
  note(): void {
    const { file, log } = this.#watched;
    const now = this.#same(file, this.#file);
    if (isWritten(this.#file, now)) this.#header = this.#readHeader();
    this.#file = now;
    this.#log = this.#log === undefined ? statOf(log) : this.#same(log, this.#log);
    this.#dataVersion = this.#watched.dataVersion();
  }

  /** Stops the regular checks of the files. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Ends the watch. The caller must close the file in SQLite before it calls this method. */
  close(): void {
    this.stop();
    closeSync(this.#handle);
  }

  #look(): void {
    try {
      this.check();
    } catch (error) {
      this.#watched.onProblem(error);
    }
  }

  #same(file: string, known: Stats): Stats {
    const now = statOf(file);
    if (now === undefined) throw new FilesChanged(file, "is gone");
    if (now.ino !== known.ino || now.dev !== known.dev) throw new FilesChanged(file, "was replaced by another file");
    return now;
  }

  #readHeader(): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(this.#handle, header, 0, HEADER_BYTES, 0);
    return header;
  }
}

const statOf = (file: string): Stats | undefined => statSync(file, { throwIfNoEntry: false });

const isWritten = (before: Stats, now: Stats): boolean => before.size !== now.size || before.mtimeMs !== now.mtimeMs;
