/**
 * The last requests of a world, for the control API, in a fixed amount of memory.
 *
 * **Invariant:** an entry is stored without the values of secrets, and with a limit on each of its texts.
 */
import { redact, redactJson } from "#kernel/redaction/redaction";

/** Explains a response for people: steps, tokens, version, policy, parameters, and webhooks. */
export interface RequestStory {
  /** The times of the steps, in order. A refused request ends with the step that refused it. */
  readonly steps: readonly { readonly name: StoryStep; readonly duration_ms: number }[];
  readonly credentials: readonly StoryCredential[];
  readonly node?: { readonly id: string; readonly type: string };
  readonly version: {
    /** As in the path. Left out: the path has none. */
    readonly asked?: string;
    readonly served?: string;
    readonly upgraded_from?: string;
  };
  /** The policy, and what it requires. */
  readonly policy?: { readonly name: string; readonly summary: string; readonly kinds: readonly string[]; readonly scopes: readonly string[] };
  /** The node exists, but the caller may not know that. */
  readonly is_concealed?: true;
  /** JSON of the parameters as they were read, its first 4,096 characters, without the values of secrets. */
  readonly parameters?: string;
  /** The error's name in the catalogue. */
  readonly error?: string;
  /** JSON of the fault that affected it (D-150). */
  readonly fault?: string;
  /** The webhooks that its write stored. */
  readonly deliveries: readonly string[];
}

/**
 * `understand`: from the address to the endpoint. `check`: from the visibility to the parameters, and requests to other servers before a write.
 * `respond`: fields, and changes back to the version.
 */
export type StoryStep = "understand" | "check" | "handle" | "respond";

export interface StoryCredential {
  readonly place: string;
  readonly type?: string;
  /** The token's id. Left out: the token is not stored. */
  readonly token?: string;
  readonly app?: string;
  /** The reason why it does not count. */
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
  /** World time, Unix ms. */
  readonly time: number;
  readonly duration_ms: number;
  readonly app: string | undefined;
  readonly request_body: string;
  readonly response_body: string;
  /** For requests that somebody watches. */
  readonly story?: RequestStory | undefined;
}

/** Fewer if bodies are long, because `BYTES_MAX` limits them together. */
const ENTRIES_MAX = 1_000;
const BYTES_MAX = 8 * 1024 * 1024;
export const TEXT_CHARACTERS_MAX = 4_096;
/** The parameters have the limit of a text, and the rest is a few hundred characters. */
const STORY_CHARACTERS_MAX = 16_384;

const TEXTS = 10;
const NUMBERS = 3;
/** The limit of all entries of an idle world: 32 kB. */
const IDLE_CHARACTERS_MAX = 16_384;
const NOTHING = new Uint32Array();
const NO_NUMBERS = new Float64Array();
/** Of one UTF-16 code unit. */
const UTF8_BYTES_MAX = 3;

/** A ring of bytes. Objects that live for a thousand requests would outlive the collector's young generation, and each collection would copy them. */
export class RequestLog {
  /** The texts of each entry, one after the other; a new entry overwrites the oldest ones. */
  #bytes: Buffer | undefined;
  #end = 0;
  // Allocated with the bytes for the first entry, because an idle world keeps its log.
  #starts = NOTHING;
  #sizes = NOTHING;
  /** In characters. */
  #lengths = NOTHING;
  #numbers = NO_NUMBERS;
  /** Entries are counted from the first one on. Those from `#oldest` to before `#next` are stored. */
  #oldest = 0;
  #next = 0;
  /** Earlier entries: from before the world was last idle, or cleared while it was. */
  #earlier = 0;
  /** The entries of an idle world, oldest first. */
  #kept: RequestEntry[] = [];
  #waiting: (() => void)[] = [];
  #watchers = 0;

  /** Somebody watches requests as they come, so each has a story. */
  get isWatched(): boolean {
    return this.#watchers > 0;
  }

  /** Returns a function that ends it. */
  watch(): () => void {
    this.#watchers++;
    let isOver = false;
    return () => {
      if (!isOver) this.#watchers--;
      isOver = true;
    };
  }

  /**
   * The response body is JSON of this program. All other text is as the client sent it. `query` is the result of `shownQuery`, if the caller has it
   * already.
   */
  add(entry: RequestEntry, query = shownQuery(entry.query)): void {
    const { path, request_body, response_body } = entry;
    const requestBody = request_body === "" ? "" : excerpt(request_body, redact);
    this.#append(entry, excerpt(path, redact), query, requestBody, excerpt(response_body, redactJson));
  }

  /** An entry of another process's log. */
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

  /** For an idle world: keeps the newest entries, up to a limit, and frees the other memory. */
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

  /** How many entries there have been in this process. It never decreases. */
  get count(): number {
    return this.#earlier + this.#kept.length + this.#next;
  }

  /** Newest first. */
  entries(): RequestEntry[] {
    return this.from(0).reverse();
  }

  /** Oldest first, without the first `known` ones of this process. */
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
    // They still count for callers of `from`.
    this.#earlier += this.#kept.length;
    this.#kept = [];
    this.#oldest = this.#next;
  }

  /** Resolves at the next request. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** Without parameters if it would be too long. */
function storyText(story: RequestStory): string {
  const text = JSON.stringify(story);
  return text.length > STORY_CHARACTERS_MAX ? JSON.stringify({ ...story, parameters: undefined, deliveries: [] }) : text;
}

/** The numbers and the object of an entry take as much memory as a short text. */
const ENTRY_CHARACTERS = 200;

const sizeOf = ({ trace_id, path, query, request_body, response_body }: RequestEntry): number =>
  ENTRY_CHARACTERS + trace_id.length + path.length + query.length + request_body.length + response_body.length;

/** A query as the log shows it. */
export const shownQuery = (text: string): string => excerpt(text, redact);

/** Cut before it is redacted, so that a long body costs no more than a short one. Redaction may make it longer again. */
function excerpt(text: string, redacted: (text: string) => string): string {
  const shown = redacted(text.length > TEXT_CHARACTERS_MAX ? text.slice(0, TEXT_CHARACTERS_MAX) : text);
  return text.length > TEXT_CHARACTERS_MAX || shown.length > TEXT_CHARACTERS_MAX ? `${shown.slice(0, TEXT_CHARACTERS_MAX)}…` : shown;
}
