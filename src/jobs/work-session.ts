/**
 * A session is the right of one process to work. The rows that the process claims carry the session's fence. The process renews the session's lease
 * while it lives; after the lease, another process gives back the rows of the fence. A process that lost its lease continues under a new fence, and
 * can no longer settle work that it started under the old one.
 *
 * Leases run on real time, because a world's time can be frozen or moved. The clocks of processes that share a database must
 * agree within a few seconds.
 */
import { randomInt } from "node:crypto";
import type { Database, Transaction } from "#storage/database";
import { deleteSession, findEndedSessions, renewSession, saveSession } from "./work-sessions.store.ts";

/**
 * The length of a lease. A process that only stalls must not count as dead, because its work would then be done twice. If a process is killed,
 * another process goes on with its work after this time.
 */
export const LEASE_MS = 5_000;
/** The interval at which a lease is renewed, so that four renewals can fail before the lease ends. */
export const BEAT_MS = 1_000;
/** Fences are random numbers below this: in 2^47 pairs of processes, one pair draws the same number. */
const FENCE_MAX = 2 ** 47;

export class WorkSession {
  readonly #database: Database;
  readonly #realNowMs: () => number;
  /** Whether other processes may work on the same database; on SQLite one process locks the folder. */
  readonly #isShared: boolean;
  #fence = randomInt(1, FENCE_MAX);
  #isStored = false;
  #leaseUntilMs = 0;

  constructor(database: Database, realNowMs: () => number) {
    this.#database = database;
    this.#realNowMs = realNowMs;
    this.#isShared = database.dialect === "postgres";
  }

  get isShared(): boolean {
    return this.#isShared;
  }

  /**
   * The stored fence, if no other process can take it over: new rows can then carry the fence from the start. Undefined if another process can take
   * the fence over.
   */
  get soleFence(): number | undefined {
    return this.#isShared || !this.#isStored ? undefined : this.#fence;
  }

  /**
   * Returns the fence for rows that are claimed in `tx`. The same transaction stores the session, also if another process has just replaced the state
   * of the world: nobody would ever give back rows whose fence has no session.
   */
  async fenceFor(tx: Transaction): Promise<number> {
    const leaseUntilMs = this.#realNowMs() + LEASE_MS;
    if (this.#isStored && !this.#isShared) return this.#fence;
    if (!this.#isStored || !(await renewSession(tx, this.#fence, leaseUntilMs))) {
      if (this.#isStored) this.#renew();
      await saveSession(tx, this.#fence, leaseUntilMs);
    }
    tx.afterCommit(() => {
      this.#isStored = true;
      this.#leaseUntilMs = leaseUntilMs;
    });
    return this.#fence;
  }

  /** Whether this process may still work on rows claimed under `fence`. */
  holds(fence: number): boolean {
    return fence === this.#fence && (!this.#isShared || this.#realNowMs() < this.#leaseUntilMs);
  }

  /** Whether the lease must be renewed now, by real time, because timers stop while a machine sleeps. */
  get needsBeat(): boolean {
    return this.#isShared && this.#isStored && this.#realNowMs() >= this.#leaseUntilMs - LEASE_MS + BEAT_MS;
  }

  /** Renews the lease, every `BEAT_MS`. A process that has claimed nothing has no lease to renew. */
  async beat(): Promise<void> {
    if (!this.#isShared || !this.#isStored) return;
    const leaseUntilMs = this.#realNowMs() + LEASE_MS;
    if (await this.#database.write((tx) => renewSession(tx, this.#fence, leaseUntilMs))) this.#leaseUntilMs = leaseUntilMs;
    else this.#renew();
  }

  /** Gives back the work of ended sessions, each in one transaction. Returns the number of sessions. */
  async takeOver(release: (tx: Transaction, fence: number) => Promise<void>): Promise<number> {
    // On SQLite the lock of the folder proves that all other sessions have ended.
    const beforeMs = this.#isShared ? this.#realNowMs() : Number.MAX_SAFE_INTEGER;
    const ended = await findEndedSessions(this.#database.reader, this.#fence, beforeMs);
    for (const fence of ended) {
      await this.#database.write(async (tx) => {
        if (await deleteSession(tx, fence)) await release(tx, fence);
      });
    }
    return ended.length;
  }

  /** Called at the end of the process: gives back the rows that it still holds, so that others can start their work at once. */
  async end(release: (tx: Transaction, fence: number) => Promise<void>): Promise<void> {
    if (!this.#isStored) return;
    const fence = this.#fence;
    this.#renew();
    await this.#database.write(async (tx) => {
      if (await deleteSession(tx, fence)) await release(tx, fence);
    });
  }

  #renew(): void {
    this.#fence = randomInt(1, FENCE_MAX);
    this.#isStored = false;
    this.#leaseUntilMs = 0;
  }
}
