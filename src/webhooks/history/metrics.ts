/** Counts attempts by callback and field, for `/metrics`. */
import type { AttemptSeen, BrokenPayload, WebhookObserver } from "../observer.ts";

/** The upper edges of the intervals of the histogram of latencies, in ms. Most receivers respond in a few ms, and the time limit is 15 s (D-62). */
export const ATTEMPT_EDGES_MS: readonly number[] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 15_000];

export interface AttemptMetrics {
  readonly app: string;
  /** The callback's id. */
  readonly callback: string;
  readonly object: string;
  readonly field: string;
  delivered: number;
  retried: number;
  failed: number;
  /** The number of deliveries that ended without another attempt, because the app unsubscribed. */
  unsubscribed: number;
  /** The number of events in the POSTs that receivers accepted. */
  updates: number;
  /**
   * The number of attempts whose latency is between an edge of the histogram and the edge before it; the last number counts the attempts above all
   * edges.
   */
  readonly durations: number[];
  durationSumMs: number;
}

export interface BrokenMetrics {
  readonly object: string;
  readonly field: string;
  count: number;
}

/**
 * The greatest number of counters, each for one callback and one field. All further callbacks and fields share one counter, so that memory stays
 * bounded.
 */
const ENTRIES_MAX = 5_000;

export class DeliveryMetrics {
  readonly #entries = new Map<string, AttemptMetrics>();
  /** The counts of broken payloads by field. The map of broken payloads stays small, because the catalogue has a limited number of fields. */
  readonly #broken = new Map<string, BrokenMetrics>();
  #overdue = 0;

  record({ row, updates, outcome }: AttemptSeen): void {
    const metrics = this.#entryFor(row);
    if (outcome.kind === "delivered") {
      metrics.delivered++;
      metrics.updates += updates;
    } else if (outcome.kind === "retry" || outcome.kind === "probed") metrics.retried++;
    else metrics.failed++;
    const ms = outcome.attempt.latency_ms ?? 0;
    metrics.durationSumMs += ms;
    let edge = 0;
    while (edge < ATTEMPT_EDGES_MS.length && ms > (ATTEMPT_EDGES_MS[edge] as number)) edge++;
    (metrics.durations[edge] as number)++;
  }

  /** Counts a delivery that ended because its app unsubscribed (D-138). */
  recordUnsubscribed(delivery: Parameters<WebhookObserver["deliveryUnsubscribed"]>[0]): void {
    this.#entryFor(delivery).unsubscribed++;
  }

  /** Counts a payload that broke its field's contract (D-136). */
  recordBroken({ object, field }: BrokenPayload): void {
    const key = `${object} ${field}`;
    const known = this.#broken.get(key);
    if (known === undefined) this.#broken.set(key, { object, field, count: 1 });
    else known.count++;
  }

  recordOverdue(): void {
    this.#overdue++;
  }

  /** The number of deliveries that waited although they could be sent. */
  get overdue(): number {
    return this.#overdue;
  }

  brokenPayloads(): Iterable<Readonly<BrokenMetrics>> {
    return this.#broken.values();
  }

  entries(): Iterable<Readonly<AttemptMetrics>> {
    return this.#entries.values();
  }

  #entryFor({ app, callback, object, field }: Pick<AttemptSeen["row"], "app" | "callback" | "object" | "field">): AttemptMetrics {
    const key = `${callback} ${object} ${field}`;
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    if (this.#entries.size >= ENTRIES_MAX) return this.#add("", { app: "other", callback: "other", object: "other", field: "other" });
    return this.#add(key, { app, callback, object, field });
  }

  #add(key: string, labels: Pick<AttemptMetrics, "app" | "callback" | "object" | "field">): AttemptMetrics {
    const durations = new Array<number>(ATTEMPT_EDGES_MS.length + 1).fill(0);
    const metrics = this.#entries.get(key) ?? {
      ...labels,
      delivered: 0,
      retried: 0,
      failed: 0,
      unsubscribed: 0,
      updates: 0,
      durations,
      durationSumMs: 0,
    };
    this.#entries.set(key, metrics);
    return metrics;
  }
}
