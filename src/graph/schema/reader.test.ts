import { describe, expect, test } from "bun:test";
import { type TObject, type TObjectOptions, type TSchema, Type } from "typebox";
import { GraphError } from "#kernel/errors";
import { buildRegistry } from "#main";
import { parametersReader } from "../pipeline/parameters.ts";
import { entryReader } from "../worlds/file/entry-reader.ts";
import { WorldProblem } from "../worlds/file/schema-words.ts";

/** The last words of the error message about a request or a world file that cannot be read. */
function problemOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof WorldProblem) return error.message;
    if (error instanceof GraphError) return error.message.replace("(#100) Param ", "");
    throw error;
  }
  throw new Error("the value was taken");
}

describe("schema", () => {
  const unreadable: Record<string, TSchema> = {
    "the schema word uniqueItems": Type.Array(Type.String(), { uniqueItems: true }),
    "the schema word multipleOf": Type.Integer({ multipleOf: 2 }),
    "the schema word allOf": Type.Intersect([Type.Object({}), Type.Object({})]),
    "the schema word not": Type.Union([Type.String(), Type.Unsafe({ not: {} })]),
    "the schema word dependencies": Type.Union([Type.Literal(1, { dependencies: {} }), Type.Literal(2)]),
    "the schema type bigint": Type.Unsafe({ type: "bigint" }),
  };
  for (const [what, schema] of Object.entries(unreadable)) {
    test(`${what} is refused when a reader first reads, for requests and for world files`, () => {
      const holder = Type.Object({ list: Type.Optional(Type.Array(Type.Object({ one: schema }))) });
      expect(() => parametersReader(holder)({})).toThrow(`no value is read by ${what}`);
      expect(() => entryReader(holder)({})).toThrow(`no value is read by ${what}`);
    });
  }

  test("all schemas of operations and of world files can be read", () => {
    const { endpoints, features } = buildRegistry();
    const readers = endpoints.map(({ readParams }) => readParams);
    for (const { entry } of features.flatMap(({ worldSections = [] }) => worldSections)) readers.push(entryReader(entry) as never);
    expect(readers.length).toBeGreaterThan(80);
    const ours = /is required|must /;
    for (const read of readers) {
      try {
        read({});
      } catch (error) {
        expect((error as Error).message).toMatch(ours);
      }
    }
  });

  test("D-21: both name the place of the mistake, each in its own words", () => {
    const schema = Type.Object({ users: Type.Array(Type.Object({ name: Type.String({ minLength: 1 }), age: Type.Integer() })) });
    const readParameters = parametersReader(schema);
    const readEntry = entryReader(schema);
    const cases: { value: Record<string, unknown>; request: string; entry: string }[] = [
      { value: { users: [{ name: "", age: 1 }] }, request: "users[0].name must not be empty", entry: "users[0].name must not be empty" },
      { value: { users: [{ name: true, age: 1 }] }, request: "users[0].name must be a string", entry: "users[0].name must be a text" },
      { value: { users: [{ age: "x" }] }, request: "users[0].name is required", entry: "users[0].age must be an integer" },
      { value: { users: [1] }, request: "users[0] must be an object", entry: "users[0] must be a map" },
      { value: {}, request: "users is required", entry: "users is required" },
    ];
    for (const { value, request, entry } of cases) {
      expect({ request: problemOf(() => readParameters(value)), entry: problemOf(() => readEntry(value)) }).toEqual({ request, entry });
    }
  });

  test("text in a query can mean other kinds; in a world file it is text", () => {
    const schema = Type.Object({ count: Type.Integer(), is_on: Type.Boolean(), list: Type.Array(Type.String()), rank: Type.Literal(1) });
    const value = { count: "1", is_on: "true", list: '["a"]', rank: "1" };
    expect(parametersReader(schema)(value)).toEqual({ count: 1, is_on: true, list: ["a"], rank: 1 });
    expect(problemOf(() => entryReader(schema)(value))).toBe("count must be an integer");
    expect(problemOf(() => entryReader(schema)({ ...value, count: 1, is_on: true, list: [] }))).toBe("rank must be 1");
  });

  test("D-34, operating.md: an undeclared key is omitted from a request, kept in a world file, or refused by a closed schema", () => {
    const schemaOf = (options: TObjectOptions): TObject => Type.Object({ name: Type.Optional(Type.String()) }, options);
    const value = { named: "x", deep: { list: [null, 1] } };
    expect(parametersReader(schemaOf({}))(value)).toEqual({});
    expect(entryReader(schemaOf({}))(value)).toEqual(value);
    expect(parametersReader(schemaOf({ additionalProperties: true }))(value)).toEqual(value);
    expect(problemOf(() => entryReader(schemaOf({ additionalProperties: false }))(value))).toBe("named is not known here; did you mean name?");
  });

  test("D-21: kept values have no unstorable text, not even in keys, and no more than JSON's depth", () => {
    const read = entryReader(Type.Object({ free: Type.Unknown() }));
    expect(problemOf(() => read({ free: { list: ["a", "\u0000"] } }))).toBe("free.list[1] contains U+0000 or a lone surrogate");
    expect(problemOf(() => read({ free: { "\ud800": 1 } }))).toBe("free has a key with U+0000 or a lone surrogate");
    const circular: unknown[] = [];
    circular.push(circular);
    expect(problemOf(() => read({ free: circular }))).toEndWith("nests deeper than 32 levels");
    expect(JSON.stringify(read({ free: JSON.parse('{"__proto__":{"a":1}}') }))).toBe('{"free":{"__proto__":{"a":1}}}');
  });
});
