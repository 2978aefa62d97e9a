/**
 * The statements of one connection that the driver sends together and PostgreSQL answers together. One Sync message ends all statements that are sent
 * together, so that PostgreSQL answers with one packet, and each statement is described only once per connection (D-285). If a statement fails,
 * PostgreSQL skips the statements that were sent after it, and these statements fail with the same error.
 */
import { type Connection, Query } from "pg";
import type { Row, SqlValue } from "../sql.ts";
import { rowTypes } from "./values.ts";

/** A statement's text in the form that PostgreSQL receives. If the statement has no name, PostgreSQL does not keep it prepared. */
export interface Statement {
  readonly text: string;
  readonly name?: string;
}

export interface Result<R extends Row = Row> {
  readonly rows: R[];
  readonly rowCount: number;
  /** The command that PostgreSQL ran, such as COMMIT or ROLLBACK. */
  readonly command: string;
}

export interface PipelinedQuery {
  readonly statement: Statement;
  readonly values: readonly SqlValue[];
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface Columns {
  readonly names: readonly string[];
  readonly parsers: readonly ((text: string) => unknown)[];
}

const NO_COLUMNS: Columns = { names: [], parsers: [] };

/** The prepared statements of the session, each with the columns that it returns. */
export type Known = Map<Statement, Columns>;

/** The properties of the driver's messages that this module uses. */
interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}
interface DataRow {
  readonly fields: readonly (string | null)[];
}
interface CommandComplete {
  readonly text: string;
}

/** The driver's client treats all statements that are sent together as one query, and calls the methods `handle…` with the server's messages. */
export class PipelinedQueries extends Query {
  /** The driver's client sets the function `callback`. A call of the function `callback` ends the time limit of the query. */
  declare callback: ((error?: unknown) => void) | undefined;
  readonly #queries: readonly PipelinedQuery[];
  readonly #known: Known;
  #at = 0;
  #columns: Columns | undefined;
  #rows: Row[] = [];
  #wrongValue: unknown;

  constructor(queries: readonly PipelinedQuery[], known: Known) {
    super("");
    this.#queries = queries;
    this.#known = known;
  }

  override submit = (connection: Connection): void => {
    connection.stream.cork();
    for (const { statement, values } of this.#queries) {
      const { name = "", text } = statement;
      const isKnown = this.#known.has(statement);
      if (!isKnown) {
        // PostgreSQL may have prepared a statement that was skipped or failed, so the name of this statement is freed first.
        if (name !== "") connection.close({ type: "S", name }, false);
        connection.parse({ name, text, types: [] }, false);
        if (name !== "") this.#known.set(statement, NO_COLUMNS);
      }
      connection.bind({ statement: name, values: values.map(textOf) }, false);
      if (!isKnown) connection.describe({ type: "P" }, false);
      connection.execute(null, false);
    }
    connection.sync();
    connection.stream.uncork();
  };

  handleRowDescription({ fields }: RowDescription): void {
    this.#columns = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => rowTypes.getTypeParser(dataTypeID)),
    };
    const { statement } = this.#queries[this.#at] as PipelinedQuery;
    if (statement.name !== undefined) this.#known.set(statement, this.#columns);
  }

  handleDataRow({ fields }: DataRow): void {
    const columns = this.#columns ?? (this.#known.get((this.#queries[this.#at] as PipelinedQuery).statement) as Columns);
    const row: Record<string, unknown> = {};
    try {
      for (let i = 0; i < fields.length; i++) {
        const text = fields[i] as string | null;
        row[columns.names[i] as string] = text === null ? null : columns.parsers[i]?.(text);
      }
    } catch (error) {
      this.#wrongValue ??= error;
    }
    this.#rows.push(row as Row);
  }

  /** Handles the end of a statement; `text` is for example `INSERT 0 1`, `SELECT 5` or `COMMIT`. */
  handleCommandComplete({ text }: CommandComplete): void {
    const query = this.#queries[this.#at++] as PipelinedQuery;
    const [rows, wrongValue] = [this.#rows, this.#wrongValue];
    this.#rows = [];
    this.#columns = undefined;
    this.#wrongValue = undefined;
    const [command = "", ...counts] = text.split(" ");
    if (wrongValue === undefined) query.resolve({ rows, rowCount: Number(counts.at(-1) ?? 0), command });
    else query.reject(wrongValue);
  }

  handleReadyForQuery(): void {
    this.callback?.();
  }

  /**
   * Handles an error of the current statement or of the connection, or an exceeded time limit. The driver may call this method twice for one query.
   */
  handleError(error: unknown): void {
    this.callback?.(error);
    for (; this.#at < this.#queries.length; this.#at++) {
      const { statement, reject } = this.#queries[this.#at] as PipelinedQuery;
      this.#known.delete(statement);
      reject(error);
    }
  }
}

const textOf = (value: SqlValue): string | Buffer | null =>
  value === null ? null : typeof value === "object" ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : String(value);
