/** Statements for many rows, in a few sizes, so that each is prepared once. This saves some 1 µs a row. */
import type { Transaction } from "#storage/database";
import { textOnce } from "#storage/id-lists";
import { append, type Sql, type SqlValue, sql } from "#storage/sql";

/** With 12 columns the largest has 1,536 values; SQLite allows 32,766. */
const SIZES = [128, 64, 32, 16, 8, 4, 2, 1] as const;

interface RowStatement {
  readonly columns: number;
  /** `VALUES` and the placeholders, by size. */
  readonly tails: ReadonlyMap<number, string>;
}

/** `tail` follows the rows, e.g. `ON CONFLICT DO NOTHING`. */
export function rowStatement(columns: number, tail = ""): RowStatement {
  const row = `(${new Array(columns).fill("?").join(", ")})`;
  return { columns, tails: new Map(SIZES.map((size) => [size, `VALUES ${new Array(size).fill(row).join(", ")} ${tail}`])) };
}

/** `head` is `INSERT INTO table (columns)` without parameters; `values` are those of all rows, row after row. */
export async function insertRows(tx: Transaction, head: Sql, { columns, tails }: RowStatement, values: readonly SqlValue[]): Promise<void> {
  let at = 0;
  let left = values.length / columns;
  for (const size of SIZES) {
    for (; left >= size; left -= size) {
      const end = at + size * columns;
      const { query } = append(head, tails.get(size) as string);
      await tx.run({ query, values: at === 0 && end === values.length ? values : values.slice(at, end) });
      at = end;
    }
  }
}

/** PostgreSQL takes a longer list for a filter, and reads all rows with the key's first column, where the table was small when it made the plan. */
const IN_LIST_SIZES = SIZES.filter((size) => size <= 32);

/** `IN (…)` lists of few sizes; the last list is padded with its last value. */
export function* inLists<T extends SqlValue>(values: readonly T[]): Generator<{ readonly marks: string; readonly values: readonly T[] }> {
  for (const part of chunksOf(values, IN_LIST_SIZES, (last) => last)) yield { marks: marksOf(part.length), values: part };
}

/**
 * PostgreSQL only: `select` for each distinct one of the numbers, which is `w.value` in it, whatever the planner believes of the tables. It
 * has one more parameter, `first`. `tail` follows, and names the rows `r`.
 */
export function* lookups(select: string, first: SqlValue, numbers: readonly number[], tail = ""): Generator<Sql> {
  for (const part of chunksOf<number | null>([...new Set(numbers)], SIZES, () => null)) {
    const rows = textOnce(`bigints ${part.length}`, () => ["(CAST(? AS BIGINT))", ...new Array<string>(part.length - 1).fill("(?)")].join(", "));
    // OFFSET 0 keeps the planner from turning the two around.
    yield append(wantedValues, `(VALUES ${rows}) SELECT r.* FROM w CROSS JOIN LATERAL (${select} OFFSET 0) r ${tail}`, [...part, first]);
  }
}

const wantedValues = sql`WITH w (value) AS`;

/** `sizes` are descending; `padding` gets the last value. */
function* chunksOf<T>(values: readonly T[], sizes: readonly number[], padding: (last: T) => T): Generator<T[]> {
  for (let at = 0; at < values.length; ) {
    const left = values.length - at;
    const size = sizes.findLast((one) => one >= left) ?? (sizes[0] as number);
    const part = values.slice(at, at + size);
    at += part.length;
    while (part.length < size) part.push(padding(part.at(-1) as T));
    yield part;
  }
}

const marks = new Map(SIZES.map((size) => [size as number, `(${new Array(size).fill("?").join(", ")})`]));
const marksOf = (size: number): string => marks.get(size) as string;
