/** The latest requests of a world, as they are made: one stream for the whole console, which any view reads. */
import { useEffect, useState, useSyncExternalStore } from "react";
import { alertsQuery } from "./alerts.ts";
import { api, dataOf } from "./client.ts";
import { follow, type ServerEvent, type StreamState } from "./events.ts";
import { clockQuery, queryClient } from "./queries.ts";
import { Rates } from "./rate.ts";

type Listed = Awaited<ReturnType<typeof lastRequests>>[number];
/** A request with the data that its line in the list shows. The console reads the rest of a request when a person opens the request. */
export type RequestLine = Omit<Listed, "query" | "request_body" | "response_body">;

export interface RequestFilter {
  readonly status_class?: number | undefined;
  readonly method?: string | undefined;
  readonly operation?: string | undefined;
  readonly app?: string | undefined;
  readonly search?: string | undefined;
}

export interface Tail {
  /** The newest request comes first. */
  readonly lines: readonly RequestLine[];
  readonly state: StreamState;
  readonly isLoaded: boolean;
  /** The number of requests that came while a person had stopped the list. */
  readonly held: number;
  /** The number of matching requests that were left out because too many came at once. */
  readonly skipped: number;
  /** The number of requests that were refused or failed since the list was read, including requests that do not match the filter. */
  readonly errors: number;
}

interface RequestsEvent {
  readonly data: readonly RequestLine[];
  readonly seen: number;
  readonly refused: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The longest list. This list is ten times as long as the list that the server keeps. */
const LINES_MAX = 10_000;
const NOTHING: Tail = { lines: [], state: "lost", isLoaded: false, held: 0, skipped: 0, errors: 0 };

let tail: Tail = NOTHING;
let heldLines: readonly RequestLine[] = [];
let isHeld = false;
let end = (): void => {};
let key = "";
let world = "";
let liveUntilMs: number | undefined;
const listeners = new Set<() => void>();
/** The rates of all requests of the world, including requests that do not match the filter. */
export const rates = new Rates();

function change(more: Partial<Tail>): void {
  tail = { ...tail, ...more };
  for (const listener of listeners) listener();
}

const lastRequests = async (w: string, query: RequestFilter) =>
  (await dataOf(api.GET("/v1/worlds/{w}/requests", { params: { path: { w }, query: definedIn(query) } }))).data;

/** Returns only the filters that are set, because the types of the client do not allow undefined filters. */
export const definedIn = <T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== "")) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

/** Starts to read the requests of a world that match a filter. Does nothing if the console already reads exactly these requests. */
export function readTail(w: string, filter: RequestFilter): void {
  const query = new URLSearchParams(Object.entries(definedIn(filter)).map(([name, value]) => [name, String(value)]));
  const wanted = `${w}?${query}`;
  if (wanted === key) return;
  end();
  key = wanted;
  if (w !== world) rates.clear();
  world = w;
  heldLines = [];
  tail = { ...NOTHING, state: tail.state };
  change({});
  const readLast = (): void =>
    void lastRequests(w, filter).then(
      (last) => {
        if (key !== wanted) return;
        const known = new Set([...tail.lines, ...heldLines].map(({ trace_id }) => trace_id));
        const lines = [...tail.lines, ...last.filter(({ trace_id }) => !known.has(trace_id))];
        if (query.size === 0) void noteEarlier(w, last);
        change({ lines: lines.sort((one, other) => other.time - one.time), isLoaded: true });
      },
      () => change({ isLoaded: true }),
    );
  end = follow({
    connected: readLast,
    address(after) {
      const parameters = new URLSearchParams(query);
      parameters.set("alerts", "true");
      if (after !== undefined) parameters.set("after", after);
      return `/v1/worlds/${encodeURIComponent(w)}/requests/stream?${parameters}`;
    },
    take: (event) => take(w, event),
    state(state) {
      if (state === "live") rates.connect(Date.now());
      else rates.disconnect(Date.now());
      if (state === tail.state) return;
      // A window waits for a connection only while the streams of other windows are live.
      if (tail.state === "live" || tail.state === "waiting") liveUntilMs = Date.now();
      // Requests for data failed while the server was gone, so all data is read again.
      if (tail.state === "gone") void queryClient.invalidateQueries();
      change({ state });
    },
  });
  readLast();
}

