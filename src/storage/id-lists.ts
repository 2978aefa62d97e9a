/** Statements over lists of ids, of which lists of many lengths share few. */
import type { Reader } from "./database.ts";
import { append, placeholders, type Row, type Sql, type SqlValue, sql } from "./sql.ts";

/** The next power of two, to which a list is filled up. */
export const paddedSize = (length: number): number => 2 ** Math.ceil(Math.log2(Math.max(length, 1)));

/** No node has it. */
const NO_ID = "0";

/** `base` with `AND column IN (…)`, and `rest` after it. */
export function withIds(base: Sql, column: string, ids: readonly string[], rest = ""): Sql {
  const size = paddedSize(ids.length);
  const last = ids.at(-1) ?? NO_ID;
  const tail = textOnce(`${column} ${size} ${rest}`, () => `AND ${column} IN ${placeholders(size)} ${rest}`);
  return append(base, tail, [...ids, ...new Array<string>(size - ids.length).fill(last)]);
}

/** Ids in one statement: both databases take far more values, and this many make a text of a few kilobytes. */
const IDS_MAX = 512;

/** The rows of `base` whose `column` is one of the ids, however many they are. */
export async function allWithIds<R extends Row>(reader: Reader, base: Sql, column: string, ids: readonly string[]): Promise<R[]> {
  const rows: R[] = [];
  for (const some of chunksOf([...new Set(ids)])) rows.push(...(await reader.all<R>(withIds(base, column, some))));
  return rows;
}

const wanted = sql`WITH wanted (one, other) AS`;

/** For tables with keys of two columns: `tail` joins `wanted (one, other)`, which holds the keys, and `values` follow them. */
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

/** PostgreSQL takes the types of the first row for all. */
const keysText = (size: number): string => ["(CAST(? AS BIGINT), CAST(? AS BIGINT))", ...new Array<string>(size - 1).fill("(?, ?)")].join(", ");

function chunksOf<T>(list: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < list.length; at += IDS_MAX) chunks.push(list.slice(at, at + IDS_MAX));
  return chunks;
}

const texts = new Map<string, string>();

/** Lists of hundreds of places are kilobytes of text, made once for each size. */
export function textOnce(key: string, make: () => string): string {
  const known = texts.get(key) ?? make();
  texts.set(key, known);
  return known;
}
