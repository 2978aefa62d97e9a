import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parametersOf, parsePairs } from "./pairs.ts";

const COUNT_MAX = 1_000;
const read = (text: string, countMax = COUNT_MAX) => {
  const { parameters, defect } = parsePairs(text, "The query", countMax);
  return { parameters: parameters as Record<string, unknown>, defect };
};
/** Converts objects without a prototype to ordinary objects, so that tests can compare the value. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const sound = (text: string) => {
  const { parameters, defect } = read(text);
  expect(defect).toBeUndefined();
  return plain(parameters);
};

/** Every text that can be percent-encoded: all Unicode characters, including U+0000, but no lone surrogates. */
const anyText = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed());
const formEncoded = (text: string): string => encodeURIComponent(text).replaceAll("%20", "+");

describe("D-34: parameters of a query or form", () => {
  test("names and values, with and without an equals sign", () => {
    expect(sound("a=1&b=two&c=&d")).toEqual({ a: "1", b: "two", c: "", d: "" });
    expect(sound("&&a=1&&")).toEqual({ a: "1" });
    expect(sound("a=b=c")).toEqual({ a: "b=c" });
    expect(sound("=x")).toEqual({ "": "x" });
    expect(sound("")).toEqual({});
  });

  test("plus is a space, also beside escapes", () => {
    expect(sound("na+me=a+b%2Bc")).toEqual({ "na me": "a b+c" });
  });

  test("repetition makes a list", () => {
    expect(sound("a=1&a=2&a=3&b=x")).toEqual({ a: ["1", "2", "3"], b: "x" });
    expect(sound("a[]=1&a[]=2")).toEqual({ a: ["1", "2"] });
    expect(sound("a[]=1")).toEqual({ a: ["1"] });
    expect(sound("a=1&a[]=2")).toEqual({ a: ["1", "2"] });
  });

  test("D-160: a repeated equal value is one value; different ones are all kept", () => {
    expect(sound("a=1&b=x&a=1&a=1")).toEqual({ a: "1", b: "x" });
    expect(sound("a=1&a=1&a=2")).toEqual({ a: ["1", "1", "2"] });
    expect(sound("a[]=1&a[]=1")).toEqual({ a: ["1", "1"] });
    expect(sound("a=%C3%A9&a=é")).toEqual({ a: "é" });
    expect(read("a[b]=1&a=1&a=1").defect?.message).toBe("(#100) Param a has two forms that exclude each other, such as a=1 and a[b]=2");
  });

  test("brackets nest, plain or encoded", () => {
    expect(sound("a[b]=c&a[d][e]=f")).toEqual({ a: { b: "c", d: { e: "f" } } });
    expect(sound("a%5Bb%5D=c")).toEqual({ a: { b: "c" } });
    expect(sound("a[b]=1&a[b]=2")).toEqual({ a: { b: ["1", "2"] } });
    expect(sound("a[][b]=1&a[][b]=2")).toEqual({ a: [{ b: "1" }, { b: "2" }] });
    expect(sound("a[b][]=1&a[b][]=2")).toEqual({ a: { b: ["1", "2"] } });
  });

  test("keys that count from 0 are a list, in any order", () => {
    expect(sound("a[1]=y&a[0]=x")).toEqual({ a: ["x", "y"] });
    expect(sound("a[0][b]=x&a[1][b]=y")).toEqual({ a: [{ b: "x" }, { b: "y" }] });
    expect(sound("a[1]=x&a[2]=y")).toEqual({ a: { 1: "x", 2: "y" } });
    expect(sound("a[][0]=x&a[][1]=y&b[c][0]=z")).toEqual({ a: [["x"], { 1: "y" }], b: { c: ["z"] } });
  });

  test("a name with wrong brackets is a plain name", () => {
    expect(sound("a[b=1&a]b=2&[a]=3&a[b]c=4")).toEqual({ "a[b": "1", "a]b": "2", "[a]": "3", "a[b]c": "4" });
    expect(sound("a[b]c[d]=1&a[b]c]=2")).toEqual({ "a[b]c[d]": "1", "a[b]c]": "2" });
  });

  test("__proto__ is a parameter like any other", () => {
    const { parameters } = read("__proto__=x&__proto__[polluted]=1&constructor[prototype][polluted]=1&a[__proto__][polluted]=1");
    expect(Object.getPrototypeOf(parameters)).toBeNull();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.keys(parameters)).toEqual(["__proto__", "constructor", "a"]);
    expect(plain(Object.entries(parameters.a as object)[0]?.[1])).toEqual({ polluted: "1" });
  });

  test("a value and a nesting of one name are refused", () => {
    expect(read("a=1&a[b]=2").defect?.message).toBe("(#100) Param a has two forms that exclude each other, such as a=1 and a[b]=2");
    expect(read("a[b]=1&a=2").defect?.details.data).toEqual({ parameter: "a" });
    for (const text of ["a[b]=1&a[]=2", "a[]=1&a[b]=2"])
      expect(read(text).defect?.message).toBe("(#100) Param a has two forms that exclude each other, such as a=1 and a[b]=2");
  });

  test("eight levels are accepted, nine are refused", () => {
    expect(read(`a${"[b]".repeat(8)}=1`).defect).toBeUndefined();
    expect(read(`a${"[b]".repeat(9)}=1`).defect?.message).toBe("(#100) Param a nests deeper than 8 levels");
    for (const deeper of ["[b]".repeat(10), `${"[b]".repeat(10)}c`, "[]".repeat(5_000)]) {
      const { parameters, defect } = read(`a${deeper}=1&b=2`);
      expect([defect?.message, plain(parameters)]).toEqual(["(#100) Param a nests deeper than 8 levels", { b: "2" }]);
    }
  });
});

