/**
 * Chooses the connections that the server closes if too many connections are open (D-98), or if the connections occupy too much memory. A client that
 * opens thousands of connections, or does not read its responses, therefore never keeps other clients out.
 */
import { nextTurn } from "#kernel/turns";
import type { ConnectionMetrics } from "#telemetry/request-metrics";
import type { HttpLimits } from "../limits.ts";

export type EvictionLimits = Pick<HttpLimits, "connectionsMax" | "connectionBytesMax">;

interface Evictable {
  readonly remoteAddress: string;
  /** The event that the connection waits for; undefined while the server works on a request. */
  readonly waitsFor: string | undefined;
  readonly waitsSinceMs: number;
  readonly heldBytes: number;
  abort(): void;
}

/**
 * The fraction of the limit by which the number of connections may exceed the limit for a short time. If the number is exceeded by more than this
 * fraction, the server closes some connections immediately, because the system allows few open files.
 */
const BURST_PART = 1 / 4;
/** The number of connections that are closed if the process cannot open any more files. */
const EVICTED_FOR_FILES = 64;
/** The fraction of the memory limit that connections may still occupy after some connections were closed. */
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

  /** The listener calls this method after it opened or closed a connection. */
  counted(): void {
    this.#metrics.open = this.#open.size;
    const excess = this.#open.size - this.#limits.connectionsMax;
    if (excess > BURST_PART * this.#limits.connectionsMax) this.#evictWaiting(excess);
    else if (excess > 0 && !this.#isEvicting) void this.#evictExcess();
  }

  /** Closes some connections to free their files. The listener calls this method while the process cannot open a file or accept a connection. */
  filesUsedUp(): void {
    this.#evictWaiting(EVICTED_FOR_FILES);
  }

  /** The listener calls this method when the number of bytes that connections hold changes; `bytes` is the difference. */
  held(bytes: number): void {
    this.#heldBytes += bytes;
    if (bytes > 0 && this.#heldBytes > this.#limits.connectionBytesMax) this.#evictLargest();
  }

  /**
   * Closes the connections above the limit. Before the server closes connections, it reads the bytes that new connections have sent, because a
   * connection whose request is not read yet looks idle.
   */
  async #evictExcess(): Promise<void> {
    this.#isEvicting = true;
    await nextTurn();
    await nextTurn();
    this.#evictWaiting(this.#open.size - this.#limits.connectionsMax);
    this.#isEvicting = false;
  }

  /**
   * Closes `count` waiting connections. Each step closes half of the connections that remain to be closed, because another group of connections may
   * be the largest after each step.
   */
  #evictWaiting(count: number): void {
    for (let left = count; left > 0; ) {
      const longest = this.#longestWaiting(Math.ceil(left / 2));
      if (longest.length === 0) return;
      for (const connection of longest) this.#evict(connection);
      left -= longest.length;
    }
  }

  /**
   * Returns the longest waiting connections of the largest group. A group is all connections of one address that wait for the same event. A client
   * that opens many waiting connections therefore loses its own connections.
   */
  #longestWaiting(count: number): readonly Evictable[] {
    const waiting = [...this.#open].filter(({ waitsFor }) => waitsFor !== undefined);
    const groups = Map.groupBy(waiting, ({ waitsFor, remoteAddress }) => `${waitsFor} ${remoteAddress}`);
    const largest = groups.values().reduce((one, other) => (other.length > one.length ? other : one), []);
    return largest.sort((one, other) => one.waitsSinceMs - other.waitsSinceMs).slice(0, count);
  }

  /** Closes the largest connections of the address that holds the most bytes, until the total is at most `KEPT_PART` of the limit. */
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