/** Ends the stream of requests, when the person signs out. */
export function endTail(): void {
  end();
  key = "";
  tail = NOTHING;
}

/**
 * The time, by this machine's clock, at which the request stream of this window, or of the windows for which it waited, was
 * last live; undefined if never.
 */
export const lastLiveMs = (): number | undefined => liveUntilMs;

/** If a request's time differs from the expected time by more than this limit, somebody else has moved the world's clock. */
const CLOCK_SECONDS_OFF_MAX = 5;

function noteTime(w: string, time: number): void {
  const { queryKey } = clockQuery(w);
  const clock = queryClient.getQueryData(queryKey);
  if (clock === undefined) return;
  const expected = clock.frozen ? clock.now : clock.now + (Date.now() - clock.readAtMs) / 1000;
  if (Math.abs(time - expected) > CLOCK_SECONDS_OFF_MAX) void queryClient.invalidateQueries({ queryKey });
}

/**
 * Adds requests of the log to the rates. Converts the world times of requests to this machine's time by their distance from the world's present time.
 */
async function noteEarlier(w: string, last: readonly Listed[]): Promise<void> {
  const clock = await queryClient.ensureQueryData(clockQuery(w)).catch(() => undefined);
  // If the world's clock is stopped, the world times in the log do not tell when a request was made.
  if (clock === undefined || clock.frozen || w !== world) return;
  const behindMs = clock.readAtMs - clock.now * 1_000;
  rates.addEarlier(last.map(({ time, status }) => ({ atMs: time * 1_000 + behindMs, status })));
}

function take(w: string, { name, data: text }: ServerEvent): void {
  if (name === "alerts") queryClient.setQueryData(alertsQuery(w).queryKey, JSON.parse(text));
  else takeLines(w, JSON.parse(text) as RequestsEvent);
}

function takeLines(w: string, { data, seen, refused, failed, skipped }: RequestsEvent): void {
  rates.add(Date.now(), { seen, refused, failed });
  const counts = { skipped: tail.skipped + skipped, errors: tail.errors + refused + failed };
  const newestTime = data.at(-1)?.time;
  if (newestTime !== undefined) noteTime(w, newestTime);
  const newest = [...data].reverse();
  if (isHeld) {
    heldLines = [...newest, ...heldLines].slice(0, LINES_MAX);
    change({ held: heldLines.length, ...counts });
  } else change({ lines: [...newest, ...tail.lines].slice(0, LINES_MAX), ...counts });
}

/** Stops updating the list of requests, so that the list does not change while a person reads it. */
export function holdTail(isOn: boolean): void {
  if (isHeld === isOn) return;
  isHeld = isOn;
  if (isOn) return;
  const lines = [...heldLines, ...tail.lines].slice(0, LINES_MAX);
  heldLines = [];
  change({ lines, held: 0 });
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useTail = (): Tail => useSyncExternalStore(subscribe, () => tail);

const A_SECOND_MS = 1_000;

/** The latest requests, updated at most once a second, for views that use many requests. */
export function useTailBySecond(): Tail {
  const [shown, show] = useState(tail);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lookedMs = 0;
    const look = (): void => {
      timer = undefined;
      lookedMs = Date.now();
      show(tail);
    };
    const end = subscribe(() => {
      timer ??= setTimeout(look, Math.max(0, lookedMs + A_SECOND_MS - Date.now()));
    });
    look();
    return () => {
      clearTimeout(timer);
      end();
    };
  }, []);
  return shown;
}
