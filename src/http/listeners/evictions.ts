/**
 * Which connections are closed where there are too many (D-98), or where they hold too much memory: so a client that opens thousands, or
 * does not take its responses, never keeps others out.
 */
import type { ConnectionMetrics } from "#telemetry/request-metrics";
import type { HttpLimits } from "../limits.ts";

interface Evictable {
  readonly remoteAddress: string;
  /** Undefined while the server works on a request. */
  readonly waitsFor: string | undefined;
  readonly waitsSinceMs: number;
  readonly heldBytes: number;
  readonly isGone: boolean;
  abort(): void;
}

interface Waiting {
  readonly connection: Evictable;
  readonly sinceMs: number;
}

/** To look through all connections for each new one would cost more than to accept it. */
const FOUND_AT_ONCE = 64;

/** Of the memory that connections may hold, after some were closed because of it. */
const KEPT_PART = 7 / 8;

export class Evictions {
  readonly #open: ReadonlySet<Evictable>;
  readonly #limits: Pick<HttpLimits, "connectionsMax" | "connectionBytesMax">;
  readonly #metrics: ConnectionMetrics;
  #heldBytes = 0;
  /** Those to close next, the first of them last. They may be busy, or gone, by then. */
  #found: Waiting[] = [];

  constructor(open: ReadonlySet<Evictable>, limits: Pick<HttpLimits, "connectionsMax" | "connectionBytesMax">, metrics: ConnectionMetrics) {
    this.#open = open;
    this.#limits = limits;
    this.#metrics = metrics;
  }

  /** After a connection was opened or closed. */
  counted(): void {
    this.#metrics.open = this.#open.size;
    if (this.#open.size > this.#limits.connectionsMax) this.#evictLongestWaiting();
  }

  /** Nothing can be opened or accepted any more, and the system says so over and over: some connections close for others. */
  filesUsedUp(): void {
    for (let count = 0; count < FOUND_AT_ONCE; count++) this.#evictLongestWaiting();
  }

  /** Connections hold so many bytes more, or less. */
  held(bytes: number): void {
    this.#heldBytes += bytes;
    if (bytes > 0 && this.#heldBytes > this.#limits.connectionBytesMax) this.#evictLargest();
  }

  /** If all others are busy it is the new connection itself, which waits for its first request. */
  #evictLongestWaiting(): void {
    for (;;) {
      if (this.#found.length === 0) this.#found = this.#longestWaiting();
      const next = this.#found.pop();
      if (next === undefined) return;
      const { connection, sinceMs } = next;
      if (connection.isGone || connection.waitsFor === undefined || connection.waitsSinceMs !== sinceMs) continue;
      this.#evict(connection);
      return;
    }
  }

  /**
   * Of those that wait for the same and come from one address the largest group. So those who open many connections, and let them wait
   * in one way, close their own.
   */
  #longestWaiting(): Waiting[] {
    const waiting = [...this.#open].filter(({ waitsFor }) => waitsFor !== undefined);
    const groups = Map.groupBy(waiting, ({ waitsFor, remoteAddress }) => `${waitsFor} ${remoteAddress}`);
    const largest = groups.values().reduce((one, other) => (other.length > one.length ? other : one), []);
    return largest
      .map((connection) => ({ connection, sinceMs: connection.waitsSinceMs }))
      .sort((one, other) => other.sinceMs - one.sinceMs)
      .slice(-FOUND_AT_ONCE);
  }

  /** Of the address that holds most the largest ones, until there is space for some more. */
  #evictLargest(): void {
    const totals = this.#totalsByAddress();
    const most = Math.max(...totals.values());
    const largest = [...this.#open]
      .filter(({ remoteAddress }) => totals.get(remoteAddress) === most)
      .sort((one, other) => other.heldBytes - one.heldBytes);
    let excess = this.#heldBytes - KEPT_PART * this.#limits.connectionBytesMax;
    for (const connection of largest) {
      if (excess <= 0) return;
      excess -= connection.heldBytes;
      this.#evict(connection);
    }
  }

  #totalsByAddress(): Map<string, number> {
    const totals = new Map<string, number>();
    for (const { remoteAddress, heldBytes } of this.#open) totals.set(remoteAddress, (totals.get(remoteAddress) ?? 0) + heldBytes);
    return totals;
  }

  #evict(connection: Evictable): void {
    this.#metrics.evicted++;
    connection.abort();
  }
}
