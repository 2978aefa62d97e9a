/** Converts PostgreSQL's values to those of `Row`, the same that SQLite returns. */
import { types } from "pg";

type Parse = (text: string) => unknown;

function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`a column holds ${text}, beyond 2^53: select CAST(… AS TEXT)`);
  return value;
}

const bytea = types.getTypeParser(17, "text") as (text: string) => Buffer;

/** By type oid (pg_type.h). Other types have no counterpart in SQLite. */
const parsers = new Map<number, Parse>([
  [16, (text) => (text === "t" ? 1 : 0)], // bool: SQLite's comparisons return 0 and 1
  [17, (text) => Uint8Array.from(bytea(text))], // bytea
  [19, String], // name
  [20, integer], // int8
  [21, Number], // int2
  [23, Number], // int4
  [25, String], // text
  [705, String], // unknown: a literal
  [1042, String], // bpchar
  [1043, String], // varchar
  [2278, String], // void
]);

export const rowTypes = {
  getTypeParser(oid: number): Parse {
    return (
      parsers.get(oid) ??
      (() => {
        throw new TypeError(`a column has type ${oid}, which is outside the shared subset: select CAST(… AS TEXT) or CAST(… AS BIGINT)`);
      })
    );
  },
};
