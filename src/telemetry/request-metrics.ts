/** Counts requests by operation, with their durations, for `/metrics`. Counting is fast enough to run for every request. */

/**
 * The upper edges of the intervals of the histogram of durations, in ms. A read takes less than 1 ms, a durable write 2 to 5, a handshake up to
 * 10,000 (D-61).
 */
export const DURATION_EDGES_MS: readonly number[] = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

export interface OperationMetrics {
  requests: number;
  /** The number of requests with a status of 400 or more. */
  errors: number;
  readonly byStatus: Record<string, number>;
  /**
   * The number of requests in each interval of the histogram of durations, not cumulative. The last number counts the requests that took longer than
   * the highest edge.
   */
  readonly durations: number[];
  durationSumMs: number;
}

/**
 * The reason why a request is turned away (D-97). `requests`: too many requests are running. `bytes`: the bodies of the running requests are too
 * large together. `waiting`: too many requests of the request's app wait for other servers. `arriving`: arriving bodies use too much memory.
 * `stopping`: the server stops.
 */
export type TurnAwayReason = "requests" | "bytes" | "waiting" | "arriving" | "stopping";

export interface TurnedAway {
  /** The app of the request's valid token; undefined if the request counted against the address of its client. */
  readonly app: string | undefined;
  readonly reason: TurnAwayReason;
  readonly count: number;
}

/** The counts of the connections of clients to the graph. */
export interface ConnectionMetrics {
  open: number;
  /** The number of connections that were closed while they waited for their client, because there were too many or they used too much memory. */
  evicted: number;
}

/** The counts of the requests of one or several processes, as JSON. */
export interface RequestsReport {
  readonly inFlight: number;
  readonly waiting: number;
  readonly connections: Readonly<ConnectionMetrics>;
  readonly turnedAway: readonly TurnedAway[];
  readonly operations: Readonly<Record<string, Readonly<OperationMetrics>>>;
}

/**
 * The maximum number of apps that are counted separately, so that a flood by many apps uses little memory. All further apps are counted together as
 * `others`.
 */
const APPS_MAX = 1_000;
const OTHER_APPS = "others";

export class RequestMetrics {
  /** The number of requests that are currently in the pipeline, without the requests that wait for another server. */
  inFlight = 0;
  /** The number of requests that wait for another server, e.g. for the handshake of a callback. */
  waiting = 0;
  readonly connections: ConnectionMetrics = { open: 0, evicted: 0 };
  readonly #turnedAway = new Map<string, { app: string | undefined; reason: TurnAwayReason; count: number }>();
  readonly #operations = new Map<string, OperationMetrics>();

  /** Counts a request that is turned away. `app` is the app of the request's valid token; undefined if the request has no valid token. */
  turnAway(app: string | undefined, reason: TurnAwayReason): void {
    const known = this.#turnedAway.get(`${reason} ${app}`);
    if (known !== undefined) known.count++;
    else if (app !== undefined && app !== OTHER_APPS && this.#turnedAway.size >= APPS_MAX) this.turnAway(OTHER_APPS, reason);
    else this.#turnedAway.set(`${reason} ${app}`, { app, reason, count: 1 });
  }

  /** The number of requests that were turned away. */
  get turnedAway(): number {
    return this.turnedAwayByApp().reduce((sum, { count }) => sum + count, 0);
  }

  turnedAwayByApp(): readonly TurnedAway[] {
    return [...this.#turnedAway.values()];
  }

  record(operation: string, status: number, ms: number): void {
    let metrics = this.#operations.get(operation);
    if (metrics === undefined) {
      metrics = { requests: 0, errors: 0, byStatus: {}, durations: new Array<number>(DURATION_EDGES_MS.length + 1).fill(0), durationSumMs: 0 };
      this.#operations.set(operation, metrics);
    }
    metrics.requests++;
    if (status >= 400) metrics.errors++;
    metrics.byStatus[status] = (metrics.byStatus[status] ?? 0) + 1;
    metrics.durationSumMs += ms;
    let edge = 0;
    while (edge < DURATION_EDGES_MS.length && ms > (DURATION_EDGES_MS[edge] as number)) edge++;
    (metrics.durations[edge] as number)++;
  }

  /** Returns the metrics of each operation. The key `unknown` has the metrics of requests that belong to no operation. */
  operations(): ReadonlyMap<string, Readonly<OperationMetrics>> {
    return this.#operations;
  }

  report(): RequestsReport {
    const { inFlight, waiting, connections } = this;
    return { inFlight, waiting, connections, turnedAway: this.turnedAwayByApp(), operations: Object.fromEntries(this.#operations) };
  }
}
