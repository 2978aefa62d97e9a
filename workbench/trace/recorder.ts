/**
 * Records what happens in the worlds of a server: requests with the explanations of their results, webhooks, requests to the control API, and changes
 * of nodes.
 */
import type { Connection } from "#testing/connection";
import type { LoggedDelivery, LoggedRequest } from "#testing/storm/observation";
import { applyChanges, changesBetween, type State } from "./changes.ts";
import { EVENTS_MAX, type Trace, type TracedWorld, type TraceEvent } from "./trace.ts";

/** The server stores at most this number of requests. */
const REQUESTS_MAX = 1_000;
/** The greatest number of webhooks of a world in a trace. */
const DELIVERIES_MAX = 1_000;
/** The number of requests that a read expects in addition to those that the event stream has counted; if there are more, the whole log is read. */
const MARGIN = 20;
/** The shortest time between two reads of a world. */
const READ_EVERY_MS = 40;
/** The pause between two reads, as a multiple of the duration of a read, so that reads take at most a fiftieth of the time. */
const REST = 50;

type NewEvent = TraceEvent extends infer Each ? (Each extends TraceEvent ? Omit<Each, "n" | "ms"> : never) : never;

export class Recorder {
  readonly #reader: Connection;
  readonly #started = performance.now();
  readonly #worlds = new Map<string, WorldRecorder>();
  readonly #starts = new Map<string, State>();
  readonly #traced: TracedWorld[] = [];
  readonly #events: TraceEvent[] = [];
  readonly #pace: Pace = { restMs: READ_EVERY_MS };
  #leftOut = 0;

  /** `reader` has a key that reads no secrets. */
  constructor(reader: Connection) {
    this.#reader = reader;
  }

