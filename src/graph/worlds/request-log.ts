/**
 * The log of the last requests of a world, for the control API, in a fixed amount of memory.
 *
 * **Invariant:** an entry is stored without the values of secrets, and with a limit on each of its texts.
 */
import { redact, redactJson } from "#kernel/redaction/redaction";

/** The story of a request, which explains its response to people: steps, tokens, version, policy, parameters, and webhooks. */
export interface RequestStory {
  /**
   * The steps of the pipeline that the request took, in order, with their durations. The story of a refused request ends with the step that refused
   * it; if nobody watched, it has only this step, with the duration 0.
   */
  readonly steps: readonly { readonly name: StoryStep; readonly duration_ms: number }[];
  readonly credentials: readonly StoryCredential[];
  readonly node?: { readonly id: string; readonly type: string };
  readonly version: {
    /** The version in the path. Left out if the path has no version. */
    readonly asked?: string;
    readonly served?: string;
    readonly upgraded_from?: string;
  };
  /** The policy of the operation, with its requirements. */
  readonly policy?: { readonly name: string; readonly summary: string; readonly kinds: readonly string[]; readonly scopes: readonly string[] };
  /** Set if the node exists, but the caller may not know that. */
  readonly is_concealed?: true;
  /** The parameters as they were read, as JSON without the values of secrets. Only the first 4,096 characters. */
  readonly parameters?: string;
  /** The error's name in the catalogue. */
  readonly error?: string;
  /** The fault that affected the request (D-150), as JSON. */
  readonly fault?: string;
  /** The ids of the webhooks that the write of the request stored. */
  readonly deliveries: readonly string[];
}

/**
 * A step of a story. `understand`: from the address to the endpoint. `check`: from the visibility of the node to the parameters, and requests to
 * other servers before a write. `respond`: the fields of the response, and the changes back to the version.
 */
export type StoryStep = "understand" | "check" | "handle" | "respond";

export interface StoryCredential {
  readonly place: string;
  readonly type?: string;
  /** The id of the token. Left out if the token is not stored. */
  readonly token?: string;
  readonly app?: string;
  /** The reason why the token does not count. */
  readonly refusal?: string;
}

export interface RequestEntry {
  readonly trace_id: string;
  readonly operation: string;
  readonly method: string;
  readonly surface: string;
  readonly path: string;
  readonly query: string;
  readonly status: number;
  /** World time in Unix ms. */
  readonly time: number;
  readonly duration_ms: number;
  readonly app: string | undefined;
  readonly request_body: string;
  readonly response_body: string;
  /** The explanation of the response, only for requests that somebody watches. */
  readonly story?: RequestStory | undefined;
}

/** The most entries of a log. A log has fewer entries if bodies are long, because `BYTES_MAX` limits all of them together. */
const ENTRIES_MAX = 1_000;
const BYTES_MAX = 8 * 1024 * 1024;
export const TEXT_CHARACTERS_MAX = 4_096;
/** The most characters of a story: its parameters have the limit of a text, and the rest is a few hundred characters. */
const STORY_CHARACTERS_MAX = 16_384;

const TEXTS = 10;
const NUMBERS = 3;
/** The most characters of all entries of an idle world, which take 32 kB. */
const IDLE_CHARACTERS_MAX = 16_384;
const NOTHING = new Uint32Array();
const NO_NUMBERS = new Float64Array();
/** The most bytes of one UTF-16 code unit in UTF-8. */
const UTF8_BYTES_MAX = 3;

/**
 * The log is a ring of bytes. Objects that live for a thousand requests would outlive the collector's young generation, and each collection would
 * copy them.
 */
