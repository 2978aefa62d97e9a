/**
 * Keyset paging both ways (D-30, D-32): a page is found by the sort key of its neighbour, never by an offset, so rows that
 * come and go neither shift nor repeat the others, and page 40,000 costs what page 1 costs.
 */
import type { Reader } from "./database.ts";
import { append, type Row, type Sql, type SqlValue } from "./sql.ts";

export interface KeysetOrder<R extends Row> {
  /** Qualified columns, most significant first, together unique in the list, e.g. `["personas.id"]`. */
  readonly columns: readonly string[];
  readonly direction: "ascending" | "descending";
  /** The values of `columns` in a row, as they stand in a cursor. */
  keyOf(row: R): readonly string[];
}

export interface PageRequest {
  readonly limit: number;
  /** The key that the page follows, or that it precedes; at most one of the two. */
  readonly after?: readonly string[] | undefined;
  readonly before?: readonly string[] | undefined;
}

export interface ListPage<R> {
  readonly rows: readonly R[];
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  /** Keys of the first and last row; absent on an empty page. */
  readonly firstKey?: readonly string[];
  readonly lastKey?: readonly string[];
}

/** `select` ends in its WHERE clause (`… WHERE personas.page_id = ?`); the key condition, order and limit are added here. */
export async function readPage<R extends Row>(reader: Reader, select: Sql, order: KeysetOrder<R>, page: PageRequest): Promise<ListPage<R>> {
  const isBackward = page.before !== undefined;
  const key = page.before ?? page.after;
  const values = key === undefined ? [page.limit + 1] : [...key, page.limit + 1];
  const found = await reader.all<R>(append(select, tailOf(order, isBackward, key !== undefined), values));
  const hasMore = found.length > page.limit;
  if (hasMore) found.pop();
  if (isBackward) found.reverse();

  const first = found[0];
  const last = found[found.length - 1];
  if (first === undefined || last === undefined) {
    return { rows: [], hasPrevious: false, hasNext: false };
  }
  const firstKey = order.keyOf(first);
  const lastKey = order.keyOf(last);
  // The far side is known from the row too many; the near side must be looked at, because its rows may be gone by now.
  const hasPrevious = isBackward ? hasMore : key !== undefined && (await exists(reader, select, order, firstKey, true));
  const hasNext = isBackward ? await exists(reader, select, order, lastKey, false) : hasMore;
  return { rows: found, hasPrevious, hasNext, firstKey, lastKey };
}

async function exists<R extends Row>(
  reader: Reader,
  select: Sql,
  order: KeysetOrder<R>,
  key: readonly SqlValue[],
  isBackward: boolean,
): Promise<boolean> {
  return (await reader.get(append(select, tailOf(order, isBackward, true), [...key, 1]))) !== undefined;
}

const tails = new WeakMap<object, (string | undefined)[]>();

function tailOf(order: { columns: readonly string[]; direction: "ascending" | "descending" }, isBackward: boolean, hasKey: boolean): string {
  let known = tails.get(order);
  if (known === undefined) {
    known = [];
    tails.set(order, known);
  }
  const variant = (isBackward ? 2 : 0) + (hasKey ? 1 : 0);
  let tail = known[variant];
  if (tail === undefined) {
    const isAscending = (order.direction === "ascending") !== isBackward;
    const { columns } = order;
    const marks = columns.map(() => "?").join(", ");
    const list = columns.join(", ");
    const condition = columns.length === 1 ? `${list} ${isAscending ? ">" : "<"} ?` : `(${list}) ${isAscending ? ">" : "<"} (${marks})`;
    const sorted = columns.map((column) => `${column} ${isAscending ? "ASC" : "DESC"}`).join(", ");
    tail = `${hasKey ? `AND ${condition} ` : ""}ORDER BY ${sorted} LIMIT ?`;
    known[variant] = tail;
  }
  return tail;
}
