/** Counts and durations of requests by operation, cheap enough to count every request. `/metrics` reads them. */

/** Upper edges in ms: a read takes under 1, a durable write 2 to 5, a handshake up to 10,000 (D-61). */
export const DURATION_EDGES_MS: readonly number[] = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

export interface OperationMetrics {
  requests: number;
  /** Requests with a status of 400 or more. */
  errors: number;
  readonly byStatus: Map<number, number>;
  /** Requests per edge, not cumulative; the last counts those above all edges. */
  readonly durations: number[];
  durationSumMs: number;
}

export class RequestMetrics {
  /** Requests in the pipeline now. */
  inFlight = 0;
  /** Requests refused because too many were running. */
  turnedAway = 0;
  readonly #operations = new Map<string, OperationMetrics>();

  record(operation: string, status: number, ms: number): void {
    let metrics = this.#operations.get(operation);
    if (metrics === undefined) {
      metrics = { requests: 0, errors: 0, byStatus: new Map(), durations: new Array<number>(DURATION_EDGES_MS.length + 1).fill(0), durationSumMs: 0 };
      this.#operations.set(operation, metrics);
    }
    metrics.requests++;
    if (status >= 400) metrics.errors++;
    metrics.byStatus.set(status, (metrics.byStatus.get(status) ?? 0) + 1);
    metrics.durationSumMs += ms;
    let edge = 0;
    while (edge < DURATION_EDGES_MS.length && ms > (DURATION_EDGES_MS[edge] as number)) edge++;
    (metrics.durations[edge] as number)++;
  }

  /** By operation; `unknown` counts requests without an operation. */
  operations(): ReadonlyMap<string, Readonly<OperationMetrics>> {
    return this.#operations;
  }
}
