/** One run of the body of a write. */
import { createHash } from "node:crypto";
import { NotOneRow, type Transaction } from "../database.ts";
import { type Row, type Sql, sql } from "../sql.ts";
import type { Result } from "./pipelined-queries.ts";
import type { PoolConnection } from "./pool.ts";

/** Statements that are on their way at once, some 100 kB. */
const SENT_MAX = 256;

/** The connection of a transaction, which runs alone or after others. */
interface Place {
  readonly connection: PoolConnection;
  /** The name that its bodies begin with is locked. */
  isLocked: boolean;
}

export class PostgresTransaction<P extends Place = Place> implements Transaction {
  readonly #enter: (slot: number | undefined) => Promise<P>;
  #entering: Promise<P> | undefined;
  #place: P | undefined;
  #isOpen = true;
  /** The first failed statement; PostgreSQL runs no further statement of this transaction. */
  failure: unknown;
  /** Settles after all that was sent without waiting for it. */
  #sent: Promise<void> = Promise.resolve();
  #sentCount = 0;
  /** Something was sent of which PostgreSQL itself does not refuse the wrong outcome, or nothing shows yet that the connection is alive. */
  #isUnsure = true;
  readonly facts: (readonly [kind: string, key: string])[] = [];
  readonly actions: (() => void)[] = [];

  /** `enter`: resolves with its place when it is its turn; `slot` is that of the name that it locks before anything else. */
  constructor(enter: (slot: number | undefined) => Promise<P>) {
    this.#enter = enter;
  }

  /** It has asked for something. */
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

  async pause(): Promise<void> {}

  async run(statement: Sql): Promise<number> {
    return (await this.#query(statement)).rowCount;
  }

  /** Sent, and not waited for: what comes next is on its way at once. A failure appears there, or at COMMIT. */
  runOne(statement: Sql): Promise<void> {
    this.#isUnsure ||= !insertsOrFails(statement.query.text);
    return this.#send(statement, (changed) => {
      if (changed !== 1) this.failure ??= new NotOneRow(changed, statement);
    });
  }

  /**
   * A row, not an advisory lock: no two transactions that both commit ever had it at once, also across a failover. Names that share
   * a slot wait for each other; crosswise that is a deadlock, after which one of them runs again. Sent, and not waited for: what comes
   * next is carried out when the row is locked, and sees what was committed by then.
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
   * Before COMMIT: afterwards a wrong number of changed rows could not be undone, and a dead connection leaves open what was stored. Bodies
   * that ran before it on the connection are settled then, too.
   */
  async settle(): Promise<void> {
    if (this.#isUnsure) await this.#sent;
  }

  async #query<R extends Row>(statement: Sql): Promise<Result<R>> {
    this.#check();
    const { connection } = this.#place ?? (await this.place());
    try {
      const result = await connection.send<R>(statement);
      // Results come in the order of the statements, so all that was sent before has ended.
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
    // An import sends thousands of statements; they must not pile up here.
    if (++this.#sentCount % SENT_MAX === 0) await this.#sent;
  }

  #check(): void {
    if (!this.#isOpen) throw new Error("a transaction was used after its body had ended");
    if (this.failure !== undefined) throw this.failure;
  }
}

/** Changes one row or fails, and a failure turns COMMIT into ROLLBACK. */
const insertsOrFails = (text: string): boolean => text.trimStart().startsWith("INSERT") && !text.includes("ON CONFLICT") && !text.includes("SELECT");

const digest = (parts: readonly string[]): Buffer => createHash("sha256").update(JSON.stringify(parts)).digest();

/** Advisory locks are numbers, and shared by all schemas of a database: 64 bits of a hash, as a signed decimal. */
export const lockKey = (schema: string, purpose: string): string => digest([schema, purpose, ""]).readBigInt64BE().toString();

/** Few enough that their rows stay in memory, and so many that two names seldom share one. */
export const LOCK_SLOTS = 1_024;

/** The row of `locks` for a name. */
const lockSlot = (scope: string, key: string): number => digest([scope, key]).readUInt32BE() % LOCK_SLOTS;
