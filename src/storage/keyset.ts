/**
 * Keyset paging forwards and backwards (D-30, D-32): a page is found by the sort key of the row before or after it, never by an offset. Because pages
 * are found by keys, no other row is repeated or skipped when rows are added or deleted, and page 40,000 takes as much time as page 1.
 */
import type { Reader } from "./database.ts";
import { append, type Row, type Sql, type SqlValue } from "./sql.ts";

export interface KeysetOrder<R extends Row> {
  /**
   * The qualified columns, most significant first, e.g. `["personas.id"]`. No two rows of the list have the same values in all columns of the order.
   */
  readonly columns: readonly string[];
  readonly direction: "ascending" | "descending";
  /** Returns the values of `columns` in a row. A cursor contains the values of the order's columns as its key. */
  keyOf(row: R): readonly string[];
}

/** Makes an order by columns that have the same names in the returned row, for example `ordered("ascending", "personas.page", "personas.id")`. */
export function ordered(direction: KeysetOrder<Row>["direction"], ...columns: string[]): KeysetOrder<Row> {
  const names = columns.map((column) => column.slice(column.indexOf(".") + 1));
  return { columns, direction, keyOf: (row) => names.map((name) => String(row[name])) };
}

export interface PageRequest {
  readonly limit: number;
  /** `after` is the key of the row before the page, `before` the key of the row after the page; at most one of the two is set. */
  readonly after?: readonly string[] | undefined;
  readonly before?: readonly string[] | undefined;
  /**
   * Whether the page includes the row whose key is given. The caller sets `isInclusive` to page back from an empty page that is behind the last row
   * or before the first row.
   */
  readonly isInclusive?: boolean;
}

export interface ListPage<R> {
  readonly rows: readonly R[];
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  /** The sort keys of the page's first and last row; an empty page has no keys. */
  readonly firstKey?: readonly string[];
  readonly lastKey?: readonly string[];
}

/**
 * Reads one page. `select` ends in its WHERE clause (`… WHERE personas.page_id = ?`); `readPage` adds the condition for the sort key, the order and
 * the limit.
 */
export async function readPage<R extends Row>(reader: Reader, select: Sql, order: KeysetOrder<R>, page: PageRequest): Promise<ListPage<R>> {
  const isBackward = page.before !== undefined;
  const key = page.before ?? page.after;
  // The query reads one row more than the page has: the additional row shows that further rows follow. If the row of the given key still exists, it
  // shows that there are rows before the page.
  const values = key === undefined ? [page.limit + 1] : [...key, page.limit + 2];
  const found = await reader.all<R>(append(select, tailOf(order, isBackward, key === undefined ? "none" : "from"), values));
  const isNeighbourThere = key !== undefined && page.isInclusive !== true && found[0] !== undefined && isSame(order.keyOf(found[0]), key);
  if (isNeighbourThere) found.shift();
  const hasMore = found.length > page.limit;
  if (hasMore) found.length = page.limit;
  if (isBackward) found.reverse();

  const first = found[0];
  const last = found[found.length - 1];
  if (first === undefined || last === undefined) {
    const hasBack = key !== undefined && (await exists(reader, select, order, key, !isBackward, "from"));
    return { rows: [], hasPrevious: hasBack && !isBackward, hasNext: hasBack && isBackward };
  }
  const firstKey = order.keyOf(first);
  const lastKey = order.keyOf(last);
  // If the row of the given key no longer exists, all rows before the page (or after it, if paging backwards) may have been deleted too.
  const hasNear = key !== undefined && (isNeighbourThere || (await exists(reader, select, order, isBackward ? lastKey : firstKey, !isBackward)));
  return { rows: found, hasPrevious: isBackward ? hasMore : hasNear, hasNext: isBackward ? hasNear : hasMore, firstKey, lastKey };
}

const isSame = (one: readonly string[], other: readonly string[]): boolean => one.every((value, at) => value === other[at]);

async function exists<R extends Row>(
  reader: Reader,
  select: Sql,
  order: KeysetOrder<R>,
  key: readonly SqlValue[],
  isBackward: boolean,
  start: "from" | "beyond" = "beyond",
): Promise<boolean> {
  return (await reader.get(append(select, tailOf(order, isBackward, start), [...key, 1]))) !== undefined;
}

/** The row at which a page begins: the first row in the reading direction, the row of the key, or the row after the key. */
type Start = "none" | "from" | "beyond";

const tails = new WeakMap<object, Map<string, string>>();

function tailOf(order: { columns: readonly string[]; direction: "ascending" | "descending" }, isBackward: boolean, start: Start): string {
  let known = tails.get(order);
  if (known === undefined) {
    known = new Map();
    tails.set(order, known);
  }
  const variant = isBackward ? `${start} backward` : start;
  let tail = known.get(variant);
  if (tail === undefined) {
    tail = makeTail(order.columns, (order.direction === "ascending") !== isBackward, start);
    known.set(variant, tail);
  }
  return tail;
}

function makeTail(columns: readonly string[], isAscending: boolean, start: Start): string {
  const list = columns.join(", ");
  const operator = (isAscending ? ">" : "<") + (start === "from" ? "=" : "");
  const marks = columns.map(() => "?").join(", ");
  const condition = columns.length === 1 ? `${list} ${operator} ?` : `(${list}) ${operator} (${marks})`;
  const sorted = columns.map((column) => `${column} ${isAscending ? "ASC" : "DESC"}`).join(", ");
  return `${start === "none" ? "" : `AND ${condition} `}ORDER BY ${sorted} LIMIT ?`;
}
