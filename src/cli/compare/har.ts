/** HAR 1.2, the format in which browsers and proxies keep requests and responses; a recording of `plaza record` is such a file. */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

interface Pair {
  readonly name: string;
  readonly value: string;
}

/** Where a secret stood that was taken out, and which one of the recording it was. */
export interface SecretPlace {
  readonly in: "query" | "header" | "body";
  readonly name: string;
  /** `secret-1` and so on: the same name is the same value. */
  readonly secret: string;
}

/** Programs that have taken a form apart write `params` in place of its text. */
export interface PostData {
  readonly mimeType: string;
  readonly text?: string;
  readonly params?: readonly { readonly name: string; readonly value?: string }[];
  /** Of a body that is no text; HAR has no word for it. */
  readonly _encoding?: "base64";
}

/** As it was sent. */
export const bytesOfPost = ({ text, params = [], _encoding }: PostData): Buffer =>
  Buffer.from(text ?? String(new URLSearchParams(params.map(({ name, value = "" }): [string, string] => [name, value]))), _encoding ?? "utf8");

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

export interface Har {
  readonly entries: readonly HarEntry[];
  /** The address of the server that was asked. */
  readonly base: string;
}

/** `base` says which server's requests are meant; else that of `plaza record`, or of the first entry. Throws with a message for the user. */
export function readHar(path: string, base?: string): Har {
  const problem = (what: string) => new Error(`${path} ${what}`);
  let content: { log?: { entries?: HarEntry[]; _upstream?: string } };
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw problem(`cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  const { entries, _upstream: upstream } = content.log ?? {};
  const [first] = Array.isArray(entries) ? entries : [];
  if (entries === undefined || first === undefined) throw problem("is no HAR file with a request in it");
  const wrong = entries.findIndex(
    ({ request, response }) => typeof request?.method !== "string" || !URL.canParse(request.url) || response === undefined,
  );
  if (wrong !== -1) throw problem(`has an entry without request, address or response: log.entries[${wrong}]`);
  const own = base ?? upstream ?? new URL(first.request.url).origin;
  if (!entries.some(({ request }) => isBelow(request.url, own))) {
    const origins = new Set(entries.map(({ request }) => new URL(request.url).origin));
    throw problem(`has no request to ${own}, but to ${[...origins].join(", ")}`);
  }
  return { entries, base: own };
}

/** `http://localhost:40001` is not below `http://localhost:4000`, nor its slash at the end. */
export function isBelow(url: string, base: string): boolean {
  const address = base.replace(/\/$/, "");
  return url.startsWith(address) && /^([/?]|$)/.test(url.slice(address.length));
}

/** One place of each secret that was taken out of the recording and is not among the given ones. */
export function missingSecrets({ entries }: Har, given: ReadonlyMap<string, string>): SecretPlace[] {
  const found = new Map<string, SecretPlace>();
  for (const place of entries.flatMap(({ _secrets = [] }) => _secrets)) if (!found.has(place.secret)) found.set(place.secret, place);
  return [...found.values()].filter(({ secret }) => !given.has(secret));
}

const END = "\n]}}\n";

/** A HAR file that is written entry by entry, and complete after each: a program that is killed leaves a file that can be read. */
export class HarFile {
  readonly #file: number;
  #size = 0;
  #count = 0;

  constructor(path: string, creator: string, upstream: string) {
    // It holds people's data, though no secrets.
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