export class RequestLog {
  /** The texts of the entries, one entry after the other. A new entry overwrites the oldest entries. */
  #bytes: Buffer | undefined;
  #end = 0;
  // These arrays are allocated together with the bytes for the first entry, because an idle world keeps its log.
  #starts = NOTHING;
  #sizes = NOTHING;
  /** The length of each text in characters. */
  #lengths = NOTHING;
  #numbers = NO_NUMBERS;
  /** The number of the oldest stored entry. Entries are numbered from the first one on, and those from `#oldest` to before `#next` are stored. */
  #oldest = 0;
  #next = 0;
  /** The number of entries from before the world was last idle, and of entries that were cleared while it was idle. */
  #earlier = 0;
  /** The entries of an idle world, oldest first. */
  #kept: RequestEntry[] = [];
  #waiting: (() => void)[] = [];
  #watchers = 0;

  /** Whether somebody watches requests as they come. If so, each request gets a story. */
  get isWatched(): boolean {
    return this.#watchers > 0;
  }

  /** Begins to watch requests. Returns a function that ends the watching. */
  watch(): () => void {
    this.#watchers++;
    let isOver = false;
    return () => {
      if (!isOver) this.#watchers--;
      isOver = true;
    };
  }

  /**
   * Adds an entry without its secrets. The response body must be JSON of this program; all other text is as the client sent it. `query` is the result
   * of `shownQuery`, if the caller has that result already.
   */
  add(entry: RequestEntry, query = shownQuery(entry.query)): void {
    const { path, request_body, response_body } = entry;
    const requestBody = request_body === "" ? "" : excerpt(request_body, redact);
    this.#append(entry, excerpt(path, redact), query, requestBody, excerpt(response_body, redactJson));
  }

  /** Adds an entry from the log of another process, which has no secrets any more. */
  adopt(entry: RequestEntry): void {
    this.#append(entry, entry.path, entry.query, entry.request_body, entry.response_body);
  }

