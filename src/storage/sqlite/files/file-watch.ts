/**
 * Notices that somebody deletes, replaces, shortens or writes the files of a world while this process uses them. SQLite itself would go on: with a
 * log that was deleted it acknowledges writes that are nowhere (D-342).
 *
 * NOTE: closing a file drops the locks that the process has on it, so the file is opened after SQLite has opened it, and closed after it has closed it.
 */
import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { basename } from "node:path";

/** A change is noticed within this time and that of one look: a second at most. Writes look themselves. */
const LOOK_EVERY_MS = 500;
/** It contains the number of pages, and counters of changes (sqlite.org/fileformat2). */
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
  /** A transaction writes to the log before its end. */
  isWriting(): boolean;
  /** Changes when another connection than the writer's has written. */
  dataVersion(): number;
  /** Called with `FilesChanged`, or with an error of SQLite. */
  onProblem(error: unknown): void;
}

export class FileWatch {
  readonly #watched: Watched;
  readonly #handle: number;
  readonly #timer: ReturnType<typeof setInterval>;
  #header: Buffer;
  #file: Stats;
  #log: Stats | undefined;
  /** Also changes when SQLite undoes a write that failed. */
  #dataVersion: number;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#handle = openSync(watched.file, "r");
    this.#header = this.#readHeader();
    this.#file = statSync(watched.file);
    this.#log = statOf(watched.log);
    this.#dataVersion = watched.dataVersion();
    // A timer, because nothing else happens when somebody deletes a file. It does not keep the program running.
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Throws `FilesChanged` if anybody but this process has changed the files since `note`. */
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

  /** After this process has written. Throws `FilesChanged` if what it wrote is not in the files of these names. */
  note(): void {
    const { file, log } = this.#watched;
    const now = this.#same(file, this.#file);
    if (isWritten(this.#file, now)) this.#header = this.#readHeader();
    this.#file = now;
    this.#log = this.#log === undefined ? statOf(log) : this.#same(log, this.#log);
    this.#dataVersion = this.#watched.dataVersion();
  }

  /** Ends the looks. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** After SQLite has closed the file. */
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
