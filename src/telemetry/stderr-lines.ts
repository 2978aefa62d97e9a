/**
 * Writes lines to stderr without waiting for the reader of stderr, because a pipe that nobody reads would block the whole server at the next line.
 * Lines that the reader of stderr has not accepted yet stay in memory, up to a limit. Lines beyond this limit are dropped.
 */
import { write } from "node:fs";

const STDERR = 2;
/**
 * The maximum number of bytes that may wait to be written. The lines about the requests of several seconds on a busy server fit into one megabyte.
 */
const WAITING_BYTES_MAX = 1_048_576;
/** The maximum number of bytes in UTF-8 for one code unit of UTF-16. */
const UTF8_BYTES_MAX = 3;
/**
 * The interval at which waiting lines are written to stderr. The interval is short enough for a person who watches the log, and one system call
 * writes all lines of an interval.
 */
const WRITE_EVERY_MS = 50;
/** The time for which the ending program waits for a slow reader of stderr. */
const LAST_MS_MAX = 500;

/** Stores the waiting lines as bytes, because the garbage collector would copy strings that stay in memory for a whole interval. */
export class StderrLines {
  #waiting: Buffer | undefined;
  #size = 0;
  /** A spare buffer, which is currently neither filled nor written. */
  #spare: Buffer | undefined;
  #leftOut = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;

  /** Adds a line, which is written soon, after all earlier lines. The text `line` must end with a line break. */
  add(line: string): void {
    if (this.#size + UTF8_BYTES_MAX * line.length > WAITING_BYTES_MAX) {
      this.#leftOut++;
      return;
    }
    this.#waiting ??= Buffer.allocUnsafeSlow(WAITING_BYTES_MAX);
    this.#size += this.#waiting.write(line, this.#size);
    // timer: lines that are added within a short time are written together.
    this.#timer ??= setTimeout(() => this.#begin(), WRITE_EVERY_MS).unref();
  }

  /** Adds a line, and writes it as soon as the reader accepts it. */
  write(line: string): void {
    this.add(line);
    this.#begin();
  }

  /** Waits until all lines are written to stderr. The program calls this method at its end. */
  async flush(): Promise<void> {
    // timer: a reader that does not read must not delay the end of the program.
    const late = new Promise<void>((resolve) => setTimeout(resolve, LAST_MS_MAX).unref());
    this.#begin();
    await Promise.race([late, this.#writing]);
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting !== undefined && this.#size > 0) {
      const bytes = this.#waiting;
      const size = this.#size;
      this.#waiting = this.#spare;
      this.#spare = undefined;
      this.#size = 0;
      if (this.#leftOut > 0) this.add(this.#leftOutLine());
      await written(bytes.subarray(0, size));
      this.#spare = bytes;
    }
  }

  #leftOutLine(): string {
    // The time is from the machine's clock, as in every line of the log.
    const fields = {
      level: "warn",
      time: new Date().toISOString(),
      lines: this.#leftOut,
      msg: "lines of the log were dropped, because no program read them",
    };
    this.#leftOut = 0;
    return `${JSON.stringify(fields)}\n`;
  }
}

/** Writes the bytes. The promise also resolves if nobody reads stderr any more; in this case the lines are dropped. */
function written(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const from = (offset: number): void =>
      write(STDERR, bytes, offset, bytes.length - offset, null, (error, count) => {
        // timer: the pipe is full and does not block, so its reader gets time before the next attempt.
        if (error?.code === "EAGAIN") setTimeout(() => from(offset), WRITE_EVERY_MS);
        else if (error !== null || offset + count >= bytes.length) resolve();
        else from(offset + count);
      });
    from(0);
  });
}
