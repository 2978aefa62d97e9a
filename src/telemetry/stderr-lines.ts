/**
 * Writes lines to stderr without waiting for its reader: a pipe that nobody reads would block the whole server at its next line.
 * What the reader has not taken waits here, up to a limit, and is left out beyond it.
 */
import { write } from "node:fs";

const STDERR = 2;
/** Several seconds of a busy server's request lines. */
const WAITING_BYTES_MAX = 1_048_576;
/** Of one UTF-16 code unit. */
const UTF8_BYTES_MAX = 3;
/** Frequent enough for a person who watches; one system call serves all lines of this time. */
const WRITE_EVERY_MS = 50;
/** A reader that does not read by then is not waited for at the end. */
const LAST_MS_MAX = 500;

/** Lines wait as bytes: the collector would copy texts that live as long. */
export class StderrLines {
  #waiting: Buffer | undefined;
  #size = 0;
  /** Of the two buffers, the one that is neither filled nor written. */
  #spare: Buffer | undefined;
  #leftOut = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;

  /** `line` ends with its line break. Written soon, in order with all others. */
  add(line: string): void {
    if (this.#size + UTF8_BYTES_MAX * line.length > WAITING_BYTES_MAX) {
      this.#leftOut++;
      return;
    }
    this.#waiting ??= Buffer.allocUnsafeSlow(WAITING_BYTES_MAX);
    this.#size += this.#waiting.write(line, this.#size);
    // timer: lines of a moment are written together.
    this.#timer ??= setTimeout(() => this.#begin(), WRITE_EVERY_MS).unref();
  }

  /** Written now, as soon as the reader takes it. */
  write(line: string): void {
    this.add(line);
    this.#begin();
  }

  /** Before the program ends. */
  async flush(): Promise<void> {
    // timer: a reader that does not read must not hold up the end.
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
      msg: "lines of the log were left out, because nobody read it",
    };
    this.#leftOut = 0;
    return `${JSON.stringify(fields)}\n`;
  }
}

/** Resolves also when nobody reads any more: nothing is kept for nobody. */
function written(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const from = (offset: number): void =>
      write(STDERR, bytes, offset, bytes.length - offset, null, (error, count) => {
        // timer: a pipe that does not block says that it is full; its reader is given time.
        if (error?.code === "EAGAIN") setTimeout(() => from(offset), WRITE_EVERY_MS);
        else if (error !== null || offset + count >= bytes.length) resolve();
        else from(offset + count);
      });
    from(0);
  });
}
