/** Writes a recording as HAR 1.2, the format in which browsers and proxies store requests and responses. */
import { closeSync, openSync, writeSync } from "node:fs";

interface Pair {
  readonly name: string;
  readonly value: string;
}

/** The query parameter, header or body field from which a secret was removed. */
export interface SecretPlace {
  readonly in: "query" | "header" | "body";
  readonly name: string;
  /** The name of the secret in the recording, such as `secret-1`. Two recorded secrets with the same name have the same value. */
  readonly secret: string;
}

/**
 * The body of a request. `_encoding` is Plaza's own field for a body that is not text, because HAR 1.2 has no field for
 * the encoding of a request body.
 */
interface PostData {
  readonly mimeType: string;
  readonly text: string;
  readonly _encoding?: "base64";
}

export interface HarEntry {
  readonly startedDateTime: string;
  readonly time: number;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly Pair[];
    readonly postData?: PostData;
  };
  readonly response: {
    readonly status: number;
    readonly headers: readonly Pair[];
    readonly content: { readonly text?: string; readonly encoding?: string };
  };
  readonly _secrets?: readonly SecretPlace[];
}

const END = "\n]}}\n";

/** Writes a HAR file that is valid after each entry, so that the file can be read even if the program is killed. */
export class HarFile {
  readonly #file: number;
  #size = 0;
  #count = 0;

  constructor(path: string, creator: string, upstream: string) {
    // Only the owner may read the file of the recording: it contains no secrets, but it contains people's data.
    this.#file = openSync(path, "w", 0o600);
    const head = { version: "1.2", creator: { name: "plaza record", version: creator }, _upstream: upstream };
    this.#write(`{"log":{${JSON.stringify(head).slice(1, -1)},"entries":[`);
  }

  add(entry: HarEntry): void {
    this.#write(`${this.#count === 0 ? "" : ","}\n${JSON.stringify(entry)}`);
    this.#count++;
  }

  get size(): number {
    return this.#size;
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(text: string): void {
    const bytes = Buffer.from(text);
    writeSync(this.#file, Buffer.concat([bytes, Buffer.from(END)]), 0, bytes.length + END.length, this.#size);
    this.#size += bytes.length;
  }
}
