/** Values of each type, as in a request (where text stands for values of other types) and as in a world file. */
import { describe, expect, test } from "bun:test";
import { type TSchema, Type } from "typebox";
import { parametersReader } from "../pipeline/parameters.ts";
import { JsonNumber } from "../pipeline/request.ts";
import { entryReader } from "../worlds/file/entry-reader.ts";
import { ValueProblem } from "./scalars.ts";
import { filledText, NAMES_OF, ONLY_IN, PROBLEM, type ServedIn } from "./schema-node.ts";

type Outcome = { readonly is: unknown } | string;

const outcome = (read: (value: unknown) => unknown, value: unknown): Outcome => {
  try {
    return { is: (read({ v: value }) as { v?: unknown }).v };
  } catch (error) {
    return (error as Error).message.replace("(#100) Param ", "").replace(/^v ?/, "");
  }
};
const readers = (schema: TSchema) => {
  const holder = Type.Object({ v: schema });
  const [request, entry] = [parametersReader(holder), entryReader(holder)];
  return (value: unknown) => ({ request: outcome(request as (value: unknown) => unknown, value), entry: outcome(entry, value) });
};
/** The case in which requests and world files accept the value unchanged. */
const same = (value: unknown) => ({ request: { is: value }, entry: { is: value } });
/** The case in which requests and world files refuse the value in the same words. */
const refused = (problem: string) => ({ request: problem, entry: problem });

