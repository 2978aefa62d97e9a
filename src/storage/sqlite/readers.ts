/** Implements the interface `Reader` on a synchronous connection. */
import type { Reader } from "../database.ts";
import type { DatabaseHealth } from "../database-health.ts";
import type { Row, Sql } from "../sql.ts";
import { type Connection, translated } from "./connection.ts";

/** Reads through a connection, and returns the results as promises. */
export class ConnectionReader implements Reader {
  readonly #connection: Connection;
  readonly #health: DatabaseHealth;

  constructor(connection: Connection, health: DatabaseHealth) {
    this.#connection = connection;
    this.#health = health;
  }

  async get<R extends Row>(statement: Sql): Promise<R | undefined> {
    try {
      return this.#connection.get<R>(statement);
    } catch (error) {
      throw translated(error, this.#health);
    }
  }

  async all<R extends Row>(statement: Sql): Promise<R[]> {
    try {
      return this.#connection.all<R>(statement);
    } catch (error) {
      throw translated(error, this.#health);
    }
  }
}

/**
 * Reads committed data. A statement outside a transaction locks and unlocks the log, which is most of the cost of a look-up (measured: 2.6 µs,
 * against 0.5 µs inside a transaction). For this reason the first read begins a transaction, which lasts until the writer calls `letGo` just before
 * its next commit. Because the transaction ends before each commit, reads always see the last commit, and SQLite can reuse the log.
 */
export class CommittedReader implements Reader {
  readonly #connection: Connection;
  #begin: () => void;
  readonly #end: () => void;
  readonly #health: DatabaseHealth;
  /** The number of the reading transaction. Two reads with the same number see the same data. */
  transactionNumber = 0;

  constructor(connection: Connection, health: DatabaseHealth) {
    this.#connection = connection;
    this.#health = health;
    this.#begin = connection.prepare("BEGIN");
    this.#end = connection.prepare("COMMIT");
  }

  async get<R extends Row>(statement: Sql): Promise<R | undefined> {
    try {
      if (!this.#connection.inTransaction) this.#begin();
      return this.#connection.get<R>(statement);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async all<R extends Row>(statement: Sql): Promise<R[]> {
    try {
      if (!this.#connection.inTransaction) this.#begin();
      return this.#connection.all<R>(statement);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Makes every later read fail with this error. */
  refuse(error: unknown): void {
    this.#begin = () => {
      throw error;
    };
    this.letGo();
  }

  letGo(): void {
    this.transactionNumber++;
    if (this.#connection.inTransaction) this.#end();
  }

  /** Ends the reading transaction after a failure, so that later reads work when the database is available again. */
  #failed(error: unknown): unknown {
    try {
      this.letGo();
    } catch {
      // The COMMIT may fail too. The error of this COMMIT is ignored, because the read has failed already and reports its own error.
    }
    return translated(error, this.#health);
  }
}
