/**
 * A session gives one process the right to claim work. Each row that the process claims contains the session's fence, which is a number. The process
 * renews the session's lease as long as it runs. After the lease of a session has expired, another process gives back the rows with the session's
 * fence. A process that lost its lease continues with a new fence, and can no longer settle work that it started with the old fence.
 *
 * Leases use real time, because a world's time can be frozen or moved. The clocks of processes that share a database must agree within a few
 * seconds.
 */
import { randomInt } from "node:crypto";
import type { Database, Transaction } from "#storage/database";
import { deleteSession, findEndedSessions, renewSession, saveSession } from "./work-sessions.store.ts";

/**
 * The length of a lease. The lease is longer than a process usually stalls, because the work of a stalled process would otherwise be done twice. If a
 * process is killed, another process continues its work when the lease has expired.
 */
export const LEASE_MS = 5_000;
/** The interval at which a lease is renewed, so that four renewals can fail before the lease ends. */
export const BEAT_MS = 1_000;
/** The upper limit of fences, which are random numbers. Of 2^47 pairs of processes, about one pair draws the same number. */
const FENCE_MAX = 2 ** 47;

export class WorkSession {
  readonly #database: Database;
  readonly #realNowMs: () => number;
  /** Whether other processes may use the same database. On SQLite no other process can use the database, because one process locks the folder. */
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
   * The stored fence, if no other process can take over this session. If the fence is defined, new rows can be stored with this fence from the start.
   * The fence is undefined if another process can take over the session.
   */
  get soleFence(): number | undefined {
    return this.#isShared || !this.#isStored ? undefined : this.#fence;
  }

  /**
   * Returns the fence for rows that are claimed in `tx`. The method stores the session in the same transaction, even if another process has just
   * replaced the world's data. If the session were not stored, no process would ever give back the claimed rows.
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

  /** Whether this process may still work on rows that it claimed with `fence`. */
  holds(fence: number): boolean {
    return fence === this.#fence && (!this.#isShared || this.#realNowMs() < this.#leaseUntilMs);
  }

  /** Whether the lease must be renewed now. The method compares real times instead of using a timer, because timers stop while a machine sleeps. */
  get needsBeat(): boolean {
    return this.#isShared && this.#isStored && this.#realNowMs() >= this.#leaseUntilMs - LEASE_MS + BEAT_MS;
  }

  /** Renews the lease. The loop calls this method every `BEAT_MS`. A process that has not claimed work does not have a lease. */
  async beat(): Promise<void> {
    if (!this.#isShared || !this.#isStored) return;
    const leaseUntilMs = this.#realNowMs() + LEASE_MS;
    if (await this.#database.write((tx) => renewSession(tx, this.#fence, leaseUntilMs))) this.#leaseUntilMs = leaseUntilMs;
    else this.#renew();
  }

  /** Gives back the work of ended sessions, with one transaction for each session. Returns the number of ended sessions whose work was given back. */
  async takeOver(release: (tx: Transaction, fence: number) => Promise<void>): Promise<number> {
    // On SQLite this process has the lock of the folder, so all other sessions have ended.
    const beforeMs = this.#isShared ? this.#realNowMs() : Number.MAX_SAFE_INTEGER;
    const ended = await findEndedSessions(this.#database.reader, this.#fence, beforeMs);
    for (const fence of ended) {
      await this.#database.write(async (tx) => {
        if (await deleteSession(tx, fence)) await release(tx, fence);
      });
    }
    return ended.length;
  }

  /**
   * Gives back the rows that the process has claimed, so that other processes can start their work at once. The program calls this method when the
   * process ends.
   */
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
