/** Converts PostgreSQL's values to the values of `Row`, which are the same as SQLite's. */
import { types } from "pg";

type Parse = (text: string) => unknown;

function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`a column contains ${text}, which is beyond 2^53: select CAST(… AS TEXT)`);
  return value;
}

const bytea = types.getTypeParser(17, "text") as (text: string) => Buffer;

/**
 * The parser for the values of each type, keyed by the type's oid (pg_type.h). The types of PostgreSQL that are not in this list have no counterpart
 * in SQLite.
 */
const parsers = new Map<number, Parse>([
  [16, (text) => (text === "t" ? 1 : 0)], // bool: 0 or 1, as in SQLite
  [17, (text) => Uint8Array.from(bytea(text))], // bytea
  [19, String], // name
  [20, integer], // int8
  [21, Number], // int2
  [23, Number], // int4
  [25, String], // text
  [705, String], // unknown: the type of a literal
  [1042, String], // bpchar
  [1043, String], // varchar
  [2278, String], // void
]);

export const rowTypes = {
  getTypeParser(oid: number): Parse {
    return (
      parsers.get(oid) ??
      (() => {
        throw new TypeError(`a column has the type ${oid}, which Plaza does not read: select CAST(… AS TEXT) or CAST(… AS BIGINT)`);
      })
    );
  },
};

/**
 * The SQL expression for the database's time in milliseconds. Citus refuses an UPDATE with `clock_timestamp()`, whose value changes while a statement
 * runs.
 */
export const NOW_MS = "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)";

/** A token of an SQL text. Texts are split into tokens so that nothing is replaced inside strings, quoted names or comments. */
export interface Token {
  /**
   * A token of the kind `literal` is a string, a quoted name or a comment; a `word` is a keyword, name or number; a `mark` is one other character.
   */
  readonly kind: "space" | "literal" | "word" | "mark";
  readonly text: string;
}

// A quote inside a string or quoted name is doubled. An unclosed string or name extends to the end of the text, and PostgreSQL reports the error.
const TOKEN = /(\s+)|('(?:[^']|'')*'?|"(?:[^"]|"")*"?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|([\p{L}\p{N}_$]+)|[\s\S]/gu;

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const kind = match[1] !== undefined ? "space" : match[2] !== undefined ? "literal" : match[3] !== undefined ? "word" : "mark";
    tokens.push({ kind, text: match[0] });
  }
  return tokens;
}

/** Replaces the `?` of a statement by `$1`, `$2` and so on. */
export function numbered(text: string): string {
  let count = 0;
  return tokensOf(text)
    .map((token) => (token.kind === "mark" && token.text === "?" ? `$${++count}` : token.text))
    .join("");
}
