/**
 * All writes on SQLite go through this queue (ARCHITECTURE.md, idea 5). Write bodies run one at a time, and one commit serves all waiting bodies,
 * because a durable commit takes a disk sync, and a small body takes only microseconds.
 *
 * **Invariant:** no caller gets a result, not even the error of its own write body, before the commit of the group: the error of a body may be caused
 * by a write of an earlier body in the group.
 * **Invariant:** a group of write bodies is committed completely or not at all; if one body throws, only the writes of this body are rolled back.
 */
import { databaseUnreachable } from "#kernel/errors";
import { runAction, type Transaction } from "../database.ts";
import type { DatabaseHealth } from "../database-health.ts";
import { type Connection, translated } from "./connection.ts";
import { SqliteTransaction } from "./transaction.ts";

/** The maximum number of write bodies in one commit. A write body takes about 10 µs, so 1,000 bodies block the event loop for about 10 ms. */
const GROUP_MAX = 1_000;
/**
 * The number of statements after which no further write body runs in the group. The number of statements is limited because the bodies of some writes
 * change many rows.
 */
const GROUP_STATEMENTS_MAX = 5_000;

export interface WriteQueueEvents {
  readonly health: DatabaseHealth;
  /**
   * The queue calls `beforeGroup` before each group of bodies, and `afterGroup` after each group. If `beforeGroup` or `afterGroup` throws, the queue
   * acknowledges no write of the group.
   */
  beforeGroup(): void;
  afterGroup(): void;
  /** Ends the readers' transactions, so that after a write is acknowledged nobody reads data from before that write. */
  beforeCommit(): void;
  onFact(kind: string, key: string): void;
  /** The queue calls this function after a commit, with the number of the commit's writes. */
  readonly onCommit: ((writes: number) => void) | undefined;
}

