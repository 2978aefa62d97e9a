import { expect, test } from "bun:test";
import fc from "fast-check";
import { type AmfValue, readAmf, writeAmf } from "./amf0.ts";
import { RtmpProblem } from "./message.ts";

const text = fc.string({ unit: "binary", maxLength: 40 });
const { value } = fc.letrec<{ value: AmfValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 5 },
    fc.double(),
    fc.boolean(),
    text,
    fc.constant(null),
    fc.constant(undefined),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      text.filter((name) => name !== ""),
      tie("value"),
      { maxKeys: 4, noNullPrototype: false },
    ),
  ),
}));

test("AMF0: written values are read back", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), (values) => {
      expect(readAmf(writeAmf(values))).toEqual(values);
    }),
  );
});

test("AMF0: an ECMA array, a date and a long text are read, and an object without an end", () => {
  const ecma = [8, 0, 0, 0, 1, 0, 1, 97, 5, 0, 0, 9];
  const date = [11, 0x40, 0x59, 0, 0, 0, 0, 0, 0, 0, 0];
  const long = [12, 0, 0, 0, 2, 104, 105];
  const open = [3, 0, 1, 98, 1, 1];
  expect(readAmf(Uint8Array.from([...ecma, ...date, ...long, ...open]))).toEqual([{ a: null }, 100, "hi", { b: true }]);
});

test("AMF0: a name such as __proto__ is an ordinary name", () => {
  const [object] = readAmf(Uint8Array.from([3, 0, 9, ...Buffer.from("__proto__"), 1, 1, 0, 0, 9]));
  expect(Object.keys(object as object)).toEqual(["__proto__"]);
  expect(({} as { b?: unknown }).b).toBeUndefined();
});

test("AMF0: values that are cut off, nested deeply, too many or of another type are refused", () => {
  const deep = Array.from({ length: 20 }, () => [10, 0, 0, 0, 1]).flat();
  const many = Array.from({ length: 600 }, () => 5);
  for (const bytes of [[0, 1, 2], [2, 0, 9, 97], [12, 255, 255, 255, 255], [10, 255, 255, 255, 255, 5], deep, many, [17], [13]])
    expect(() => readAmf(Uint8Array.from(bytes))).toThrow(RtmpProblem);
});

test("AMF0: eight levels and 512 values are read, and not one more", () => {
  const nested = (levels: number) => Uint8Array.from([...Array.from({ length: levels }, () => [10, 0, 0, 0, 1]).flat(), 5]);
  expect(JSON.stringify(readAmf(nested(8)))).toBe(`${"[".repeat(9)}null${"]".repeat(9)}`);
  expect(() => readAmf(nested(9))).toThrow("nested too deeply");
  const objects = (levels: number) => Uint8Array.from([...Array.from({ length: levels }, () => [3, 0, 1, 97]).flat(), 5]);
  expect(readAmf(objects(8))).toHaveLength(1);
  expect(() => readAmf(objects(9))).toThrow("nested too deeply");
  expect(readAmf(new Uint8Array(512).fill(5))).toHaveLength(512);
  expect(() => readAmf(new Uint8Array(513).fill(5))).toThrow("too many AMF values");
});

test("AMF0: lengths have two bytes, and a longer text is cut off there", () => {
  const long = "x".repeat(300);
  const list = Array.from({ length: 300 }, () => null);
  expect(readAmf(writeAmf([long, list, { [long]: 1 }]))).toEqual([long, list, { [long]: 1 }]);
  expect(String(readAmf(writeAmf(["x".repeat(70_000)]))[0]).length).toBe(65_535);
});

test("AMF0: a name may be empty, an end needs one, and any byte except 0 is true", () => {
  expect(readAmf(Uint8Array.from([3, 0, 0, 1, 2, 0, 0, 9, 1, 0]))).toEqual([{ "": true }, false]);
  expect(() => readAmf(Uint8Array.from([3, 0, 1, 97, 9, 0, 0, 9]))).toThrow("the AMF type 9");
  expect(() => readAmf(Uint8Array.from([11, 0x40, 0x59, 0, 0, 0, 0, 0, 0, 0]))).toThrow("cut off");
  expect(readAmf(new Uint8Array())).toEqual([]);
});
