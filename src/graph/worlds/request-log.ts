/**
 * The log of a world's latest requests, for the control API. The request log uses a fixed amount of memory.
 *
 * **Invariant:** an entry of the request log does not contain the values of secrets, and each of its texts has a limited length.
 */
import { redact, redactJson } from "#kernel/redaction/redaction";
import { LogMemory } from "./log-memory.ts";

export interface RequestEntry {
  readonly trace_id: string;
  readonly operation: string;
  /** The operations of the requests of a batch or of `ids=` (D-375), in the order in which they ran. */
  readonly parts?: readonly string[] | undefined;
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
  /** The explanation of the response, as `pipeline/story/story-text.ts` writes it, without the values of secrets. */
  readonly story?: string | undefined;
}

/**
 * The greatest number of entries in a request log. A log has fewer entries if the bodies of requests and responses are long. A log also has fewer
 * entries if many worlds are open, because their logs divide the memory (`LogMemory`).
 */
const ENTRIES_MAX = 1_000;
/**
 * The least amount of memory that a log needs for one entry. An entry needs some memory besides its texts, so a log with little memory can have only
 * few entries.
 */
const ENTRY_BYTES_MIN = 1_024;
const TEXT_CHARACTERS_MAX = 4_096;
const TIMED_EVERY_MS = 10;

const TEXTS = 11;
const NUMBERS = 3;
/** The greatest number of characters of all entries of an idle world, which take 32 kB. */
const IDLE_CHARACTERS_MAX = 16_384;
const NOTHING = new Uint32Array();
const NO_NUMBERS = new Float64Array();
/** The greatest number of bytes that UTF-8 needs for one UTF-16 code unit. */
const UTF8_BYTES_MAX = 3;

/**
 * The request log is a ring buffer of bytes. If the log stored entries as objects, they would outlive the garbage collector's young generation, and
 * each collection would copy them.
 */
export class RequestLog {
  /** The texts of the log's entries, one entry after the other. A new entry of the log overwrites the oldest entries. */
  #bytes: Buffer | undefined;
  #end = 0;
  // The arrays of the log are allocated together with its bytes when the first entry is added, because the log of an idle world needs no arrays.
  #starts = NOTHING;
  #sizes = NOTHING;
  /** The number of characters in each text of an entry. */
  #lengths = NOTHING;
  #numbers = NO_NUMBERS;
  /**
   * The number of the oldest entry that the log still has. The log's entries are numbered in the order in which they were added. The entries that the
   * log still has are those from `#oldest` to before `#next`.
   */
  #oldest = 0;
  #next = 0;
  /** The number of entries that were added before the world was last idle and are no longer in the log. */
  #earlier = 0;
  /** The entries of an idle world, oldest first. */
  #kept: RequestEntry[] = [];
  #waiting: PromiseWithResolvers<void> | undefined;
  #lastTimedMs = Number.NEGATIVE_INFINITY;
  readonly #memory: LogMemory;
  #bytesMax = 0;
  #entriesMax = 0;
  #isClosed = false;

  constructor(memory = new LogMemory()) {
    this.#memory = memory;
  }

