/**
 * Which connections are closed where there are too many (D-98), or where they hold too much memory: so a client that opens thousands, or
 * does not take its responses, never keeps others out.
 */
import { nextTurn } from "#kernel/turns";
import type { ConnectionMetrics } from "#telemetry/request-metrics";
import type { HttpLimits } from "../limits.ts";

export type EvictionLimits = Pick<HttpLimits, "connectionsMax" | "connectionBytesMax">;

interface Evictable {
  readonly remoteAddress: string;
  /** Undefined while the server works on a request. */
  readonly waitsFor: string | undefined;
  readonly waitsSinceMs: number;
  readonly heldBytes: number;
  abort(): void;
}

/** Of the cap: so many more may be open for a moment. Then they close at once, since open files are few. */
const BURST_PART = 1 / 4;
/** Where no more files can be opened. */
const EVICTED_FOR_FILES = 64;
/** Of the memory that connections may hold, after some were closed because of it. */
const KEPT_PART = 7 / 8;

export class Evictions {
  readonly #open: ReadonlySet<Evictable>;
  readonly #limits: EvictionLimits;
  readonly #metrics: ConnectionMetrics;
  #heldBytes = 0;
  #isEvicting = false;

  constructor(open: ReadonlySet<Evictable>, limits: EvictionLimits, metrics: ConnectionMetrics) {
    this.#open = open;
    this.#limits = limits;
    this.#metrics = metrics;
  }

  /** After a connection was opened or closed. */
  counted(): void {
    this.#metrics.open = this.#open.size;
    const excess = this.#open.size - this.#limits.connectionsMax;
    if (excess > BURST_PART * this.#limits.connectionsMax) this.#evictWaiting(excess);
    else if (excess > 0 && !this.#isEvicting) void this.#evictExcess();
  }

  /** Nothing can be opened or accepted any more, and the system says so over and over: some connections close for others. */
  filesUsedUp(): void {
    this.#evictWaiting(EVICTED_FOR_FILES);
  }

  /** Connections hold so many bytes more, or less. */
  held(bytes: number): void {
    this.#heldBytes += bytes;
    if (bytes > 0 && this.#heldBytes > this.#limits.connectionBytesMax) this.#evictLargest();
  }

  /** What new connections have sent is read first: until then a request looks like a connection that is idle. */
  async #evictExcess(): Promise<void> {
    this.#isEvicting = true;
    await nextTurn();
    await nextTurn();
    this.#evictWaiting(this.#open.size - this.#limits.connectionsMax);
    this.#isEvicting = false;
  }

  /** Half of them at a time: which group is the largest changes with each. */
  #evictWaiting(count: number): void {
    for (let left = count; left > 0; ) {
      const longest = this.#longestWaiting(Math.ceil(left / 2));
      if (longest.length === 0) return;
      for (const connection of longest) this.#evict(connection);
      left -= longest.length;
    }
  }

  /**
   * Of those that wait for the same and come from one address the largest group, the longest first. So those who open many
   * connections, and let them wait in one way, close their own.
   */
  #longestWaiting(count: number): readonly Evictable[] {
    const waiting = [...this.#open].filter(({ waitsFor }) => waitsFor !== undefined);
    const groups = Map.groupBy(waiting, ({ waitsFor, remoteAddress }) => `${waitsFor} ${remoteAddress}`);
    const largest = groups.values().reduce((one, other) => (other.length > one.length ? other : one), []);
    return largest.sort((one, other) => one.waitsSinceMs - other.waitsSinceMs).slice(0, count);
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
