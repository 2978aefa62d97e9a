/**
 * The `sql` tag. Each statement is written once, in the SQL that SQLite and PostgreSQL share (ARCHITECTURE.md, idea 4).
 *
 * - Ids are `BIGINT` columns, bound as decimal strings and read as `CAST(t.id AS TEXT) AS id`, so that no digit is lost. In ORDER BY and comparisons
 *   write the qualified column (`t.id`), because an output name shadows the column.
 * - Times are `BIGINT` milliseconds or seconds, read as numbers. Money and sums are scaled integers, read as text.
 * - Flags are `INTEGER` 0 or 1. JSON is `TEXT`. Text compares bytewise.
 */
export type SqlValue = string | number | null | Uint8Array;
export type Row = Record<string, SqlValue>;

/**
 * The text of a statement. Each `sql` literal in the code creates the text of its statement only once, so that drivers can keep the statement
 * prepared.
 */
export interface SqlText {
  /** The SQL text of the statement, with a `?` for each value. */
  readonly text: string;
}

export interface Sql {
  readonly query: SqlText;
  readonly values: readonly SqlValue[];
}

const texts = new WeakMap<TemplateStringsArray, SqlText>();

export function sql(strings: TemplateStringsArray, ...values: SqlValue[]): Sql {
  let query = texts.get(strings);
  if (query === undefined) {
    query = { text: strings.join("?") };
    texts.set(strings, query);
  }
  return { query, values };
}

const appended = new WeakMap<SqlText, Map<string, SqlText>>();

/**
 * Appends `tail` to the statement `base`. `tail` must be a text of the program's code, and never input of a user. The joined text is created only
 * once for each pair of base and tail.
 */
export function append(base: Sql, tail: string, values: readonly SqlValue[] = []): Sql {
  let tails = appended.get(base.query);
  if (tails === undefined) {
    tails = new Map();
    appended.set(base.query, tails);
  }
  let query = tails.get(tail);
  if (query === undefined) {
    query = { text: `${base.query.text} ${tail}` };
    tails.set(tail, query);
  }
  if (values.length === 0) return { query, values: base.values };
  return { query, values: base.values.length === 0 ? values : [...base.values, ...values] };
}

/**
 * Returns `(?, ?, ?)` for an IN list of `count` values. If lists of many different sizes occur, the caller must round the sizes up, so that few
 * different statements occur.
 */
export const placeholders = (count: number): string => `(${new Array(count).fill("?").join(", ")})`;
