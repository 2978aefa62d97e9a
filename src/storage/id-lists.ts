/** Makes statements that contain lists of ids. Each list of ids is padded to a power of two, so that few different statements have to be prepared. */
import type { Reader } from "./database.ts";
import { append, placeholders, type Row, type Sql, type SqlValue, sql } from "./sql.ts";

/** Returns the power of two to which a list of this length is padded. */
export const paddedSize = (length: number): number => 2 ** Math.ceil(Math.log2(Math.max(length, 1)));

/** The id that pads an empty list or a list of keys. The padding is 0, because no node has the id 0. */
const NO_ID = "0";

/** Returns the statement `base`, followed by `AND column IN (…)` with the ids, followed by `rest`. */
export function withIds(base: Sql, column: string, ids: readonly string[], rest = ""): Sql {
  const size = paddedSize(ids.length);
  const last = ids.at(-1) ?? NO_ID;
  const tail = textOnce(`${column} ${size} ${rest}`, () => `AND ${column} IN ${placeholders(size)} ${rest}`);
  return append(base, tail, [...ids, ...new Array<string>(size - ids.length).fill(last)]);
}

/**
 * The maximum number of ids in one statement. SQLite and PostgreSQL accept far more ids, but the text of the statement would be longer than a few
 * kilobytes.
 */
const IDS_MAX = 512;

/** Reads the rows of `base` whose `column` is one of the ids, in several statements if there are many ids. */
export async function allWithIds<R extends Row>(reader: Reader, base: Sql, column: string, ids: readonly string[]): Promise<R[]> {
  const rows: R[] = [];
  for (const some of chunksOf([...new Set(ids)])) rows.push(...(await reader.all<R>(withIds(base, column, some))));
  return rows;
}

const wanted = sql`WITH wanted (one, other) AS`;

/**
 * Reads rows of tables whose keys have two columns. `tail` joins the list `wanted (one, other)` of the keys, and `values` are the parameters after
 * the keys.
 */
export async function allWithKeys<R extends Row>(
  reader: Reader,
  keys: readonly (readonly [string, string])[],
  tail: string,
  values: readonly SqlValue[] = [],
): Promise<R[]> {
  const rows: R[] = [];
  const distinct = new Map(keys.map((key) => [key.join(" "), key]));
  for (const some of chunksOf([...distinct.values()])) {
    const size = paddedSize(some.length);
    const padding = new Array<string>(2 * (size - some.length)).fill(NO_ID);
    const text = textOnce(`${size} ${tail}`, () => `(VALUES ${keysText(size)}) ${tail}`);
    rows.push(...(await reader.all<R>(append(wanted, text, [...some.flat(), ...padding, ...values]))));
  }
  return rows;
}

/** Only the first row of the list has casts, because PostgreSQL uses the types of the first row for all rows. */
const keysText = (size: number): string => ["(CAST(? AS BIGINT), CAST(? AS BIGINT))", ...new Array<string>(size - 1).fill("(?, ?)")].join(", ");

function chunksOf<T>(list: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < list.length; at += IDS_MAX) chunks.push(list.slice(at, at + IDS_MAX));
  return chunks;
}

const texts = new Map<string, string>();

/**
 * Caches the text of the statement for each key. The text of a statement with hundreds of ids is kilobytes long, so it is made only once for each
 * number of ids.
 */
export function textOnce(key: string, make: () => string): string {
  const known = texts.get(key) ?? make();
  texts.set(key, known);
  return known;
}
