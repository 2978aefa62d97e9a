/** Statements for many rows, in a few sizes, so that each is prepared once. This saves some 1 µs a row. */
import type { Transaction } from "#storage/database";
import { append, type Sql, type SqlValue } from "#storage/sql";

/** With 12 columns the largest has 1,536 values; SQLite allows 32,766. */
const SIZES = [128, 32, 8, 1] as const;

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
      await tx.runAny({ query, values: at === 0 && end === values.length ? values : values.slice(at, end) });
      at = end;
    }
  }
}

/** `IN (…)` lists of the same sizes; the last list is padded with its last value. */
export function* inLists<T extends SqlValue>(values: readonly T[]): Generator<{ readonly marks: string; readonly values: readonly T[] }> {
  for (let at = 0; at < values.length; ) {
    const left = values.length - at;
    const size = SIZES.findLast((one) => one >= left) ?? SIZES[0];
    const part = values.slice(at, at + size);
    at += part.length;
    while (part.length < size) part.push(part[part.length - 1] as T);
    yield { marks: marksOf(size), values: part };
  }
}

const marks = new Map(SIZES.map((size) => [size as number, `(${new Array(size).fill("?").join(", ")})`]));
const marksOf = (size: number): string => marks.get(size) as string;
