import { describe, expect, test } from "bun:test";
import type { GraphResponse } from "../request.ts";
import { References, readPath, referencesIn, valuesAt } from "./references.ts";

const found = (document: unknown, path: string): unknown => valuesAt(document, readPath(path), () => {});

describe("D-34: a path into a response", () => {
  const document = {
    data: [
      { id: "1", tags: { a: 1 } },
      { id: "2", "odd name": true },
    ],
    id: "0",
  };

  test.each([
    ["$", [document]],
    ["$.id", ["0"]],
    ["$['id']", ["0"]],
    ["$.data[1].id", ["2"]],
    ["$.data[1]['odd name']", [true]],
    ["$.data.*.id", ["1", "2"]],
    ["$.data[*].id", ["1", "2"]],
    ["$..id", ["0", "1", "2"]],
    ["$.data..a", [1]],
    ["$.data[2].id", []],
    ["$.id.length", []],
    ["$.nothing", []],
    ["$.constructor", []],
  ])("%s", (path, expected) => {
    expect(found(document, path)).toEqual(expected);
  });

  test.each(["$.", "$x", "$.a[", "$.a[b]", "$.a.b!", "$['a]"])("%s cannot be read", (path) => {
    expect(() => readPath(path)).toThrow("batch");
  });

  test("has 32 steps at most", () => {
    expect(readPath(`$${".a".repeat(32)}`)).toHaveLength(32);
    expect(() => readPath(`$${".a".repeat(33)}`)).toThrow("at position 65");
  });

  test("every visited value counts: all of them at any depth, or the object that has the name", () => {
    const visits = (path: string): number => {
      let count = 0;
      valuesAt({ a: { b: 1 }, c: [2] }, readPath(path), () => count++);
      return count;
    };
    expect({ name: visits("$.a.b"), every: visits("$.*"), anywhere: visits("$..b") }).toEqual({ name: 2, every: 3, anywhere: 5 });
  });
});

