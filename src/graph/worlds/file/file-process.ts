/**
 * Reads YAML in a child process. A YAML parser cannot be interrupted, so the process that serves requests does not parse long YAML itself. The parent
 * process sends the text in pieces, and then requests one section of the file after the other.
 */
import { AskedChild, type AskedChildOptions, ChildDied, ChildIsSilent } from "#jobs/child-process";
import { WorldFileProblem, type WorldPart } from "./text.ts";

export type ToFileReader =
  | { readonly kind: "text"; readonly text: string }
  /** Requests the line of a path in the file. */
  | { readonly kind: "line"; readonly path: string }
  /** Requests the next part of the file. */
  | { readonly kind: "part" };

export type FromFileReader =
  | { readonly kind: "received" }
  | { readonly kind: "line"; readonly line: number | undefined }
  | { readonly kind: "part"; readonly part: WorldPart }
  | { readonly kind: "end" }
  | { readonly kind: "problem"; readonly problem: string; readonly path: string; readonly line: number | undefined };

/**
 * The longest time that the parent waits for one answer of the child process. For comparison, the runtime's parser takes half a minute for a world
 * file of 256 MB.
 */
const TURN_MS_MAX = 120_000;
/** The greatest number of characters of a message between the processes. Sending and receiving a message of this length takes a millisecond. */
const PIECE_CHARACTERS = 262_144;

/**
 * Reads the lists of a world file in pieces. Throws `WorldFileProblem` if the file is wrong, if the child process ends unexpectedly, or if it takes
 * too long.
 */
export async function* partsInChild(text: string, options?: Partial<AskedChildOptions>): AsyncGenerator<WorldPart> {
  using reader = await FileReader.begin(text, options);
  for (;;) {
    const answer = await reader.ask({ kind: "part" });
    if (answer.kind !== "part") return;
    yield answer.part;
  }
}

/** The line of the file that has the value at a path. The line is undefined if the path does not exist. */
export async function lineInChild(text: string, path: string): Promise<number | undefined> {
  using reader = await FileReader.begin(text);
  const answer = await reader.ask({ kind: "line", path });
  return answer.kind === "line" ? answer.line : undefined;
}

class FileReader implements Disposable {
  readonly #child: AskedChild<ToFileReader, FromFileReader>;

  private constructor(options: Partial<AskedChildOptions>) {
    this.#child = new AskedChild("read-world-file", { turnMsMax: TURN_MS_MAX, ...options });
  }

  static async begin(text: string, options: Partial<AskedChildOptions> = {}): Promise<FileReader> {
    const reader = new FileReader(options);
    try {
      for (let at = 0; at < text.length; at += PIECE_CHARACTERS) await reader.ask({ kind: "text", text: text.slice(at, at + PIECE_CHARACTERS) });
    } catch (error) {
      reader[Symbol.dispose]();
      throw error;
    }
    return reader;
  }

  async ask(message: ToFileReader): Promise<FromFileReader> {
    const answer = await this.#child.ask(message).catch((error: unknown) => {
      if (error instanceof ChildIsSilent) throw new WorldFileProblem("takes too long to read: split the file", "", undefined);
      if (error instanceof ChildDied) throw new WorldFileProblem(`cannot be read, because ${error.message}: split the file`, "", undefined);
      throw error;
    });
    if (answer.kind === "problem") throw new WorldFileProblem(answer.problem, answer.path, answer.line);
    return answer;
  }

  [Symbol.dispose](): void {
    this.#child.stop();
  }
}
