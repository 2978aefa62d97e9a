/** One attempt at a write on one connection. */
import { NotOneRow, type Transaction } from "../database.ts";
import { type Row, type Sql, sql } from "../sql.ts";
import { lockSlot } from "./lock-key.ts";
import type { PoolConnection } from "./pool.ts";

/** A notification holds 8,000 bytes at most; if the facts do not fit, it announces that everything changed. */
const FACTS_BYTES_MAX = 7_500;
/** Statements that are on their way at once, some 100 kB. */
const SENT_MAX = 256;

export class PostgresTransaction implements Transaction {
  readonly #connection: PoolConnection;
  readonly #schema: string;
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

  constructor(connection: PoolConnection, schema: string) {
    this.#connection = connection;
    this.#schema = schema;
  }

  async get<R extends Row>(statement: Sql): Promise<R | undefined> {
    return (await this.#query<R>(statement)).rows[0];
  }

  async all<R extends Row>(statement: Sql): Promise<R[]> {
    return (await this.#query<R>(statement)).rows;
  }

  async run(statement: Sql): Promise<number> {
    return (await this.#query(statement)).rowCount ?? 0;
  }

  /** Sent, and not waited for: what comes next is on its way at once. A failure appears there, or at COMMIT. */
  runOne(statement: Sql): Promise<void> {
    this.#isUnsure ||= !insertsOrFails(statement.query.text);
    return this.#send(statement, (changed) => {
      if (changed !== 1) this.failure ??= new NotOneRow(changed, statement);
    });
  }

  runAny(statement: Sql): Promise<unknown> {
    return this.#send(statement, () => {});
  }

  /**
   * A row, not an advisory lock: no two transactions that both commit ever had it at once, also across a failover. Names that share
   * a slot wait for each other; crosswise that is a deadlock, after which one of them runs again.
   */
  async lock(scope: string, key: string): Promise<void> {
    const slot = lockSlot(scope, key);
    const locked = async () => (await this.#query(sql`SELECT l.slot FROM locks l WHERE l.slot = ${slot} FOR NO KEY UPDATE`)).rowCount === 1;
    if (await locked()) return;
    // The first to lock this slot ever; another one may be doing the same.
    await this.#query(sql`INSERT INTO locks (slot) VALUES (${slot}) ON CONFLICT DO NOTHING`);
    if (!(await locked())) throw new Error("the row of a lock is missing");
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
   * The generation counts the transactions of a slot that changed facts, in the order of their commits, since its row is locked
   * until then. A process that misses a notification finds it there (see `fact-channel.ts`). Connections rarely share a slot, so they
   * do not wait for each other's commits. Sent right before COMMIT.
   */
  async announceFacts(): Promise<void> {
    const facts = JSON.stringify(this.facts);
    const announced = Buffer.byteLength(facts) > FACTS_BYTES_MAX ? "null" : facts;
    await this.#connection.query(sql`
      WITH counted AS (
        INSERT INTO fact_generations (slot, generation) VALUES (pg_backend_pid() % 256, 1)
        ON CONFLICT (slot) DO UPDATE SET generation = fact_generations.generation + 1 RETURNING slot, generation)
      SELECT pg_notify(${this.#schema}, slot || ' ' || generation || ' ' || ${announced}) FROM counted`);
  }

  /** Before COMMIT: afterwards a wrong number of changed rows could not be undone, and a dead connection leaves open what was stored. */
  async settle(): Promise<void> {
    if (this.#isUnsure) await this.#sent;
    if (this.failure !== undefined) throw this.failure;
  }

  async #query<R extends Row>(statement: Sql): Promise<{ rows: R[]; rowCount: number | null }> {
    this.#check();
    try {
      const result = await this.#connection.query<R>(statement);
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
    this.#sent = this.#connection.query(statement).then(
      ({ rowCount }) => ended(rowCount ?? 0),
      (error) => {
        this.failure ??= error;
      },
    );
    // Where thousands follow one another, as in an import, they do not pile up here.
    if (++this.#sentCount % SENT_MAX === 0) await this.#sent;
  }

  #check(): void {
    if (!this.#isOpen) throw new Error("a transaction was used after its body had ended");
    if (this.failure !== undefined) throw this.failure;
  }
}

/** Changes one row or fails, and a failure turns COMMIT into ROLLBACK. */
const insertsOrFails = (text: string): boolean => text.trimStart().startsWith("INSERT") && !text.includes("ON CONFLICT") && !text.includes("SELECT");
