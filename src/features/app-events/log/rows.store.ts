/**
 * Builds SQL statements for many rows. The statements have only a few different numbers of rows, so the database prepares each of the few statements
 * once. A prepared statement saves some 1 µs for each row.
 */
import type { Reader, Transaction } from "#storage/database";
import { paddedSize, textOnce } from "#storage/id-lists";
import { append, placeholders, type Row, type Sql, type SqlValue } from "#storage/sql";

/** The numbers of rows that a statement may have. The largest statement for a table with 13 columns has 1,664 values; SQLite allows 32,766 values. */
const SIZES = [128, 64, 32, 16, 8, 4, 2, 1] as const;

/**
 * Inserts many rows. `head` is `INSERT INTO table (columns)` without parameters; `values` are the values of all rows, row after row; `tail` ends the
 * statement, for example with `ON CONFLICT DO NOTHING`.
 */
export async function insertRows(tx: Transaction, head: Sql, columns: number, values: readonly SqlValue[], tail = ""): Promise<void> {
  const sent: Promise<number>[] = [];
  for (let at = 0; at < values.length; ) {
    const size = SIZES.find((one) => one * columns <= values.length - at) ?? 1;
    const rows = textOnce(`${size} rows of ${columns} ${tail}`, () => `VALUES ${new Array(size).fill(placeholders(columns)).join(", ")} ${tail}`);
    const end = at + size * columns;
    sent.push(tx.run(append(head, rows, values.slice(at, end))));
    at = end;
  }
  await Promise.all(sent);
}

/**
 * Splits a list into groups, which have only a few different sizes. A group with too few values is filled with NULL, which is not equal to any value.
 */
export function partsOf<T>(list: readonly T[], sizeMax: number): (T | null)[][] {
  const parts: (T | null)[][] = [];
  for (let at = 0; at < list.length; at += sizeMax) {
    const part: (T | null)[] = list.slice(at, at + sizeMax);
    parts.push([...part, ...new Array<null>(paddedSize(part.length) - part.length).fill(null)]);
  }
  return parts;
}

/**
 * The greatest length of a list in one SQL statement. For a longer list PostgreSQL may read all rows with the same first column of the key, if the
 * table was small when PostgreSQL planned the statement.
 */
const LIST_MAX = 32;

/**
 * Returns one SQL statement for each group of values of the list. A statement is `base`, which must end with the name of a column, followed by `IN
 * (…)`.
 */
export const inLists = (base: Sql, list: readonly (string | number)[]): Sql[] =>
  partsOf(list, LIST_MAX).map((part) =>
    append(
      base,
      textOnce(`in ${part.length}`, () => `IN ${placeholders(part.length)}`),
      part,
    ),
  );

/** Reads the rows whose column has a value of the list. `base` is a SELECT that must end with the name of this column. */
export async function allInList<R extends Row>(reader: Reader, base: Sql, list: readonly (string | number)[]): Promise<R[]> {
  return (await Promise.all(inLists(base, list).map((statement) => reader.all<R>(statement)))).flat();
}
