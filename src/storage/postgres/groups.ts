/**
 * Groups the bodies of writes into transactions. Write bodies that begin by locking the same name run one after another anyway, so bodies of one
 * process with the same name share a transaction, and one commit serves all of them. Every write body that does not begin with a lock has its own
 * transaction.
 *
 * **Invariant:** no caller gets a result, not even the error of its own write body, before everything that this body may have read is committed.
 * **Invariant:** if a write body throws, only the writes of this body are rolled back. If the transaction fails for another reason, it is rolled back
 * completely, and each body runs again in its own transaction.
 */
import { fewAtOnce } from "#kernel/turns";
import { runAction, type Transaction } from "../database.ts";
import { type Sql, sql } from "../sql.ts";
import { announcement, failureOf, named, rollback } from "./ends.ts";
import { isConnectionFailure, isStalePlan, isTimeout, isTransient } from "./failures.ts";
import type { Pool, PoolConnection } from "./pool.ts";
import { PostgresTransaction } from "./transaction.ts";

/**
 * The maximum number of write bodies in one transaction. The number is 64 because PostgreSQL shows up to 64 savepoints of a transaction to other
 * sessions cheaply. A write body takes about 0.1 ms, so another process that waits for the lock of the same name gets it within milliseconds.
 */
const BODIES_MAX = 60;
/**
 * The number of callers that continue at the same time after a commit, so that the next group's statements are sent in between. If 4 callers continue
 * at a time, the server handles 20 % more creates per second than if all callers continue at the same time.
 */
const ENDED_AT_ONCE = 4;

const BEGIN = sql`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE`;
/** The group does not release its savepoints, because the next savepoint has the same name, and COMMIT ends all savepoints. */
const SAVEPOINT = sql`SAVEPOINT body`;
const COMMIT = sql`COMMIT`;

/** The error for a write body whose transaction was rolled back because of another failure, so that the body runs again. */
export class Undone extends Error {
  /** Whether the connection was dead before the transaction began. A run of the body on a dead connection does not count as an attempt. */
  readonly wasStale: boolean;

  constructor(cause: unknown, wasStale: boolean) {
    super("the transaction was rolled back", { cause });
    this.wasStale = wasStale;
  }
}

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/** A write body that has ended, and whose caller is waiting for the commit. */
interface Ended {
  readonly transaction: PostgresTransaction;
  readonly outcome: Outcome<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Waiting {
  resolve(group: Group): void;
  reject(error: unknown): void;
}

export class Groups {
  readonly #shared: Shared;
  /** The groups that accept further write bodies, keyed by the lock slot of the name that their bodies lock. */
  readonly #open = new Map<number, Group>();

  constructor(pool: Pool, schema: string, emit: (kind: string, key: string) => void) {
    this.#shared = { pool, schema, emit };
  }

  /** Runs the body of a write in a group. The promise rejects with the error of the write body, with PostgreSQL's error, or with `Undone`. */
  async run<T>(body: (tx: Transaction) => Promise<T>, isAlone: boolean): Promise<T> {
    const transaction = new PostgresTransaction<Group>((slot) => (isAlone ? this.#begin() : this.#enter(slot)));
    let outcome: Outcome<T>;
    try {
      outcome = { value: await body(transaction) };
    } catch (error) {
      outcome = { error };
    }
    transaction.end();
    // A write body that throws before its first statement is not in a transaction yet.
    if (!transaction.hasBegun && "error" in outcome) throw outcome.error;
    return (await transaction.place()).leave(transaction, outcome);
  }

  #enter(slot: number | undefined): Promise<Group> {
    const open = slot === undefined ? undefined : this.#open.get(slot);
    return open?.turn() ?? this.#begin(slot);
  }

  async #begin(slot?: number): Promise<Group> {
    const group: Group = new Group(this.#shared, () => {
      if (slot !== undefined && this.#open.get(slot) === group) this.#open.delete(slot);
    });
    if (slot !== undefined) this.#open.set(slot, group);
    await group.begin();
    return group;
  }
}

/** The objects that all groups of a database share. */
interface Shared {
  readonly pool: Pool;
  readonly schema: string;
  emit(kind: string, key: string): void;
}

/** One transaction, with the write bodies that share it. */
export class Group {
  readonly #shared: Shared;
  /** The group calls this function when it no longer accepts write bodies. */
  readonly #onClosed: () => void;
  #connection: PoolConnection | undefined;
  isLocked = false;
  #bodies = 1;
  /** Whether the body of a write is running or is being rolled back. */
  #isTaken = true;
  readonly #waiting: Waiting[] = [];
  readonly #ended: Ended[] = [];
  /** The write bodies that have ended and whose writes are in the transaction. */
  readonly #kept: Ended[] = [];
  /** The error of the first failed statement among the statements that the group itself sent. */
  #failure: unknown;
  #isEnding = false;
  #isCommitting = false;

  constructor(shared: Shared, onClosed: () => void) {
    this.#shared = shared;
    this.#onClosed = onClosed;
  }