describe("D-34, D-39: references", () => {
  const response = (body: unknown): GraphResponse => ({
    status: 200,
    headers: {},
    body: JSON.stringify(body),
    operation: "",
    traceId: "",
    app: undefined,
  });
  const references = (results: Readonly<Record<string, unknown>>) =>
    new References(new Map(Object.entries(results).map(([name, body]) => [name, response(body)])));

  test("the names that a text refers to are found", () => {
    expect(referencesIn("/?ids={result=one:$.id},{result=two:$.data[*].id}", "address")).toEqual(["one", "two"]);
    expect(referencesIn("/me", "address")).toEqual([]);
    expect(() => referencesIn("{result=one:$!}", "form")).toThrow("batch");
  });

  test("a reference is recognized in any form of its text: percent-encoded in part or whole, escaped in JSON", () => {
    const reference = "{result=a &b:$.data[0]['x y']}";
    const written = [
      reference,
      encodeURI(reference).replace("&", "%26"),
      encodeURIComponent(reference),
      encodeURIComponent(reference).replaceAll("%20", "+"),
    ];
    const one = references({ "a &b": { data: [{ "x y": "1&2 %41" }] } });
    for (const text of written.slice(0, 3)) expect(one.address(`/v/${text}/e`)).toBe("/v/1%262%20%2541/e");
    for (const text of written) {
      expect(one.address(`/v?a=%ff&b=x+${text}+y&${reference}=1`)).toBe("/v?a=%ff&b=x%201%262%20%2541%20y&1%262%20%2541=1");
      expect(one.body(`b=${text}&c=a%20b+c`, "form")).toBe("b=1%262%20%2541&c=a%20b+c");
      expect(referencesIn(`b=${text}`, "form")).toEqual(["a &b"]);
    }
    expect(one.body(JSON.stringify({ a: reference, n: 1 }).replace("{result", "\\u007bresult"), "json")).toBe('{"a":"1&2 %41","n":1}');
  });

  test("an inserted value is not a reference, and undecodable text stays", () => {
    const of = references({ a: { id: "{result=a:$.x}" } });
    expect(of.address("/?b={result=a:$.id}")).toBe(`/?b=${encodeURIComponent("{result=a:$.x}")}`);
    expect(of.body('{"b":"{result=a:$.id}"}', "json")).toBe('{"b":"{result=a:$.x}"}');
    for (const text of ["a=%ff%7Bresult=a:$.id%7D", "a=%7Bresult", "a=%7Bresult=a:$.id"]) expect(of.body(text, "form")).toBe(text);
    for (const text of ['{"a":"{result=', '{"a":"\\x{result=a:$.id}"}']) expect(of.body(text, "json")).toBe(text);
  });

  test("several values are joined by a comma, encoded as the place needs it", () => {
    const both = references({ one: { data: [{ id: 'a"b' }, { id: "c&d" }] } });
    expect(both.address("/?ids={result=one:$.data.*.id}&x=1")).toBe("/?ids=a%22b%2Cc%26d&x=1");
    expect(both.body('{"ids":"{result=one:$.data.*.id}"}', "json")).toBe('{"ids":"a\\"b,c&d"}');
    expect(both.body("ids={result=one:$.data.*.id}", "form")).toBe("ids=a%22b%2Cc%26d");
  });

  test("each of several references in one text has its own values", () => {
    const both = references({ one: { data: [{ id: "a" }, { id: "b" }] }, two: { id: "c" } });
    expect(both.address("/{result=two:$.id}?ids={result=one:$.data.*.id}&x={result=two:$.id}")).toBe("/c?ids=a%2Cb&x=c");
    expect(both.body('{"a":"{result=one:$.data.*.id}","b":"{result=two:$.id},{result=one:$.data[0].id}"}', "json")).toBe('{"a":"a,b","b":"c,a"}');
  });

  test("an object is inserted as JSON, and a missing value as nothing", () => {
    expect(references({ one: { a: [1] } }).body("v={result=one:$.a}", "form")).toBe("v=%5B1%5D");
    expect(references({}).body("v={result=one:$.a}", "form")).toBe("v=");
  });

  test("an address may have 16,384 bytes, with references and without", () => {
    const of = (length: number) => references({ one: { text: "x".repeat(length) } });
    expect(of(16_384).address("{result=one:$.text}")).toHaveLength(16_384);
    expect(() => of(16_385).address("{result=one:$.text}")).toThrow("16384");
    expect(of(1).address("x".repeat(16_384))).toHaveLength(16_384);
    expect(() => of(1).address("x".repeat(16_385))).toThrow("16384");
    expect(() => of(16_384).address("{result=one:$.text}é")).toThrow("16384");
  });

  test("a body may have a mebibyte, counted in bytes", () => {
    const text = "é".repeat(524_288);
    expect(references({}).body(text, "json")).toBe(text);
    expect(() => references({}).body(`${text}x`, "json")).toThrow("1048576");
  });

  test("all that refer to others may derive four mebibytes together; what refers to nothing does not count", () => {
    const of = references({ one: { a: "x" } });
    const quarter = `"{result=one:$.a}${"y".repeat(1_048_573)}"`;
    for (let i = 0; i < 4; i++) of.body(quarter, "json");
    expect(of.body("y".repeat(1_000_000), "json")).toHaveLength(1_000_000);
    expect(() => of.body('"{result=one:$.a}"', "json")).toThrow("inserts more than 4194304 bytes");
  });

  test("a batch looks at a million values at most, and reading or writing eight characters counts as one", () => {
    // Each reference costs (length + 12) / 8 for reading the response, 1 for its only value, and length / 8 for writing the value into the text.
    const four = (length: number) => () => {
      const of = references({ one: { texts: "x".repeat(length) } });
      for (let i = 0; i < 4; i++) of.body('"{result=one:$.texts}"', "json");
    };
    expect(four(999_990)).not.toThrow();
    expect(four(999_991)).toThrow("reads too much of earlier responses");
  });
});