  /**
   * Whether the durations of the next request's steps are measured. The server measures at most one request in 10 ms, because reading the clock costs
   * more than the rest of a story. `nowMs` is the machine's time; without this argument every request is measured.
   */
  isNextTimed(nowMs: number = Number.POSITIVE_INFINITY): boolean {
    if (nowMs - this.#lastTimedMs < TIMED_EVERY_MS) return false;
    if (nowMs !== Number.POSITIVE_INFINITY) this.#lastTimedMs = nowMs;
    return true;
  }

  /**
   * Adds an entry to the request log, and removes secrets from its texts. The response body must be JSON that this server has written; all other
   * texts are as the client sent them. `query` is the result of `shownQuery`, if the caller has already computed it.
   */
  add(entry: RequestEntry, query = shownQuery(entry.query)): void {
    const { path, request_body, response_body } = entry;
    const requestBody = request_body === "" ? "" : excerpt(request_body, redact);
    this.#append(entry, excerpt(path, redact), query, requestBody, excerpt(response_body, redactJson));
  }

  /** Adds an entry from the log of another process, which has already removed the entry's secrets. */
  adopt(entry: RequestEntry): void {
    this.#append(entry, entry.path, entry.query, entry.request_body, entry.response_body);
  }

  #append(entry: RequestEntry, path: string, query: string, requestBody: string, responseBody: string): void {
    if (this.#isClosed) return;
    if (this.#bytes === undefined) this.#allocate(this.#memory.join(this));
    const { trace_id, operation, method, surface, app = "", story = "" } = entry;
    const parts = entry.parts === undefined ? "" : entry.parts.join();
    // The texts are concatenated one by one, because a loop over a list takes a third longer (measured), and the log runs this code for every
    // request.
    const text = `${trace_id}${operation}${method}${surface}${path}${query}${app}${requestBody}${responseBody}${story}${parts}`;
    this.#makeSpace(UTF8_BYTES_MAX * text.length);
    const slot = this.#next % this.#entriesMax;
    const first = slot * TEXTS;
    this.#lengths[first] = trace_id.length;
    this.#lengths[first + 1] = operation.length;
    this.#lengths[first + 2] = method.length;
    this.#lengths[first + 3] = surface.length;
    this.#lengths[first + 4] = path.length;
    this.#lengths[first + 5] = query.length;
    this.#lengths[first + 6] = app.length;
    this.#lengths[first + 7] = requestBody.length;
    this.#lengths[first + 8] = responseBody.length;
    this.#lengths[first + 9] = story.length;
    this.#lengths[first + 10] = parts.length;
    this.#oldest = Math.max(this.#oldest, this.#next + 1 - this.#entriesMax);
    const size = (this.#bytes as Buffer).write(text, this.#end);
    this.#starts[slot] = this.#end;
    this.#sizes[slot] = size;
    this.#numbers[slot * NUMBERS] = entry.status;
    this.#numbers[slot * NUMBERS + 1] = entry.time;
    this.#numbers[slot * NUMBERS + 2] = entry.duration_ms;
    this.#end += size;
    this.#next++;
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  #allocate(bytesMax: number): void {
    const entriesMax = Math.min(ENTRIES_MAX, bytesMax / ENTRY_BYTES_MIN);
    this.#bytesMax = bytesMax;
    this.#entriesMax = entriesMax;
    this.#starts = new Uint32Array(entriesMax);
    this.#sizes = new Uint32Array(entriesMax);
    this.#lengths = new Uint32Array(entriesMax * TEXTS);
    this.#numbers = new Float64Array(entriesMax * NUMBERS);
    this.#bytes = Buffer.allocUnsafeSlow(bytesMax);
    for (const entry of this.#kept.splice(0)) this.adopt(entry);
  }

  /** Changes the size of the request log's memory. The newest entries stay in the log, if they certainly fit into the new memory. */
  resize(bytesMax: number): void {
    this.#keepNewest(bytesMax / UTF8_BYTES_MAX);
    this.#allocate(bytesMax);
  }

  /** Reduces the log to its newest entries and frees the rest of the memory, for a world that becomes idle. */
  shrink(): void {
    if (this.#bytes === undefined) return;
    this.#keepNewest(IDLE_CHARACTERS_MAX);
    this.#memory.leave(this);
  }

  /** Frees all memory of the request log, for a world that is deleted. Entries that are added to the log later are dropped. */
  close(): void {
    this.#isClosed = true;
    this.shrink();
    this.clear();
  }

  /** Converts the ring buffer to a list of the newest entries, which together have at most `charactersMax` characters. */
  #keepNewest(charactersMax: number): void {
    let characters = 0;
    const newest = this.entries().filter((entry) => {
      characters += sizeOf(entry);
      return characters <= charactersMax;
    });
    this.#earlier = this.count - newest.length;
    this.#bytes = undefined;
    this.#starts = this.#sizes = this.#lengths = NOTHING;
    this.#numbers = NO_NUMBERS;
    this.#end = this.#oldest = this.#next = 0;
    this.#kept = newest.reverse();
  }

  /**
   * Makes space in the ring buffer from `#end` on by dropping the entries there, which are the oldest. Before the log drops an entry, it tries to get
   * memory that other logs have freed.
   */
  #makeSpace(size: number): void {
    if (this.#end + size > this.#bytesMax && this.#memory.shareBytes > this.#bytesMax) this.resize(this.#memory.shareBytes);
    if (this.#end + size > this.#bytesMax) {
      this.#forgetUpTo(this.#bytesMax);
      this.#end = 0;
    }
    this.#forgetUpTo(this.#end + size);
  }

  #forgetUpTo(end: number): void {
    const startOf = (entry: number): number => this.#starts[entry % this.#entriesMax] as number;
    while (this.#oldest < this.#next && startOf(this.#oldest) >= this.#end && startOf(this.#oldest) < end) this.#oldest++;
  }

  /** The number of entries that this process has added to the log. The number of added entries never decreases. */
  get count(): number {
    return this.#earlier + this.#kept.length + this.#next;
  }

  /** All entries of the log, beginning with the newest. */
  entries(): RequestEntry[] {
    return this.from(0).reverse();
  }

  find(traceId: string): RequestEntry | undefined {
    return this.entries().find(({ trace_id }) => trace_id === traceId);
  }

  /** The entries that this process has added to the log after its first `known` ones, oldest first. */
  from(known: number): RequestEntry[] {
    const from = Math.max(0, known - this.#earlier);
    const found = this.#kept.slice(from);
    for (let at = Math.max(this.#oldest, from); at < this.#next; at++) found.push(this.#read(at % this.#entriesMax));
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
    const [story, parts] = [next(), next()];
    return { ...entry, ...(story === "" ? {} : { story }), ...(parts === "" ? {} : { parts: parts.split(",") }) };
  }

  /** Deletes all entries. */
  clear(): void {
    this.#bytes?.fill(0);
    // Callers of `from` continue to count entries that were deleted.
    this.#earlier += this.#kept.length;
    this.#kept = [];
    this.#oldest = this.#next;
  }

  /** Resolves when the next entry is added to the log. */
  next(): Promise<void> {
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }
}

/** The memory that the numbers and the object of an entry take, given as a number of characters. */
const ENTRY_CHARACTERS = 200;

const sizeOf = ({ trace_id, path, query, request_body, response_body, story = "" }: RequestEntry): number =>
  ENTRY_CHARACTERS + trace_id.length + path.length + query.length + request_body.length + response_body.length + story.length;

/** A query as the log shows it, without secrets. */
export const shownQuery = (text: string): string => excerpt(text, redact);

/**
 * Removes secrets from a text of the log and shortens the text. The text is cut before secrets are removed, so that a long body costs no more than a
 * short one. The result is cut again, because the removal of secrets may make a text longer.
 */
function excerpt(text: string, redacted: (text: string) => string): string {
  const shown = redacted(text.length > TEXT_CHARACTERS_MAX ? text.slice(0, TEXT_CHARACTERS_MAX) : text);
  return text.length > TEXT_CHARACTERS_MAX || shown.length > TEXT_CHARACTERS_MAX ? `${shown.slice(0, TEXT_CHARACTERS_MAX)}…` : shown;
}
