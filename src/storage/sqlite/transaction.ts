/**
 * The transaction object for one write body of the write queue. The statements of the write body run immediately, inside the transaction of the
 * body's group.
 */
import { nextTurn } from "#kernel/turns";
import { NotOneRow, type Transaction } from "../database.ts";
import type { Row, Sql } from "../sql.ts";
import type { Connection } from "./connection.ts";

const NOTHING: readonly never[] = [];

export class SqliteTransaction implements Transaction {
  readonly #connection: Connection;
  #isOpen = true;
  #facts: (readonly [string, string])[] | undefined;
  #actions: (() => void)[] | undefined;
  /** The error of the first failed statement. After a failed statement the transaction runs no further statement. */
  failure: unknown;
  statements = 0;
  isPausing = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async pause(): Promise<void> {
    this.isPausing = true;
    await nextTurn();
    this.isPausing = false;
  }

  get facts(): readonly (readonly [string, string])[] {
    return this.#facts ?? NOTHING;
  }

  get actions(): readonly (() => void)[] {
    return this.#actions ?? NOTHING;
  }

  end(): void {
    this.#isOpen = false;
  }

  async get<R extends Row>(statement: Sql): Promise<R | undefined> {
    this.#check();
    try {
      return this.#connection.get<R>(statement);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async all<R extends Row>(statement: Sql): Promise<R[]> {
    this.#check();
    try {
      return this.#connection.all<R>(statement);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async run(statement: Sql): Promise<number> {
    this.#check();
    try {
      return this.#connection.run(statement);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async runOne(statement: Sql): Promise<void> {
    this.#check();
    let changed: number;
    try {
      changed = this.#connection.run(statement);
    } catch (error) {
      throw this.#failed(error);
    }
    if (changed !== 1) throw this.#failed(new NotOneRow(changed, statement));
  }

  async lock(_scope: string, _key: string): Promise<void> {
    this.#check();
  }

  skipLocked(_alias: string): string {
    return "";
  }

  invalidate(kind: string, key: string): void {
    this.#check();
    this.#facts ??= [];
    this.#facts.push([kind, key]);
  }

  afterCommit(action: () => void): void {
    this.#check();
    this.#actions ??= [];
    this.#actions.push(action);
  }

  #check(): void {
    if (!this.#isOpen) throw new Error("a transaction was used after its body had ended");
    if (this.failure !== undefined) throw this.failure;
    this.statements++;
  }

  #failed(error: unknown): unknown {
    this.failure = error;
    return error;
  }
}
