/**
 * Chooses which connections are closed if too many are open (D-98), or if they hold too much memory. So a client that opens thousands of connections,
 * or does not take its responses, never keeps other clients out.
 */
import { nextTurn } from "#kernel/turns";
import type { ConnectionMetrics } from "#telemetry/request-metrics";
import type { HttpLimits } from "../limits.ts";

export type EvictionLimits = Pick<HttpLimits, "connectionsMax" | "connectionBytesMax">;

interface Evictable {
  readonly remoteAddress: string;
  /** The thing that the connection waits for. Undefined while the server works on a request. */
  readonly waitsFor: string | undefined;
  readonly waitsSinceMs: number;
  readonly heldBytes: number;
  abort(): void;
}

/**
 * The part of the limit by which the number of connections may exceed it for a moment. Above that, connections are closed at once, because open files
 * are few.
 */
const BURST_PART = 1 / 4;
/** The number of connections that are closed if the process cannot open more files. */
const EVICTED_FOR_FILES = 64;
/** The part of the memory limit that connections may still hold after some connections were closed. */
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

  /** Call this after a connection was opened or closed. */
  counted(): void {
    this.#metrics.open = this.#open.size;
    const excess = this.#open.size - this.#limits.connectionsMax;
    if (excess > BURST_PART * this.#limits.connectionsMax) this.#evictWaiting(excess);
    else if (excess > 0 && !this.#isEvicting) void this.#evictExcess();
  }

  /**
   * Closes some connections to free their files. Call this when the process cannot open or accept anything any more, which the system reports
   * repeatedly.
   */
  filesUsedUp(): void {
    this.#evictWaiting(EVICTED_FOR_FILES);
  }

  /** Called with the change of the bytes that connections hold. */
  held(bytes: number): void {
    this.#heldBytes += bytes;
    if (bytes > 0 && this.#heldBytes > this.#limits.connectionBytesMax) this.#evictLargest();
  }

  /**
   * Closes the connections above the limit. First reads what new connections have sent, because until then a connection with a request looks idle.
   */
  async #evictExcess(): Promise<void> {
    this.#isEvicting = true;
    await nextTurn();
    await nextTurn();
    this.#evictWaiting(this.#open.size - this.#limits.connectionsMax);
    this.#isEvicting = false;
  }

  /** Closes `count` waiting connections: half of the rest at a time, because afterwards another group may be the largest. */
  #evictWaiting(count: number): void {
    for (let left = count; left > 0; ) {
      const longest = this.#longestWaiting(Math.ceil(left / 2));
      if (longest.length === 0) return;
      for (const connection of longest) this.#evict(connection);
      left -= longest.length;
    }
  }

  /**
   * Connections of one address that wait for the same thing are a group. Returns the longest waiting connections of the largest group. A client that
   * opens many waiting connections therefore loses its own connections.
   */
  #longestWaiting(count: number): readonly Evictable[] {
    const waiting = [...this.#open].filter(({ waitsFor }) => waitsFor !== undefined);
    const groups = Map.groupBy(waiting, ({ waitsFor, remoteAddress }) => `${waitsFor} ${remoteAddress}`);
    const largest = groups.values().reduce((one, other) => (other.length > one.length ? other : one), []);
    return largest.sort((one, other) => one.waitsSinceMs - other.waitsSinceMs).slice(0, count);
  }

  /** Closes the largest connections of the address that holds most, until the connections hold little enough memory. */
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
