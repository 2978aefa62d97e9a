/**
 * Starts the process that reads a feed file (D-314). Reading a file from a stranger may take any amount of time and memory, so the process that
 * serves requests does not read the file itself. Parent and child send messages in turn: the child asks for a part of the file, or returns a piece of
 * items.
 */
import { AskedChild, type AskedChildOptions, ChildIsSilent } from "#jobs/child-process";
import type { Bytes } from "../formats/bytes.ts";
import { FeedFileProblem, type FeedFormat } from "../formats/rows.ts";
import type { Piece } from "./feed-reading.ts";

export type ToReader =
  | { readonly kind: "begin"; readonly format: FeedFormat | undefined }
  /** The next part of the file; `bytes` is undefined at the end of the file. */
  | { readonly kind: "part"; readonly bytes: Uint8Array | undefined }
  | { readonly kind: "next" };

export type FromReader = { readonly kind: "part" } | { readonly kind: "piece"; readonly piece: Piece } | { readonly kind: "end" };

/**
 * The longest time for which the child may work on one message. The child handles most messages in milliseconds. A part of a file that unpacks to
 * millions of bad rows takes 3 s (measured).
 */
const TURN_MS_MAX = 30_000;

/** Reads a file in a child process. Throws `ChildDied` if the child ends by itself, and `FeedFileProblem` if the file takes too long. */
export async function* readInChild(file: Bytes, format: FeedFormat | undefined, options: Partial<AskedChildOptions> = {}): AsyncGenerator<Piece> {
  const turnMsMax = options.turnMsMax ?? TURN_MS_MAX;
  const reader = new AskedChild<ToReader, FromReader>("read-feed", { ...options, turnMsMax });
  const parts = file[Symbol.asyncIterator]();
  try {
    for (let message: ToReader = { kind: "begin", format }; ; ) {
      const answer = await reader.ask(message);
      if (answer.kind === "end") return;
      if (answer.kind === "piece") yield answer.piece;
      message = answer.kind === "piece" ? { kind: "next" } : { kind: "part", bytes: (await parts.next()).value };
    }
  } catch (error) {
    if (!(error instanceof ChildIsSilent)) throw error;
    throw new FeedFileProblem(`reading the file takes too long: it made no progress for ${turnMsMax / 1_000} s`);
  } finally {
    reader.stop();
    await parts.return?.();
  }
}
