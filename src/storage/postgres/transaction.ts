/** The transaction object for one run of the body of a write. */
import { createHash } from "node:crypto";
import { nextTurn } from "#kernel/turns";
import { NotOneRow, type Transaction } from "../database.ts";
import { type Row, type Sql, sql } from "../sql.ts";
import type { Result } from "./pipelined-queries.ts";
import type { PoolConnection } from "./pool.ts";

/** The number of statements that may be sent without awaiting their results. The memory for 256 statements is about 100 kB. */
const SENT_MAX = 256;

/** The transaction of a connection in which the body of a write runs, alone or after other bodies. */
interface Place {
  readonly connection: PoolConnection;
  /** Whether the transaction already has the lock on the name that its write bodies lock first. */
  isLocked: boolean;
}

export class PostgresTransaction<P extends Place = Place> implements Transaction {
  readonly #enter: (slot: number | undefined) => Promise<P>;
  #entering: Promise<P> | undefined;
  #place: P | undefined;
  #isOpen = true;
  /** The error of the first failed statement. After a failure PostgreSQL runs no further statement of this transaction. */
  failure: unknown;
  /** A promise that settles when all statements that were sent without awaiting their results have ended. */
  #sent: Promise<void> = Promise.resolve();
  #sentCount = 0;
  /**
   * Whether the results must be awaited before COMMIT. The results of the statements must be awaited if PostgreSQL would not treat an unexpected
   * outcome of one of them as a failure, or if no response has yet proved that the connection works.
   */
  #isUnsure = true;
  readonly facts: (readonly [kind: string, key: string])[] = [];
  readonly actions: (() => void)[] = [];

  /**
   * `enter` resolves with the body's connection when all earlier bodies of the group have ended. `slot` is the lock slot of the name that the body of
   * the write locks first; it is undefined if the body does not begin with a lock.
   */
  constructor(enter: (slot: number | undefined) => Promise<P>) {
    this.#enter = enter;
  }

  /** Whether the body of the write has sent a statement. */
  get hasBegun(): boolean {
    return this.#entering !== undefined;
  }

  place(slot?: number): Promise<P> {
    this.#entering ??= this.#enter(slot).then((place) => {
      this.#place = place;
      return place;
    });
    return this.#entering;
  }

  async get<R extends Row>(statement: Sql): Promise<R | undefined> {
    return (await this.#query<R>(statement)).rows[0];
  }

  async all<R extends Row>(statement: Sql): Promise<R[]> {
    return (await this.#query<R>(statement)).rows;
  }

  pause(): Promise<void> {
    return nextTurn();
  }

  async run(statement: Sql): Promise<number> {
    return (await this.#query(statement)).rowCount;
  }

  /**
   * Sends a statement without awaiting its result, so that the next statement can be sent at once. If a statement that is not awaited fails, the next
   * awaited statement or COMMIT reports the failure.
   */
  runOne(statement: Sql): Promise<void> {
    this.#isUnsure ||= !insertsOrFails(statement.query.text);
    return this.#send(statement, (changed) => {
      if (changed !== 1) this.failure ??= new NotOneRow(changed, statement);
    });
  }

  /**
   * Locks a row instead of taking an advisory lock, so that two transactions that both commit can never have had the lock at the same time, not even
   * across a failover. Transactions whose names share a lock slot wait for each other; after a deadlock one of them runs again. `lock` does not await
   * its result: the next statement runs when the row is locked, and sees everything that was committed by then.
   */
  async lock(scope: string, key: string): Promise<void> {
    this.#check();
    const slot = lockSlot(scope, key);
    const isFirst = !this.hasBegun;
    const place = await this.place(slot);
    if (isFirst && place.isLocked) return;
    if (isFirst) place.isLocked = true;
    this.#isUnsure = true;
    await this.#send(sql`SELECT l.slot FROM locks l WHERE l.slot = ${slot} FOR NO KEY UPDATE`, (locked) => {
      if (locked !== 1) this.failure ??= new Error("the row of a lock is missing");
    });
  }

  skipLocked(alias: string): string {
    return `FOR UPDATE OF ${alias} SKIP LOCKED`;
  }

  invalidate(kind: string, key: string): void {
    this.#check();
    this.facts.push([kind, key]);
  }

  afterCommit(action: () => void): void {
    this.#check();
    this.actions.push(action);
  }

  end(): void {
    this.#isOpen = false;
  }

  /**
   * Waits for the results of all sent statements. The group of write bodies calls this method before COMMIT, because after COMMIT a statement that
   * changed a wrong number of rows cannot be rolled back, and after a broken connection nobody knows which writes are stored. When `settle` resolves,
   * the statements of earlier write bodies on the same connection have ended too.
   */
  async settle(): Promise<void> {
    if (this.#isUnsure) await this.#sent;
  }

  async #query<R extends Row>(statement: Sql): Promise<Result<R>> {
    this.#check();
    const { connection } = this.#place ?? (await this.place());
    try {
      const result = await connection.send<R>(statement);
      // The results arrive in the order of the statements, so all earlier statements have ended when the last result arrives.
      if (this.failure !== undefined) throw this.failure;
      this.#isUnsure = false;
      return result;
    } catch (error) {
      this.failure ??= error;
      throw this.failure;
    }
  }

  async #send(statement: Sql, ended: (changed: number) => void): Promise<void> {
    this.#check();
    const { connection } = this.#place ?? (await this.place());
    this.#sent = connection.send(statement).then(
      ({ rowCount }) => ended(rowCount),
      (error) => {
        this.failure ??= error;
      },
    );
    // An import sends thousands of statements. The results of statements that are not awaited are awaited from time to time, so that they do not fill
    // the memory.
    if (++this.#sentCount % SENT_MAX === 0) await this.#sent;
  }

  #check(): void {
    if (!this.#isOpen) throw new Error("a transaction was used after its body had ended");
    if (this.failure !== undefined) throw this.failure;
  }
}

/** Whether the statement either inserts one row or fails. After a failed statement PostgreSQL turns COMMIT into ROLLBACK. */
const insertsOrFails = (text: string): boolean => text.trimStart().startsWith("INSERT") && !text.includes("ON CONFLICT") && !text.includes("SELECT");

const digest = (parts: readonly string[]): Buffer => createHash("sha256").update(JSON.stringify(parts)).digest();

/**
 * Returns the key of an advisory lock. All schemas of a database share the keys of advisory locks, so the key of an advisory lock is 64 bits of a
 * hash, written as a signed decimal.
 */
export const lockKey = (schema: string, purpose: string): string => digest([schema, purpose, ""]).readBigInt64BE().toString();

/**
 * The number of rows in the table `locks`. The table `locks` has so few rows that they stay in memory, and so many that two names seldom share a row
 * (slot).
 */
export const LOCK_SLOTS = 1_024;

/** Returns the row of the table `locks` for a name. */
const lockSlot = (scope: string, key: string): number => digest([scope, key]).readUInt32BE() % LOCK_SLOTS;
