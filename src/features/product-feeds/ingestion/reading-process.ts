/**
 * Starts the process that reads a feed file (D-314). A file that a stranger sent may take any time and memory, so the process that serves requests
 * does not read the file itself. Parent and child take turns: the child asks for a part of the file, or hands over a piece of items.
 */
import type { ChildProcess } from "node:child_process";
import { startChild } from "#jobs/child-process";
import type { Bytes } from "../formats/bytes.ts";
import { FeedFileProblem, type FeedFormat } from "../formats/rows.ts";
import type { Piece } from "./feed-reading.ts";

export type ToReader =
  | { readonly kind: "begin"; readonly format: FeedFormat | undefined }
  /** The next part of the file; `bytes` is undefined at the end of the file. */
  | { readonly kind: "part"; readonly bytes: Uint8Array | undefined }
  | { readonly kind: "next" };

export type FromReader = { readonly kind: "part" } | { readonly kind: "piece"; readonly piece: Piece } | { readonly kind: "end" };

/** The error for a reading process that ended by itself. Another attempt may succeed. */
export class ReaderDied extends Error {}

/** The longest turn of the child. Most turns take milliseconds. A part that unpacks to millions of bad rows takes 3 s (measured). */
const TURN_MS_MAX = 30_000;

interface ReaderOptions {
  readonly turnMsMax?: number;
  readonly program?: string;
}

/** Reads a file in a child process. Throws `ReaderDied` if the child ends by itself, and `FeedFileProblem` if the file takes too long. */
export async function* readInChild(file: Bytes, format: FeedFormat | undefined, options: ReaderOptions = {}): AsyncGenerator<Piece> {
  const reader = new ReaderProcess(options);
  const parts = file[Symbol.asyncIterator]();
  try {
    for (let message: ToReader = { kind: "begin", format }; ; ) {
      const answer = await reader.ask(message);
      if (answer.kind === "end") return;
      if (answer.kind === "piece") yield answer.piece;
      message = answer.kind === "piece" ? { kind: "next" } : { kind: "part", bytes: (await parts.next()).value };
    }
  } finally {
    reader.stop();
    await parts.return?.();
  }
}

class ReaderProcess {
  readonly #child: ChildProcess;
  readonly #turnMsMax: number;
  readonly #answers: FromReader[] = [];
  #died: ReaderDied | undefined;
  /** Wakes the code that waits for an answer of the child, or for the end of the child. */
  #wake = (): void => {};

  constructor({ turnMsMax = TURN_MS_MAX, program }: ReaderOptions) {
    this.#turnMsMax = turnMsMax;
    this.#child = startChild("read-feed", program);
    this.#child.on("message", (message: FromReader) => {
      this.#answers.push(message);
      this.#wake();
    });
    this.#child.on("error", (error) => this.#end(error.message));
    this.#child.on("exit", (code, signal) => this.#end(signal ?? `exit code ${code}`));
  }

  async ask(message: ToReader): Promise<FromReader> {
    // A child that has just ended receives nothing; the code below notices its end.
    if (this.#child.connected) this.#child.send(message, () => {});
    const waited = Promise.withResolvers<void>();
    this.#wake = () => waited.resolve();
    if (this.#answers.length > 0 || this.#died !== undefined) waited.resolve();
    // timer: the child process takes real time, so its turn is limited by the machine's clock and not by the world's.
    const timer = setTimeout(() => waited.resolve(), this.#turnMsMax);
    await waited.promise;
    clearTimeout(timer);
    const answer = this.#answers.shift();
    if (answer !== undefined) return answer;
    throw this.#died ?? new FeedFileProblem(`reading the file takes too long: it made no progress for ${this.#turnMsMax / 1_000} s`);
  }

  stop(): void {
    this.#child.kill("SIGKILL");
  }

  #end(ending: string): void {
    this.#died ??= new ReaderDied(`the process that read a feed file ended with ${ending}`);
    this.#wake();
  }
}
