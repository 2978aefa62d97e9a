/**
 * Writes lines to stderr without waiting for its reader: a pipe that nobody reads would block the whole server at its next line. Lines that the reader has
 * not taken wait here, up to a limit. Further lines are left out.
 */
import { write } from "node:fs";

const STDERR = 2;
/** The request lines of several seconds on a busy server. */
const WAITING_BYTES_MAX = 1_048_576;
/** The most bytes of one UTF-16 code unit. */
const UTF8_BYTES_MAX = 3;
/** Often enough for a person who watches. One system call writes all lines of this time. */
const WRITE_EVERY_MS = 50;
/** At the end, a slow reader gets this much time. */
const LAST_MS_MAX = 500;

/** Lines wait as bytes, because the garbage collector would copy texts that live so long. */
export class StderrLines {
  #waiting: Buffer | undefined;
  #size = 0;
  /** The buffer that is neither filled nor written at the moment. */
  #spare: Buffer | undefined;
  #leftOut = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;

  /** `line` ends with a line break. It is written soon, in order with all others. */
  add(line: string): void {
    if (this.#size + UTF8_BYTES_MAX * line.length > WAITING_BYTES_MAX) {
      this.#leftOut++;
      return;
    }
    this.#waiting ??= Buffer.allocUnsafeSlow(WAITING_BYTES_MAX);
    this.#size += this.#waiting.write(line, this.#size);
    // timer: lines that come close together are written together.
    this.#timer ??= setTimeout(() => this.#begin(), WRITE_EVERY_MS).unref();
  }

  /** Writes at once, as soon as the reader takes it. */
  write(line: string): void {
    this.add(line);
    this.#begin();
  }

  /** For the end of the program. */
  async flush(): Promise<void> {
    // timer: a reader that does not read must not delay the end.
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
    // The machine's clock, as in every line of the log.
    const fields = {
      level: "warn",
      time: new Date().toISOString(),
      lines: this.#leftOut,
      msg: "lines of the log were left out, because nobody read them",
    };
    this.#leftOut = 0;
    return `${JSON.stringify(fields)}\n`;
  }
}

/** Resolves also when nobody reads any more; then the lines are dropped. */
function written(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const from = (offset: number): void =>
      write(STDERR, bytes, offset, bytes.length - offset, null, (error, count) => {
        // timer: a non-blocking pipe is full, and its reader gets time.
        if (error?.code === "EAGAIN") setTimeout(() => from(offset), WRITE_EVERY_MS);
        else if (error !== null || offset + count >= bytes.length) resolve();
        else from(offset + count);
      });
    from(0);
  });
}