  #append(entry: RequestEntry, path: string, query: string, requestBody: string, responseBody: string): void {
    const { trace_id, operation, method, surface, app, story } = entry;
    const storyOrNone = story === undefined ? "" : storyText(story);
    const texts = [trace_id, operation, method, surface, path, query, app ?? "", requestBody, responseBody, storyOrNone];
    const bytes = this.#bytes ?? this.#allocate();
    const slot = this.#next % ENTRIES_MAX;
    let text = "";
    for (let at = 0; at < TEXTS; at++) {
      text += texts[at];
      this.#lengths[slot * TEXTS + at] = (texts[at] as string).length;
    }
    this.#oldest = Math.max(this.#oldest, this.#next + 1 - ENTRIES_MAX);
    this.#makeSpace(UTF8_BYTES_MAX * text.length);
    const size = bytes.write(text, this.#end);
    this.#starts[slot] = this.#end;
    this.#sizes[slot] = size;
    this.#numbers[slot * NUMBERS] = entry.status;
    this.#numbers[slot * NUMBERS + 1] = entry.time;
    this.#numbers[slot * NUMBERS + 2] = entry.duration_ms;
    this.#end += size;
    this.#next++;
    if (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const wake of waiting) wake();
    }
  }

  #allocate(): Buffer {
    this.#starts = new Uint32Array(ENTRIES_MAX);
    this.#sizes = new Uint32Array(ENTRIES_MAX);
    this.#lengths = new Uint32Array(ENTRIES_MAX * TEXTS);
    this.#numbers = new Float64Array(ENTRIES_MAX * NUMBERS);
    this.#bytes = Buffer.allocUnsafeSlow(BYTES_MAX);
    for (const entry of this.#kept.splice(0)) this.adopt(entry);
    return this.#bytes;
  }

  /** Keeps only the newest entries, up to a limit, and frees the other memory; for a world that becomes idle. */
  shrink(): void {
    if (this.#bytes === undefined) return;
    let characters = 0;
    const newest = this.entries().filter((entry) => {
      characters += sizeOf(entry);
      return characters <= IDLE_CHARACTERS_MAX;
    });
    this.#earlier = this.count - newest.length;
    this.#bytes = undefined;
    this.#starts = this.#sizes = this.#lengths = NOTHING;
    this.#numbers = NO_NUMBERS;
    this.#end = this.#oldest = this.#next = 0;
    this.#kept = newest.reverse();
  }

  /** Frees bytes from `#end` on. The entries that begin there are the oldest. */
  #makeSpace(size: number): void {
    if (this.#end + size > BYTES_MAX) {
      this.#forgetUpTo(BYTES_MAX);
      this.#end = 0;
    }
    this.#forgetUpTo(this.#end + size);
  }

  #forgetUpTo(end: number): void {
    const startOf = (entry: number): number => this.#starts[entry % ENTRIES_MAX] as number;
    while (this.#oldest < this.#next && startOf(this.#oldest) >= this.#end && startOf(this.#oldest) < end) this.#oldest++;
  }

  /** How many entries this process has added. The number of added entries never decreases. */
  get count(): number {
    return this.#earlier + this.#kept.length + this.#next;
  }

  /** All entries, the newest first. */
  entries(): RequestEntry[] {
    return this.from(0).reverse();
  }

  find(traceId: string): RequestEntry | undefined {
    return this.entries().find(({ trace_id }) => trace_id === traceId);
  }

  /** The entries that this process has added after its first `known` entries, the oldest first. */
  from(known: number): RequestEntry[] {
    const from = Math.max(0, known - this.#earlier);
    const found = this.#kept.slice(from);
    for (let at = Math.max(this.#oldest, from); at < this.#next; at++) found.push(this.#read(at % ENTRIES_MAX));
    return found;
  }

  #read(slot: number): RequestEntry {
    const start = this.#starts[slot] as number;
    const text = this.#bytes?.toString("utf8", start, start + (this.#sizes[slot] as number)) ?? "";
    let end = 0;
    let nth = slot * TEXTS;
    const next = (): string => {
      const start = end;
      end += this.#lengths[nth++] as number;
      return text.slice(start, end);
    };
    const [status, time, duration_ms] = this.#numbers.subarray(slot * NUMBERS) as unknown as [number, number, number];
    const texts = { trace_id: next(), operation: next(), method: next(), surface: next(), path: next(), query: next() };
    const entry = { ...texts, app: next() || undefined, request_body: next(), response_body: next(), status, time, duration_ms };
    const story = next();
    return story === "" ? entry : { ...entry, story: JSON.parse(story) as RequestStory };
  }

  /** Forgets all entries. */
  clear(): void {
    this.#bytes?.fill(0);
    // For callers of `from` the forgotten entries still count.
    this.#earlier += this.#kept.length;
    this.#kept = [];
    this.#oldest = this.#next;
  }

  /** Resolves when the next entry is added. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** The story as JSON. The parameters and webhooks are left out if the text would be too long. */
function storyText(story: RequestStory): string {
  const text = JSON.stringify(story);
  return text.length > STORY_CHARACTERS_MAX ? JSON.stringify({ ...story, parameters: undefined, deliveries: [] }) : text;
}

/** The numbers and the object of an entry take as much memory as a short text. */
const ENTRY_CHARACTERS = 200;

const sizeOf = ({ trace_id, path, query, request_body, response_body }: RequestEntry): number =>
  ENTRY_CHARACTERS + trace_id.length + path.length + query.length + request_body.length + response_body.length;

/** A query as the log shows it, without secrets. */
export const shownQuery = (text: string): string => excerpt(text, redact);

/**
 * A part of a text without secrets. The text is cut before it is redacted, so that a long body costs no more than a short one. Redaction may make the
 * text longer, so the redacted text is cut as well.
 */
function excerpt(text: string, redacted: (text: string) => string): string {
  const shown = redacted(text.length > TEXT_CHARACTERS_MAX ? text.slice(0, TEXT_CHARACTERS_MAX) : text);
  return text.length > TEXT_CHARACTERS_MAX || shown.length > TEXT_CHARACTERS_MAX ? `${shown.slice(0, TEXT_CHARACTERS_MAX)}…` : shown;
}