  /**
   * Begins to record a world from its present state. Worlds with the same `content` begin with the same state, so only the first of them is exported.
   */
  async begin(name: string, content?: string): Promise<void> {
    const world = new WorldRecorder(name, this.#reader, this.#pace, (event) => this.#add(event));
    const first = await world.begin(content === undefined ? undefined : this.#starts.get(content));
    if (content !== undefined) this.#starts.set(content, first);
    this.#worlds.set(name, world);
    this.#traced.push({ name, test: testOf(name), first });
  }

  world(name: string): WorldRecorder | undefined {
    return this.#worlds.get(name);
  }

  /** Ends the record of a world that is about to be deleted. */
  async end(name: string): Promise<void> {
    const world = this.#worlds.get(name);
    this.#worlds.delete(name);
    await world?.end();
  }

  /** Ends all records. */
  async finish(command: string, exitCode: number): Promise<Trace> {
    for (const name of [...this.#worlds.keys()]) await this.end(name);
    return { version: 1, command, exitCode, worlds: this.#traced, events: this.#events, left_out: this.#leftOut };
  }

  #add(event: NewEvent): number {
    const n = this.#events.length;
    // Events of changes are never left out, because the state at the end of the trace is computed from all changes.
    if (n >= EVENTS_MAX && event.kind !== "changes") {
      this.#leftOut++;
      return n;
    }
    this.#events.push({ ...event, n, ms: Math.round(performance.now() - this.#started) } as TraceEvent);
    return n;
  }
}

/** The name of the test of a world, which the kit puts into the name of the world: `test-a-label-is-created-1f0c…`. */
const testOf = (name: string): string => /^test-(.+)-[0-9a-f]{8}$/.exec(name)?.[1]?.replaceAll("-", " ") ?? name;

/**
 * The pause between reads, which all worlds of a record share, because the duration of a read in one world predicts the duration in the next world.
 */
interface Pace {
  /** The pause between two reads of a world. */
  restMs: number;
}

export class WorldRecorder {
  readonly #name: string;
  readonly #reader: Connection;
  readonly #pace: Pace;
  readonly #add: (event: NewEvent) => number;
  readonly #ending = new AbortController();
  /** The numbers of the events about requests, by the trace ids of the requests. */
  readonly #known = new Map<string, number>();
  readonly #causes = new Map<string, number>();
  readonly #deliveries = new Set<string>();
  #state: State = {};
  /** The numbers of the events that happened after the last read of the world's nodes. */
  #unread: number[] = [];
  #reading: Promise<void> = Promise.resolve();
  #watching: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The number of requests that the stream has counted since the last read. */
  #announced = 0;

  constructor(name: string, reader: Connection, pace: Pace, add: (event: NewEvent) => number) {
    this.#name = name;
    this.#reader = reader;
    this.#pace = pace;
    this.#add = add;
  }

  /**
   * Begins to record from the given state, or else from the present state of the world, and resolves with this state. The recorder does not watch the
   * world yet, because the world of a short test ends before this is necessary.
   */
  async begin(state: State | undefined): Promise<State> {
    this.#state = state ?? (await this.#export());
    this.#readSoon();
    return this.#state;
  }

  /** Records a request to the control API, and soon reads the world. */
  control(call: { readonly method: string; readonly path: string; readonly status: number; readonly detail: string }): void {
    this.#unread.push(this.#add({ kind: "control", world: this.#name, ...call }));
    this.#readSoon();
  }

  /** Reads everything that has happened until now. */
  collect(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Makes one read at a time, so that each change is recorded once.
    this.#reading = this.#reading.then(async () => {
      const started = performance.now();
      await this.#read();
      this.#pace.restMs = Math.max(READ_EVERY_MS, REST * (performance.now() - started));
    });
    return this.#reading;
  }

  /** Reads everything that is not recorded yet, and ends the recording of the world. */
  async end(): Promise<void> {
    await this.collectAll();
    this.#ending.abort();
  }

  /** Reads everything that happened until now, and the webhooks, which a restore or the end of the world would delete. */
  async collectAll(): Promise<void> {
    const listed = this.#reader.send<{ data: LoggedDelivery[] }>("GET", `worlds/${this.#name}/deliveries?limit=${DELIVERIES_MAX}`);
    const [{ data }] = await Promise.all([listed, this.collect()]);
    for (const delivery of data.reverse()) {
      if (this.#deliveries.has(delivery.id)) continue;
      this.#deliveries.add(delivery.id);
      this.#add({ kind: "webhook", world: this.#name, delivery, cause: this.#causes.get(delivery.id) });
    }
  }

  async #watch(): Promise<void> {
    void this.#follow(await this.#reader.open(`worlds/${this.#name}/requests/stream`, this.#ending.signal));
  }

  async #follow(events: ReadableStream<Uint8Array>): Promise<void> {
    try {
      const decoder = new TextDecoder();
      for await (const part of events) {
        const text = decoder.decode(part, { stream: true });
        // The events of the stream only count requests; the recorder reads the requests themselves from the log.
        for (const [, seen] of text.matchAll(/"seen":(\d+)/g)) this.#announced += Number(seen);
        this.#readSoon();
      }
    } catch {
      // The world was deleted, or the record has ended.
    }
  }

  #readSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#watching ??= this.#watch();
      this.#watching.then(() => this.collect()).catch(() => {});
    }, this.#pace.restMs);
  }

  async #read(): Promise<void> {
    for (const request of await this.#newRequests()) {
      const n = this.#add({ kind: "request", world: this.#name, request });
      this.#known.set(request.trace_id, n);
      for (const id of request.story?.deliveries ?? []) this.#causes.set(id, n);
      if (request.method !== "GET") this.#unread.push(n);
    }
    if (this.#unread.length === 0) return;
    const after = this.#unread;
    const state = await this.#export();
    const changes = changesBetween(this.#state, state);
    this.#unread = this.#unread.slice(after.length);
    if (changes.length === 0) return;
    this.#add({ kind: "changes", world: this.#name, after, changes });
    this.#state = applyChanges(this.#state, changes);
  }

  /** Returns the requests since the last read, the oldest first. */
  async #newRequests(): Promise<readonly LoggedRequest[]> {
    const announced = this.#announced;
    this.#announced = 0;
    for (let limit = Math.min(announced + MARGIN, REQUESTS_MAX); ; limit = REQUESTS_MAX) {
      const path = `worlds/${this.#name}/requests?limit=${limit}&stories=true`;
      const { data } = await this.#reader.send<{ data: LoggedRequest[] }>("GET", path);
      const fresh = data.filter(({ trace_id }) => !this.#known.has(trace_id));
      // If all requests that were read are new, there may be more new requests in the log.
      if (fresh.length < limit || limit === REQUESTS_MAX) return fresh.reverse();
    }
  }

  #export(): Promise<State> {
    return this.#reader.send<State>("GET", `worlds/${this.#name}/export`);
  }
}
