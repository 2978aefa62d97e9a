/**
 * Checks the values that the driver returns for columns of each type. For a column type that SQLite does not have, the error message names the type
 * to use instead.
 */
import { expect, test } from "bun:test";
import { rowTypes } from "./values.ts";

const read = (oid: number, text: string): unknown => rowTypes.getTypeParser(oid)(text);

test("texts stay texts, whole numbers become numbers, booleans 1 or 0, and bytes bytes", () => {
  expect([19, 25, 705, 1042, 1043, 2278].map((oid) => read(oid, "12"))).toEqual(new Array(6).fill("12"));
  expect([20, 21, 23].map((oid) => read(oid, "-12"))).toEqual([-12, -12, -12]);
  expect([read(16, "t"), read(16, "f")]).toEqual([1, 0]);
  const bytes = read(17, "\\x00ff10");
  expect(bytes).toEqual(Uint8Array.of(0, 255, 16));
  expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
});

test("a 64-bit number that a float cannot hold is refused, and the last one that it can hold is not", () => {
  expect(read(20, "9007199254740991")).toBe(Number.MAX_SAFE_INTEGER);
  for (const text of ["9007199254740992", "-9007199254740992"])
    expect(() => read(20, text)).toThrow(`a column contains ${text}, which is beyond 2^53`);
});

test("other types are refused only when a value is read", () => {
  for (const oid of [0, 700, 1114, 1184, 1700, 3802]) {
    const parse = rowTypes.getTypeParser(oid);
    expect(() => parse("1")).toThrow(`a column has the type ${oid}, which Plaza does not read`);
  }
});