describe("text", () => {
  test("has a minimum and a maximum length in code points", () => {
    const read = readers(Type.String({ minLength: 2, maxLength: 3 }));
    expect([read("ab"), read("abc"), read("🎈🎈"), read("🎈🎈🎈")]).toEqual([same("ab"), same("abc"), same("🎈🎈"), same("🎈🎈🎈")]);
    for (const short of ["", "a", "🎈"]) expect(read(short)).toEqual(refused("must have at least 2 characters"));
    for (const long of ["abcd", "🎈🎈🎈🎈"]) expect(read(long)).toEqual(refused("must have at most 3 characters"));
  });

  test("can have one limit only, or none", () => {
    const [atLeast, atMost, any] = [readers(Type.String({ minLength: 1 })), readers(Type.String({ maxLength: 1 })), readers(Type.String())];
    expect([atLeast("a"), atMost("a"), atMost(""), any("")]).toEqual([same("a"), same("a"), same(""), same("")]);
    expect(atLeast("")).toEqual(refused("must not be empty"));
    expect(atMost("ab")).toEqual(refused("must have at most 1 characters"));
    expect(any("x".repeat(100_000))).toEqual(same("x".repeat(100_000)));
    expect(readers(Type.String({ maxLength: 0 }))("a")).toEqual(refused("must have at most 0 characters"));
  });

  test("matches its pattern, and has no unstorable characters", () => {
    const read = readers(Type.String({ pattern: "^a.$" }));
    expect(read("a🎈")).toEqual(same("a🎈"));
    expect(read("b")).toEqual({ request: "has an invalid format", entry: "must match ^a.$" });
    for (const text of ["\u0000", "a\ud800"]) expect(readers(Type.String())(text)).toEqual(refused("contains U+0000 or a lone surrogate"));
  });

  test("can be trimmed, and white space around it does not count", () => {
    const read = readers(Type.String(filledText(3)));
    expect([read(" ab\t"), read(" abc ")]).toEqual([same("ab"), same("abc")]);
    expect([read(""), read("  ")]).toEqual([refused("must not be empty"), refused("must not be empty")]);
    expect(read("abcd")).toEqual(refused("must have at most 3 characters"));
  });

  test("of a callback is checked last, because its error is the handshake's", () => {
    const read = parametersReader(Type.Object({ url: Type.String({ format: "callback" }), token: Type.String({ minLength: 1 }) }));
    const said = (given: Record<string, unknown>) => {
      try {
        return read(given, { profile: "strict" } as never);
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(said({ url: "x", token: "t" })).toContain("Callback verification failed");
    expect(said({ url: "x" })).toContain("token");
    expect(said({ url: "x", token: "" })).toContain("token");
  });

  test("can have a format, which one checker knows", () => {
    const cases: [format: string, right: string, wrong: string[], problem: string][] = [
      [
        "web-address",
        "HTTP://example.com/a",
        [
          "",
          "ftp://example.com",
          "example.com",
          "https://",
          ...["a b", "a\tb", "a\u0001b", "a\u0085b", "a\u2003b", "a "].map((path) => `https://example.com/${path}`),
        ],
        "must be an http or https address, without white space and control characters",
      ],
      ["id", "9223372036854775807", ["0", "01", "9223372036854775808", "x"], "must be an id: a decimal number from 1 to 9223372036854775807"],
      ["time-zone", "Europe/Berlin", ["", "Mars/Base"], "is not a name of the time zone database, e.g. Europe/Berlin"],
      ["country", "DE", ["XX", "", "DEU"], "must be a country code of ISO 3166-1, such as DE"],
    ];
    for (const [format, right, wrong, problem] of cases) {
      const read = readers(Type.String({ format }));
      expect({ format, read: read(right) }).toEqual({ format, read: same(right) });
      for (const text of wrong) expect({ format, text, read: read(text) }).toEqual({ format, text, read: refused(problem) });
    }
    expect(readers(Type.String({ format: "country" }))("de")).toEqual(same("DE"));
    const callback = readers(Type.String({ format: "callback" }));
    expect([callback("https://example.com"), callback("ftp://example.com")]).toEqual([
      same("https://example.com"),
      {
        request: "(#2200) Callback verification failed: the address is not an http or https address",
        entry: "is not an http or https address",
      },
    ]);
    expect(() => parametersReader(Type.Object({ v: Type.String({ format: "uri" }) }))({ v: "a" })).toThrow(
      "no value is read by the schema format uri",
    );
  });

  test("can be limited to names that the registry knows", () => {
    const read = parametersReader(Type.Object({ v: Type.String({ [NAMES_OF]: "fields" }) }));
    const where: ServedIn = { profile: "strict", namesOf: (what) => [`${what}_1`, `${what}_2`] };
    expect(read({ v: "fields_2" }, where)).toEqual({ v: "fields_2" });
    expect(() => read({ v: "fields_3" }, where)).toThrow("v must be one of fields_1, fields_2");
  });

  test("is refused in the contract's own words, if it has them", () => {
    const read = readers(Type.Array(Type.String({ maxLength: 1 }), { [PROBLEM]: "is not a list of letters" }));
    expect([read(["a"]), read(["ab"])]).toEqual([same(["a"]), refused("is not a list of letters")]);
  });

  test("can be a number in a request", () => {
    const read = readers(Type.String());
    expect(read(12)).toEqual({ request: { is: "12" }, entry: "must be a text; put it in quotes" });
    expect(read(new JsonNumber("1.50")).request).toEqual({ is: "1.50" });
    for (const value of [true, [], {}]) expect(read(value)).toEqual({ request: "must be a string", entry: "must be a text" });
  });
});

describe("a whole number", () => {
  const read = readers(Type.Integer());

  test("can be any that a float holds exactly, and text in a request", () => {
    for (const value of [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
      expect(read(value)).toEqual(same(value));
      expect(read(String(value))).toEqual({ request: { is: value }, entry: "must be an integer" });
    }
    for (const value of [1.5, 2 ** 53, "9007199254740992", "-9007199254740992", "1e3", "1.0", " 1", "", "+1", "0".repeat(18), true, [1]])
      expect(read(value)).toEqual(refused("must be an integer"));
    // A number read from JSON keeps all its digits.
    expect([read(new JsonNumber("9007199254740991")).request, read(new JsonNumber("9007199254740993")).request]).toEqual([
      ...[{ is: Number.MAX_SAFE_INTEGER }, "must be an integer"],
    ]);
  });

  test("is within its limits, inclusive", () => {
    const bounded = readers(Type.Integer({ minimum: -2, maximum: 3 }));
    expect([bounded(-2), bounded(3)]).toEqual([same(-2), same(3)]);
    expect([bounded(-3), bounded(4)]).toEqual([refused("must be at least -2"), refused("must be at most 3")]);
    expect([readers(Type.Integer({ minimum: 1 }))(0), readers(Type.Integer({ maximum: 1 }))(2)]).toEqual([
      ...[refused("must be at least 1"), refused("must be at most 1")],
    ]);
    expect([readers(Type.Integer({ minimum: 1 }))(9), readers(Type.Integer({ maximum: 1 }))(-9)]).toEqual([same(9), same(-9)]);
  });
});

describe("a number", () => {
  test("is a finite number, and can be its text in a request", () => {
    const read = readers(Type.Number());
    for (const text of ["1", "-1.50", "+.5", "1.", "1e-7", "1E+300", "9007199254740993.10"])
      expect(read(text)).toEqual({ request: { is: Number(text) }, entry: "must be a number" });
    expect(read(1.5)).toEqual(same(1.5));
    expect(read(new JsonNumber("1.50")).request).toEqual({ is: 1.5 });
    for (const text of ["", ".", "1,5", "e5", "1e", "--1", "Infinity", "0x1", " 1", "1e400", "1\u0000"])
      expect(read(text)).toEqual(refused("must be a number"));
    for (const value of [true, false]) expect(read(value)).toEqual(refused("must be a number"));
    for (const value of [[], {}]) expect(read(value)).toEqual(refused("must be a number"));
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) expect(read(value).entry).toBe("must be a number");
  });

  test("is within its limits", () => {
    const read = readers(Type.Number({ minimum: 0.5, maximum: 90 }));
    expect([read(0.5), read(90), read(0.4), read(90.1)]).toEqual([
      same(0.5),
      same(90),
      refused("must be at least 0.5"),
      refused("must be at most 90"),
    ]);
  });
});

test("true and false can be words and digits in a request", () => {
  const read = readers(Type.Boolean());
  for (const value of [true, false]) expect(read(value)).toEqual(same(value));
  const asked = { is: true, words: [1, "true", "1", "True", "TRUE"] };
  const denied = { is: false, words: [0, "false", "0", "False", "FALSE"] };
  for (const { is, words } of [asked, denied])
    for (const word of words) expect(read(word)).toEqual({ request: { is }, entry: "must be true or false" });
  for (const value of ["yes", "", 2, "tRUE", [], {}]) expect(read(value)).toEqual(refused("must be true or false"));
});

describe("constants", () => {
  test("belong to a closed set, and can be their text in a request", () => {
    const read = readers(Type.Union([Type.Literal("a"), Type.Literal(1), Type.Literal(true)]));
    for (const value of ["a", 1, true]) expect(read(value)).toEqual(same(value));
    expect([read("1"), read("true")]).toEqual([
      { request: { is: 1 }, entry: "must be one of a, 1, true" },
      { request: { is: true }, entry: "must be one of a, 1, true" },
    ]);
    for (const value of ["b", 2, {}, ["a"]]) expect(read(value)).toEqual(refused("must be one of a, 1, true"));
  });

  test("are listed in an enum or single", () => {
    const listed = readers(Type.Unsafe({ type: "string", enum: ["a", "b"] }));
    expect([listed("b"), listed("c")]).toEqual([same("b"), refused("must be one of a, b")]);
    const alone = readers(Type.Literal("a"));
    expect([alone("a"), alone("b")]).toEqual([same("a"), { request: "must be one of a", entry: "must be a" }]);
  });
});

describe("a choice of schemas", () => {
  test("is the first that fits, and has the first one's problem if none does", () => {
    const read = readers(Type.Union([Type.Integer({ minimum: 5 }), Type.String({ maxLength: 2 }), Type.Null()]));
    expect([read(5), read("ab"), read(null)]).toEqual([same(5), same("ab"), same(null)]);
    expect(read(4)).toEqual({ request: { is: "4" }, entry: "must be at least 5" });
    expect(read("abc")).toEqual(refused("must be an integer"));
    // The second alternative is not a constant.
    const mixed = readers(Type.Union([Type.Literal("a"), Type.Integer()]));
    expect([mixed("a"), mixed(7), mixed("b").entry]).toEqual([same("a"), same(7), "must be a"]);
  });

  test("accepts null if one of them does", () => {
    expect(readers(Type.Null())(null)).toEqual(same(null));
    expect(readers(Type.Null())("x")).toEqual(refused("must be null"));
    expect(readers(Type.Union([Type.String(), Type.Integer()]))(null)).toEqual(refused("is required"));
  });
});

test("an empty schema accepts anything, and numbers become text unless the feature reads them itself", () => {
  const number = new JsonNumber("9007199254740993");
  expect(readers(Type.Unknown())({ a: [number, 1, null, "x"] })).toEqual(same({ a: ["9007199254740993", 1, null, "x"] }));
  expect(readers(Type.Unsafe({ "x-plaza-raw": true }))({ a: number })).toEqual(same({ a: number }));
});

test("a problem has its path inside the value", () => {
  expect(new ValueProblem("is wrong").message).toBe("is wrong");
  expect(new ValueProblem("is wrong", "users[0]").message).toBe("users[0] is wrong");
  const schema = Type.Object({ lists: Type.Array(Type.Array(Type.Object({ a: Type.Integer() }))) });
  expect(() => parametersReader(schema)({ lists: [[], [{ a: 1 }, { a: "x" }]] })).toThrow("lists[1][1].a must be an integer");
});

test("alternatives can belong to one profile, and the problem is that of the closest one", () => {
  const flag = Type.Union([Type.Integer({ minimum: 0, maximum: 1 }), Type.Boolean({ [ONLY_IN]: "clients" })]);
  const read = parametersReader(Type.Object({ v: flag }));
  const inProfile = (profile: ServedIn["profile"]) => () => read({ v: true }, { profile, namesOf: () => [] });
  expect(inProfile("clients")()).toEqual({ v: true });
  expect(inProfile("strict")).toThrow("v must be an integer");
  const place = readers(Type.Union([Type.String({ format: "id" }), Type.Object({ at: Type.Object({ x: Type.Integer() }) }), Type.Null()]));
  expect(place({ at: { x: "far" } })).toEqual(refused(".at.x must be an integer"));
  expect(place("far").request).toContain("must be an id");
});

test("only a file of multipart/form-data is a file", () => {
  const read = parametersReader(Type.Object({ v: Type.Unknown({ format: "binary" }) }));
  const file = { filename: "a.csv", contentType: "text/csv", bytes: new Uint8Array(1) };
  expect(read({ v: file })).toEqual({ v: file });
  for (const v of ["a.csv", {}, { bytes: "text" }]) expect(() => read({ v })).toThrow("v must be a file of multipart/form-data");
});
