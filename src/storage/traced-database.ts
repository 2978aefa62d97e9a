/** A database that makes a span of a trace for each statement (D-356). A traced database is used only while tracing is on. */
import type { Attributes, Tracing } from "#kernel/tracing/tracing";
import type { Database, Reader, Transaction } from "./database.ts";
import { DatabaseLease } from "./database-lease.ts";
import type { Row, Sql, SqlText } from "./sql.ts";

/** The maximum number of characters of a statement in a span. The text of a statement has a `?` for each value, so the span contains no value. */
const TEXT_CHARACTERS_MAX = 1_024;

interface Description {
  readonly name: string;
  readonly attributes: Attributes;
}

export class TracedDatabase extends DatabaseLease {
  readonly #database: Database;
  readonly #tracing: Tracing;
  readonly #statements: Statements;

  constructor(database: Database, tracing: Tracing) {
    const statements = new Statements(database.dialect, tracing);
    super(database, statements.reader(database.reader));
    this.#database = database;
    this.#tracing = tracing;
    this.#statements = statements;
  }

  /** The body of a write runs in the caller's span, although the driver may run the bodies of several callers together. */
  override write<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    const bound = this.#tracing.bind((tx: Transaction) => body(this.#statements.transaction(tx)));
    return ended(this.#tracing.begin("transaction", this.#statements.system), () => super.write(bound));
  }

  override snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T> {
    return super.snapshot(this.#tracing.bind((reader: Reader) => body(this.#statements.reader(reader))));
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#database.close();
  }
}

/**
 * Makes readers and transactions that make a span for each statement. The caller gets the driver's own promise, so the result of a statement is not
 * delayed.
 */
class Statements {
  readonly system: Attributes;
  readonly #tracing: Tracing;
  readonly #descriptions = new WeakMap<SqlText, Description>();

  constructor(dialect: Database["dialect"], tracing: Tracing) {
    this.system = { "db.system.name": dialect === "postgres" ? "postgresql" : "sqlite" };
    this.#tracing = tracing;
  }

  reader(reader: Reader): Reader {
    return {
      get: <R extends Row>(statement: Sql) => ended(this.#begin(statement), () => reader.get<R>(statement)),
      all: <R extends Row>(statement: Sql) => ended(this.#begin(statement), () => reader.all<R>(statement)),
    };
  }

  transaction(tx: Transaction): Transaction {
    return {
      ...this.reader(tx),
      run: (statement) => ended(this.#begin(statement), () => tx.run(statement)),
      runOne: (statement) => ended(this.#begin(statement), () => tx.runOne(statement)),
      lock: (scope, key) => tx.lock(scope, key),
      skipLocked: (alias) => tx.skipLocked(alias),
      pause: () => tx.pause(),
      invalidate: (kind, key) => tx.invalidate(kind, key),
      afterCommit: (action) => tx.afterCommit(action),
    };
  }

  #begin({ query }: Sql): ((error?: unknown) => void) | undefined {
    let description = this.#descriptions.get(query);
    if (description === undefined) {
      description = this.#describe(query.text);
      this.#descriptions.set(query, description);
    }
    return this.#tracing.begin(description.name, description.attributes);
  }

  #describe(text: string): Description {
    const short = text.replaceAll(/\s+/g, " ").trim();
    const operation = short.split(" ", 1)[0] ?? "";
    const table = /\b(?:FROM|INTO|UPDATE) ([a-z_]+)/.exec(short)?.[1];
    return {
      name: table === undefined ? operation : `${operation} ${table}`,
      attributes: {
        ...this.system,
        "db.operation.name": operation,
        "db.query.text": short.slice(0, TEXT_CHARACTERS_MAX),
        ...(table === undefined ? {} : { "db.collection.name": table }),
      },
    };
  }
}

function ended<T>(end: ((error?: unknown) => void) | undefined, run: () => Promise<T>): Promise<T> {
  const promise = run();
  if (end !== undefined) promise.then(() => end(), end);
  return promise;
}