  get connection(): PoolConnection {
    if (this.#connection === undefined) throw new Error("the transaction has not begun");
    return this.#connection;
  }

  /** Acquires a connection for the group. BEGIN is sent together with the next statement. */
  async begin(): Promise<void> {
    try {
      this.#connection = await this.#shared.pool.acquire(this.#shared.schema);
      this.#send(BEGIN);
    } catch (error) {
      this.#onClosed();
      for (const { reject } of this.#waiting) reject(error);
      throw error;
    }
  }

  /** Adds a write body to the group. The returned promise resolves when all earlier write bodies of the group have ended. */
  turn(): Promise<Group> {
    if (++this.#bodies === BODIES_MAX) this.#onClosed();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (!this.#isTaken) this.#next();
    });
  }

  /**
   * `Groups` calls this method when a write body has ended. The returned promise resolves with the value of the write body when the body's writes are
   * durable.
   */
  leave<T>(transaction: PostgresTransaction, outcome: Outcome<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // A failed statement ends the transaction, even if the write body catches the error.
      const isSwallowed = transaction.failure !== undefined && !("error" in outcome);
      const ended = { transaction, outcome: isSwallowed ? { error: transaction.failure } : outcome, resolve: resolve as Ended["resolve"], reject };
      this.#ended.push(ended);
      this.#goOn(ended).catch((error) => this.#fail(error));
    });
  }

  /** Sends a statement without awaiting its result. If the statement that was not awaited fails, the next statement of a body or COMMIT fails too. */
  #send(statement: Sql): void {
    this.connection.send(statement).catch((error) => {
      this.#failure ??= error;
    });
  }

  async #goOn(ended: Ended): Promise<void> {
    if ("error" in ended.outcome) await this.#undo(ended, ended.outcome.error);
    else this.#kept.push(ended);
    this.#isTaken = false;
    if (this.#waiting.length > 0) this.#next();
    else await this.#commit();
  }

  #next(): void {
    this.#isTaken = true;
    this.#send(this.#kept.length > 0 ? SAVEPOINT : BEGIN);
    this.#waiting.shift()?.resolve(this);
  }

  /** Rolls back the writes of the write body that has just failed. */
  async #undo({ transaction }: Ended, error: unknown): Promise<void> {
    // Before the rollback the group waits for all statements of the body, because the body may have thrown after another process deleted a row.
    await transaction.settle();
    const failure = failureOf(transaction, error);
    // The body runs again, because another attempt may succeed after a transient failure.
    if (isTransient(failure)) throw failure;
    if (this.#kept.length > 0) await this.connection.execute("ROLLBACK TO SAVEPOINT body");
    else {
      await rollback(this.connection);
      this.isLocked = false;
    }
  }

  async #commit(): Promise<void> {
    const last = this.#kept.at(-1);
    await last?.transaction.settle();
    // If further write bodies entered the group meanwhile, the last of these bodies commits the transaction.
    if (this.#isTaken || this.#isEnding || this.#kept.at(-1) !== last) return;
    this.#isEnding = true;
    this.#onClosed();
    for (const { transaction } of this.#kept) if (transaction.failure !== undefined) throw transaction.failure;
    if (this.#kept.length > 0) {
      const facts = this.#kept.flatMap(({ transaction }) => transaction.facts);
      if (facts.length > 0) this.#send(announcement(this.#shared.schema, facts));
      // If the connection breaks after this line, nobody knows whether the writes are stored, so the writes are not repeated.
      this.#isCommitting = true;
      const { command } = await this.connection.query(COMMIT);
      // PostgreSQL answers COMMIT with ROLLBACK if a statement failed and no code awaited its outcome.
      if (command !== "COMMIT") throw new Error("the transaction was rolled back at its commit");
      for (const [kind, key] of facts) this.#shared.emit(kind, key);
    }
    this.#shared.pool.release(this.connection);
    await fewAtOnce(this.#ended, ENDED_AT_ONCE, ({ transaction, outcome, resolve, reject }) => {
      if ("error" in outcome) reject(outcome.error);
      else {
        for (const action of transaction.actions) runAction(action);
        resolve(outcome.value);
      }
    });
  }

  /** Ends the group of write bodies after a failure. After a failure either the transaction was not stored, or nobody knows whether it was stored. */
  async #fail(error: unknown): Promise<void> {
    this.#isEnding = true;
    this.#onClosed();
    const { connection } = this;
    const reason = named(this.#firstFailure() ?? error);
    const isLost = isConnectionFailure(reason);
    if (isLost || isStalePlan(reason)) connection.isBroken = true;
    else await rollback(connection);
    this.#shared.pool.release(connection);
    // A used connection that broke does not return to the pool. Because broken connections leave the pool, a write body that runs again gets a new
    // connection after a few attempts, and those attempts are not counted.
    const wasStale = connection.isBroken && connection.wasUsed && !(isLost && this.#isCommitting) && !isTimeout(reason);
    const all = [...this.#ended, ...this.#waiting];
    const thrown = wasStale || (all.length > 1 && !isLost) ? new Undone(reason, wasStale) : reason;
    for (const { reject } of all) reject(thrown);
  }

  /**
   * Returns the first failure of the transaction. The first failure may belong to a body that did not await its last statements and that made later
   * bodies fail.
   */
  #firstFailure(): unknown {
    return this.#kept.find(({ transaction }) => transaction.failure !== undefined)?.transaction.failure ?? this.#failure;
  }
}