interface Job {
  readonly body: (tx: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Outcome {
  readonly job: Job;
  readonly transaction: SqliteTransaction;
  readonly hasFailed: boolean;
  /** The value that the body of the write returned, or the error that it threw. */
  readonly result: unknown;
}

export class WriteQueue {
  readonly #connection: Connection;
  readonly #events: WriteQueueEvents;
  readonly #begin: () => void;
  readonly #commit: () => void;
  readonly #rollback: () => void;
  readonly #savepoint: () => void;
  readonly #release: () => void;
  readonly #rollbackTo: () => void;
  #waiting: Job[] = [];
  #isActive = false;
  #whenIdle: (() => void)[] = [];
  #stopOverdue: (() => void) | undefined;
  #watcher: ReturnType<typeof setImmediate> | undefined;

  constructor(connection: Connection, events: WriteQueueEvents) {
    this.#connection = connection;
    this.#events = events;
    this.#begin = connection.prepare("BEGIN IMMEDIATE");
    this.#commit = connection.prepare("COMMIT");
    this.#rollback = connection.prepare("ROLLBACK");
    this.#savepoint = connection.prepare("SAVEPOINT body");
    this.#release = connection.prepare("RELEASE body");
    this.#rollbackTo = connection.prepare("ROLLBACK TO body");
  }

  write<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ body, resolve: resolve as (value: unknown) => void, reject });
      if (!this.#isActive) {
        this.#isActive = true;
        this.#wake();
      }
    });
  }

  /** Resolves when no write body is waiting or running. */
  idle(): Promise<void> {
    return this.#isActive ? new Promise((resolve) => this.#whenIdle.push(resolve)) : Promise.resolve();
  }

  /** Runs the waiting write bodies after the current turn of the event loop, so that all writes of this turn share the commit. */
  #wake(): void {
    setImmediate(() => {
      void this.#runGroup().then(() => {
        if (this.#waiting.length > 0) {
          this.#wake();
          return;
        }
        this.#isActive = false;
        for (const resolve of this.#whenIdle.splice(0)) resolve();
      });
    });
  }

  async #runGroup(): Promise<void> {
    const group = this.#waiting.splice(0, GROUP_MAX);
    let outcomes: Outcome[] = [];
    this.#watch();
    try {
      this.#events.beforeGroup();
      this.#begin();
      if (!(await this.#runBodies(group, outcomes, false))) {
        this.#rollback();
        outcomes = [];
        this.#begin();
        await this.#runBodies(group, outcomes, true);
      }
      this.#events.beforeCommit();
      this.#commit();
      this.#events.afterGroup();
    } catch (error) {
      // Handles the failure of a group of write bodies, none of whose writes is stored. The writes of the bodies that ran are rejected; the other
      // bodies run again in the next group. If BEGIN failed, the writes of all bodies are rejected.
      if (this.#connection.inTransaction) runAction(this.#rollback);
      this.#noteUndone();
      const refused = outcomes.length === 0 ? group.length : outcomes.length;
      this.#waiting = [...group.slice(refused), ...this.#waiting];
      translated(error, this.#events.health);
      const unreachable = Object.assign(databaseUnreachable(), { cause: error });
      for (const job of group.slice(0, refused)) job.reject(unreachable);
      return;
    } finally {
      clearImmediate(this.#watcher);
    }
    const taken = outcomes.length;
    if (taken < group.length) this.#waiting = [...group.slice(taken), ...this.#waiting];
    if (outcomes.some(({ hasFailed }) => !hasFailed)) this.#events.health.worked(true);
    this.#events.onCommit?.(taken);
    this.#response(outcomes);
  }

  #noteUndone(): void {
    try {
      this.#events.afterGroup();
    } catch {
      // An error of this call is ignored, because the group is rejected anyway.
    }
  }

  /**
   * Runs the write bodies without savepoints, because with a savepoint SQLite copies every page that changes, and bodies rarely fail after a write.
   * If a write body fails after a write, the method returns false, and the group runs again with a savepoint for each body. It is safe to run a write
   * body twice, because a body has effects only through its `tx`.
   */
  async #runBodies(group: readonly Job[], outcomes: Outcome[], isEachGuarded: boolean): Promise<boolean> {
    let statements = 0;
    for (const job of group) {
      if (statements >= GROUP_STATEMENTS_MAX) break;
      const transaction = new SqliteTransaction(this.#connection);
      if (isEachGuarded) this.#savepoint();
      this.#connection.hasWritten = false;
      const outcome = await this.#runBody(job, transaction);
      outcomes.push(outcome);
      statements += transaction.statements;
      // On some failures (disk full) SQLite ends the whole transaction. After such a failure the other bodies of the group must not run, because they
      // would run outside a transaction.
      if (!this.#connection.inTransaction) throw transaction.failure ?? outcome.result;
      if (isEachGuarded) {
        if (outcome.hasFailed) this.#rollbackTo();
        this.#release();
      } else if (outcome.hasFailed && this.#connection.hasWritten) return false;
    }
    return true;
  }

  /**
   * Rejects a write whose body does not end. The results of `tx` are available in the turn of the event loop in which the group runs. If
   * a write body still runs in the next turn of the event loop, it is waiting for something other than its `tx`, and would block every writer.
   */
  #watch(): void {
    this.#watcher = setImmediate(() => {
      this.#watch();
      this.#stopOverdue?.();
    });
  }

  async #runBody(job: Job, transaction: SqliteTransaction): Promise<Outcome> {
    let hasFailed = false;
    let result: unknown;
    try {
      result = await new Promise((resolve, reject) => {
        this.#stopOverdue = () => {
          if (!transaction.isPausing) reject(new Error("the body of a write awaited something other than its transaction"));
        };
        job.body(transaction).then(resolve, reject);
      });
    } catch (error) {
      hasFailed = true;
      result = error;
    }
    this.#stopOverdue = undefined;
    transaction.end();
    // On SQLite, as on PostgreSQL, a failed statement ends the transaction, even if the write body catches the error.
    if (transaction.failure !== undefined && !hasFailed) {
      hasFailed = true;
      result = transaction.failure;
    }
    return { job, transaction, hasFailed, result };
  }

  #response(outcomes: readonly Outcome[]): void {
    for (const { transaction, hasFailed } of outcomes) {
      if (hasFailed) continue;
      for (const [kind, key] of transaction.facts) runAction(() => this.#events.onFact(kind, key));
    }
    for (const { job, transaction, hasFailed, result } of outcomes) {
      if (hasFailed) {
        job.reject(translated(result, this.#events.health));
        continue;
      }
      for (const action of transaction.actions) runAction(action);
      job.resolve(result);
    }
  }
}