describe("D-21: malformed text is a defect, and the rest is read", () => {
  test.each(["%", "%4", "%zz", "%C3", "%C3%28", "%ED%A0%80", "%F8%88%80%80%80", "%C0%80", "%FF"])("%s in a value", (given) => {
    const { parameters, defect } = read(`a=${given}&access_token=t+1`);
    expect(defect?.entry.code).toBe(100);
    expect(defect?.details.data).toEqual({ parameter: "a" });
    expect(plain(parameters)).toEqual({ access_token: "t 1" });
  });

  test("in a name, which then cannot be named in the error", () => {
    const { parameters, defect } = read("%ff=1&b=2");
    expect(defect?.message).toContain("name is not percent-encoded UTF-8");
    expect(plain(parameters)).toEqual({ b: "2" });
  });

  test("too many parameters, of which credentials are still read", () => {
    const many = Array.from({ length: 1_000 }, (_, i) => `p${i}=1`).join("&");
    expect(read(many).defect).toBeUndefined();
    const { parameters, defect } = read(`${many}&x=1&access_token=t&oauth_token=o&appsecret_proof=p`);
    expect(defect?.message).toBe("(#100) More than 1000 parameters");
    expect(parameters).toMatchObject({ access_token: "t", oauth_token: "o", appsecret_proof: "p" });
    expect(parameters.x).toBeUndefined();
  });

  test("a long text is read in linear time", () => {
    const startedMs = performance.now();
    read("a&".repeat(524_288));
    read("a".repeat(1_048_576));
    read(`${"a=1&".repeat(262_144)}%`);
    // A search with quadratic time takes minutes in this test, and a linear one some 20 ms. The time limit of the test leaves room for a busy
    // machine.
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });
});

describe("properties", () => {
  test("any text survives percent-encoding, as name and as value", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(anyText, anyText), { selector: ([name]) => name, maxLength: 20 }), (pairs) => {
        const flat = pairs.filter(([name]) => !name.includes("["));
        for (const encode of [encodeURIComponent, formEncoded]) {
          const { parameters, defect } = read(flat.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&"));
          expect(defect).toBeUndefined();
          expect(Object.keys(parameters).length).toBe(flat.length);
          for (const [name, value] of flat) expect(parameters[name]).toBe(value);
        }
      }),
    );
  });

  test("it reads everything that URLSearchParams writes", () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, anyText), (record) => {
        const entries = Object.entries(record).filter(([name]) => !name.includes("["));
        const { parameters } = read(new URLSearchParams(entries).toString());
        for (const [name, value] of entries) expect(parameters[name]).toBe(value);
      }),
    );
  });

  test("nothing throws, and nothing gets a prototype", () => {
    const unit = fc.constantFrom("a", "b", "[", "]", "=", "&", "%", "+", "0", "1", "C3", "%5B", "__proto__", "é");
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), (units) => {
        const { parameters } = read(units.join(""), 10);
        expect(Object.getPrototypeOf(parameters)).toBeNull();
      }),
      { numRuns: 2_000 },
    );
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });
});

test("members of a JSON body are counted, and __proto__ is harmless", () => {
  const { parameters, defect } = parametersOf(JSON.parse('{"__proto__":{"polluted":1},"b":2,"access_token":"t"}'), 1);
  expect(defect?.message).toBe("(#100) More than 1 parameters");
  expect(Object.getPrototypeOf(parameters)).toBeNull();
  expect(Object.keys(parameters)).toEqual(["__proto__", "access_token"]);
  expect(parametersOf({ a: 1, b: 2 }, 2)).toMatchObject({ parameters: { a: 1, b: 2 }, defect: undefined });
});
