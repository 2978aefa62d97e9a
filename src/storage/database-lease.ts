/**
 * Lends a database to a world from the time when the world is opened until it is closed. When the world was closed, its lease refuses writes, and the
 * database can be lent to the next world that is opened.
 */
import { databaseUnreachable } from "#kernel/errors";
import type { Database, Reader, SavedState, Transaction } from "./database.ts";

type Listener = (kind: string | undefined, key: string | undefined) => void;

export class DatabaseLease implements Database {
  readonly #database: Database;
  readonly dialect: Database["dialect"];
  /** The lease passes on the database's own reader, because reads are on the hot path, and a read after the end of the lease does no harm. */
  readonly reader: Reader;
  readonly #letGo: (() => void)[] = [];
  #hasEnded = false;

  constructor(database: Database, reader = database.reader) {
    this.#database = database;
    this.dialect = database.dialect;
    this.reader = reader;
  }

  get processNumber(): number {
    return this.#database.processNumber;
  }

  write<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#hasEnded ? Promise.reject(databaseUnreachable()) : this.#database.write(body);
  }

  snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#hasEnded ? Promise.reject(databaseUnreachable()) : this.#database.snapshot(body);
  }

  onInvalidate(listener: Listener): () => void {
    const letGo = this.#database.onInvalidate(listener);
    this.#letGo.push(letGo);
    return letGo;
  }

  confirm(): void {
    this.#database.confirm();
  }

  ping(): Promise<void> {
    return this.#database.ping();
  }

  scrub(): Promise<void> {
    return this.#hasEnded ? Promise.reject(databaseUnreachable()) : this.#database.scrub();
  }

  saveState(name: string): Promise<void> {
    return this.#database.saveState(name);
  }

  restoreState(name: string | undefined): Promise<boolean> {
    return this.#hasEnded ? Promise.reject(databaseUnreachable()) : this.#database.restoreState(name);
  }

  listStates(): Promise<readonly SavedState[]> {
    return this.#database.listStates();
  }

  deleteState(name: string): Promise<boolean> {
    return this.#database.deleteState(name);
  }

  /** Ends the lease; the database stays open. */
  async close(): Promise<void> {
    this.#hasEnded = true;
    for (const letGo of this.#letGo.splice(0)) letGo();
  }
}
