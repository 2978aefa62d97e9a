/**
 * One process's right to work: rows that it claims carry its fence. Its lease is renewed while it lives; when it ends, another
 * process gives back what the fence still holds. A session that was given back works on under a new fence, and what it had
 * started under the old one can no longer be settled.
 *
 * Leases run on real time, since a world's time may stand still or leap; processes that share a database are expected to
 * agree on it within a few seconds.
 */
import { randomInt } from "node:crypto";
import type { Database, Transaction } from "#storage/database";
import { deleteSession, findEndedSessions, renewSession, saveSession } from "./work-sessions.store.ts";

/** Longer than the stalls of a living process, which would have its work done twice; also how long that of a killed one waits. */
export const LEASE_MS = 5_000;
/** Four beats may fail before the lease ends. */
export const BEAT_MS = 1_000;
/** Two processes draw the same number once in 2^47 pairs. */
const FENCE_MAX = 2 ** 47;

export class WorkSession {
  readonly #database: Database;
  readonly #realNowMs: () => number;
  /** Other processes may work on the same database; on SQLite one process holds the folder. */
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

  /** The fence once it is stored, where no other process can ever take it over: then rows may carry it from their beginning. */
  get soleFence(): number | undefined {
    return this.#isShared || !this.#isStored ? undefined : this.#fence;
  }

  /** What is claimed in `tx` carries the response. */
  async fenceFor(tx: Transaction): Promise<number> {
    if (!this.#isStored) {
      const leaseUntilMs = this.#realNowMs() + LEASE_MS;
      await saveSession(tx, this.#fence, leaseUntilMs);
      tx.afterCommit(() => {
        this.#isStored = true;
        this.#leaseUntilMs = leaseUntilMs;
      });
    }
    return this.#fence;
  }

  /** Whether what was claimed under `fence` is still this process's to do. */
  holds(fence: number): boolean {
    return fence === this.#fence && (!this.#isShared || this.#realNowMs() < this.#leaseUntilMs);
  }

  /** By its own clock, so that it also shows on a machine that slept, whose timers did as well. */
  get needsBeat(): boolean {
    return this.#isShared && this.#isStored && this.#realNowMs() >= this.#leaseUntilMs - LEASE_MS + BEAT_MS;
  }

  /** Every `BEAT_MS`. A process that has claimed nothing yet has nothing to renew. */
  async beat(): Promise<void> {
    if (!this.#isShared || !this.#isStored) return;
    const leaseUntilMs = this.#realNowMs() + LEASE_MS;
    if (await this.#database.write((tx) => renewSession(tx, this.#fence, leaseUntilMs))) this.#leaseUntilMs = leaseUntilMs;
    else this.#renew();
  }

  /** Gives back, in one transaction each, what sessions that have ended still hold. Returns how many there were. */
  async takeOver(release: (tx: Transaction, fence: number) => Promise<void>): Promise<number> {
    // On SQLite whoever else wrote a session is gone: the folder's lock says so.
    const beforeMs = this.#isShared ? this.#realNowMs() : Number.MAX_SAFE_INTEGER;
    const ended = await findEndedSessions(this.#database.reader, this.#fence, beforeMs);
    for (const fence of ended) {
      await this.#database.write(async (tx) => {
        if (await deleteSession(tx, fence)) await release(tx, fence);
      });
    }
    return ended.length;
  }

  /** At the end of the process: what is still held waits for others at once. */
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
