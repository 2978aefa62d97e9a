import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { UNIX_SECONDS_MAX, unixSeconds, utcText, worldTimeMs } from "./clock.ts";
import { catalogue, type ErrorEntry, GraphError, invalidParameter, unsupportedRequest } from "./errors.ts";
import { isNodeId, nodeId } from "./ids.ts";
import { PortRegistry } from "./ports.ts";
import { parseSelection, type Selection, selectionText } from "./selection.ts";
import { codePointCount, detached, escapedHtml, foldCase, isStorableText, trimmedEnd, withoutCitations } from "./text.ts";
import { formatVersion, parseVersion } from "./versions.ts";

describe("kernel", () => {
  test("D-02: a node id is a decimal from 1 to 2^63 − 1 without leading zeros", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -10n, max: 2n ** 64n }), (value) => {
        expect(isNodeId(String(value))).toBe(value >= 1n && value < 2n ** 63n);
      }),
    );
    for (const text of ["", "0", "01", "+1", "1.0", " 1", "１", "9223372036854775808"]) expect(isNodeId(text)).toBe(false);
    expect(isNodeId("9223372036854775807")).toBe(true);
  });

  test("D-33: a selection is read in any spelling", () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_]{1,6}$/);
    const { selection } = fc.letrec<{ selection: [string, unknown][] }>((tie) => ({
      selection: fc.uniqueArray(fc.tuple(name, fc.option(tie("selection"), { depthSize: "small", maxDepth: 4 })), {
        selector: ([key]) => key,
        minLength: 1,
        maxLength: 4,
      }),
    }));
    const write = (list: [string, unknown][]): string =>
      list.map(([key, inner]) => (inner ? `${key}{${write(inner as [string, unknown][])}}` : key)).join(",");
    const read = (found: Selection): unknown[] => [...found].map(([key, inner]) => [key, inner === undefined ? null : read(inner)]);
    fc.assert(fc.property(selection, (list) => expect(read(parseSelection(write(list)))).toEqual(list)));
  });

  test("D-33: any text is a selection or a named error", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        try {
          parseSelection(text);
        } catch (error) {
          expect(error).toBeInstanceOf(GraphError);
          expect((error as GraphError).details.data?.parameter).toBe("fields");
        }
      }),
    );
  });

  test("D-21: an error repeats names of parameters without secrets, and up to a limit", () => {
    const name = '{"access_token":"s3cret"}';
    const error = invalidParameter(name, "is not known here");
    expect({ message: error.message, data: error.details.data }).toEqual({
      message: '(#100) Param {"access_token":"…"} …',
      data: { parameter: '{"access_token":"…"}' },
    });
    const long = invalidParameter("x".repeat(1_000_000), "is not known here");
    expect([long.message, long.details.data?.parameter].map((text) => String(text).length)).toEqual([2_001, 2_001]);
    expect(invalidParameter("access_token", "is wrong").message).toBe("(#100) Param access_token is wrong");
  });

  test("D-03: versions are v{n} and v{n}.{m}, sorted by both numbers", () => {
    expect(parseVersion("v26.0")).toBe(26);
    expect(parseVersion("v26")).toBe(26);
    expect(parseVersion("v1")).toBe(1);
    expect([parseVersion("v9999.999"), parseVersion("v1.9")]).toEqual([9_999.999, 1.009]);
    for (const text of ["v10000", "v12345.1", "v1.1000", "v0", "v0.0"])
      expect({ text, version: parseVersion(text) }).toEqual({ text, version: undefined });
    for (const text of ["26.0", "v26.01", "v026", "v0.1", "v", "v.1", "v26.", "v26.0.0", "v26.1000", "v26.x", "V26"])
      expect({ text, version: parseVersion(text) }).toEqual({ text, version: undefined });
    const anyVersion = fc.tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: 0, max: 999 }));
    fc.assert(
      fc.property(anyVersion, anyVersion, (one, other) => {
        const [a, b] = [one, other].map(([major, minor]) => parseVersion(`v${major}.${minor}`) as number) as [number, number];
        expect(formatVersion(a)).toBe(`v${one[0]}.${one[1]}`);
        expect(Math.sign(a - b)).toBe(Math.sign(one[0] - other[0] || one[1] - other[1]));
      }),
    );
  });

  test("D-21: text with U+0000 or a lone surrogate is not storable; lengths count code points", () => {
    for (const text of ["a", "😀", ""]) expect({ text, isStorable: isStorableText(text) }).toEqual({ text, isStorable: true });
    for (const text of ["a\u0000", "\ud800", "\udc00x"]) expect({ text, isStorable: isStorableText(text) }).toEqual({ text, isStorable: false });
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => expect(codePointCount(text)).toBe([...text].length)));
    // The first and the last character that have two UTF-16 units, and the characters just outside the range of second units.
    for (const text of ["\u{10000}", "\u{10ffff}", "\ue000", "\ud7ff"]) expect({ text, count: codePointCount(text) }).toEqual({ text, count: 1 });
  });
});

test("a summary loses only its citations", () => {
  expect(withoutCitations("Sets it (H1); without any, removes it (H3), for good (LIVE-13, LIVE-14).")).toBe(
    "Sets it; without any, removes it, for good.",
  );
  expect(withoutCitations("Needs SHA-256 (D-60 to D-61) and a pause (2 s).")).toBe("Needs SHA-256 and a pause (2 s).");
});

test("a repeated character is removed only from the end of a text", () => {
  expect(["a/b//", "a", "/", "//", "", "/a"].map((text) => trimmedEnd(text, "/"))).toEqual(["a/b", "a", "", "", "", "/a"]);
  expect([detached("ä𝄞"), detached("")]).toEqual(["ä𝄞", ""]);
});

test("a text in a page is no markup, and ends no attribute", () => {
  expect(escapedHtml(`<b class="x" id='y'>Tom & Ada</b>`)).toBe("&lt;b class=&quot;x&quot; id=&#x27;y&#x27;&gt;Tom &amp; Ada&lt;/b&gt;");
});

/** The characters with the status F in CaseFolding.txt, each with its folding. */
const fullFoldings = new Map(
  `
  \u00df ss, \u0130 i\u0307, \u0149 \u02bcn, \u01f0 j\u030c, \u0390 \u03b9\u0308\u0301, \u03b0 \u03c5\u0308\u0301, \u0587 \u0565\u0582, \u1e96
  h\u0331, \u1e97 t\u0308, \u1e98 w\u030a, \u1e99 y\u030a, \u1e9a a\u02be, \u1e9e ss, \u1f50 \u03c5\u0313, \u1f52 \u03c5\u0313\u0300, \u1f54
  \u03c5\u0313\u0301, \u1f56 \u03c5\u0313\u0342, \u1f80 \u1f00\u03b9, \u1f81 \u1f01\u03b9, \u1f82 \u1f02\u03b9, \u1f83 \u1f03\u03b9, \u1f84
  \u1f04\u03b9, \u1f85 \u1f05\u03b9, \u1f86 \u1f06\u03b9, \u1f87 \u1f07\u03b9, \u1f88 \u1f00\u03b9, \u1f89 \u1f01\u03b9, \u1f8a \u1f02\u03b9,
  \u1f8b \u1f03\u03b9, \u1f8c \u1f04\u03b9, \u1f8d \u1f05\u03b9, \u1f8e \u1f06\u03b9, \u1f8f \u1f07\u03b9, \u1f90 \u1f20\u03b9, \u1f91
  \u1f21\u03b9, \u1f92 \u1f22\u03b9, \u1f93 \u1f23\u03b9, \u1f94 \u1f24\u03b9, \u1f95 \u1f25\u03b9, \u1f96 \u1f26\u03b9, \u1f97 \u1f27\u03b9,
  \u1f98 \u1f20\u03b9, \u1f99 \u1f21\u03b9, \u1f9a \u1f22\u03b9, \u1f9b \u1f23\u03b9, \u1f9c \u1f24\u03b9, \u1f9d \u1f25\u03b9, \u1f9e
  \u1f26\u03b9, \u1f9f \u1f27\u03b9, \u1fa0 \u1f60\u03b9, \u1fa1 \u1f61\u03b9, \u1fa2 \u1f62\u03b9, \u1fa3 \u1f63\u03b9, \u1fa4 \u1f64\u03b9,
  \u1fa5 \u1f65\u03b9, \u1fa6 \u1f66\u03b9, \u1fa7 \u1f67\u03b9, \u1fa8 \u1f60\u03b9, \u1fa9 \u1f61\u03b9, \u1faa \u1f62\u03b9, \u1fab
  \u1f63\u03b9, \u1fac \u1f64\u03b9, \u1fad \u1f65\u03b9, \u1fae \u1f66\u03b9, \u1faf \u1f67\u03b9, \u1fb2 \u1f70\u03b9, \u1fb3 \u03b1\u03b9,
  \u1fb4 \u03ac\u03b9, \u1fb6 \u03b1\u0342, \u1fb7 \u03b1\u0342\u03b9, \u1fbc \u03b1\u03b9, \u1fc2 \u1f74\u03b9, \u1fc3 \u03b7\u03b9, \u1fc4
  \u03ae\u03b9, \u1fc6 \u03b7\u0342, \u1fc7 \u03b7\u0342\u03b9, \u1fcc \u03b7\u03b9, \u1fd2 \u03b9\u0308\u0300, \u1fd3 \u03b9\u0308\u0301,
  \u1fd6 \u03b9\u0342, \u1fd7 \u03b9\u0308\u0342, \u1fe2 \u03c5\u0308\u0300, \u1fe3 \u03c5\u0308\u0301, \u1fe4 \u03c1\u0313, \u1fe6
  \u03c5\u0342, \u1fe7 \u03c5\u0308\u0342, \u1ff2 \u1f7c\u03b9, \u1ff3 \u03c9\u03b9, \u1ff4 \u03ce\u03b9, \u1ff6 \u03c9\u0342, \u1ff7
  \u03c9\u0342\u03b9, \u1ffc \u03c9\u03b9, \ufb00 ff, \ufb01 fi, \ufb02 fl, \ufb03 ffi, \ufb04 ffl, \ufb05 st, \ufb06 st, \ufb13 \u0574\u0576,
  \ufb14 \u0574\u0565, \ufb15 \u0574\u056b, \ufb16 \u057e\u0576, \ufb17 \u0574\u056d`
    .trim()
    .split(/,\s+/)
    .map((entry) => entry.split(/\s+/) as [string, string]),
);

test("D-310: texts have one form if they differ only by Unicode's full case folding", () => {
  for (const [text, other] of [
    ...[
      ["STRASSE", "stra\u00dfe"],
      ["\ufb00", "FF"],
      ["\u039f\u03a3", "\u03bf\u03c2"],
      ["\u00b5", "\u03bc"],
      ["\u1e9e", "ss"],
      ["\u212a", "k"],
    ],
  ] as [string, string][])
    expect({ text, folded: foldCase(text) }).toEqual({ text, folded: foldCase(other) });
  for (const other of ["i", "I", "\u0130"]) expect(foldCase("\u0131")).not.toBe(foldCase(other));
  expect(fullFoldings.size).toBe(104);
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    const folded = foldCase(character);
    const full = fullFoldings.get(character);
    // Regular expressions with the flags i and u compare by foldings to one character, so the test can compare the results for all characters except
    // those with a full folding.
    const isRight = full === undefined ? new RegExp(`^\\u{${code.toString(16)}}$`, "iu").test(folded) : folded === full;
    const isOneForm = foldCase(folded) === folded && (character === "\u0131" || foldCase(character.toUpperCase()) === folded);
    if (!isRight || !isOneForm) expect({ character, folded }).toBe({ character, folded: full ?? "another character" });
  }
});

test("times are whole seconds of the past, written in UTC with a numeric offset, up to the end of the year 9999", () => {
  expect([0, 999, 1_000, 1_999].map((ms) => unixSeconds({ nowMs: () => ms }))).toEqual([0, 0, 1, 1]);
  expect([utcText(0), utcText(1_795_000_000), utcText(UNIX_SECONDS_MAX)]).toEqual([
    ...["1970-01-01T00:00:00+0000", "2026-11-18T11:06:40+0000", "9999-12-31T23:59:59+0000"],
  ]);
  const state = { worldMs: 50, realMs: 1_000 };
  expect([undefined, { ...state, isFrozen: true }, { ...state, isFrozen: false }].map((one) => worldTimeMs(one, 1_007))).toEqual([1_007, 50, 57]);
});

describe("D-33: the contents of a selection", () => {
  const problem = (text: string): string => {
    try {
      parseSelection(text);
      return "none";
    } catch (error) {
      return (error as Error).message.replace("(#100) Param fields ", "");
    }
  };
  const written = (text: string): string => selectionText(parseSelection(text));

  test("names of letters, digits and underscores, and no neighbours of these in ASCII", () => {
    for (const unit of "azAZ09_") expect({ unit, problem: problem(unit) }).toEqual({ unit, problem: "none" });
    for (const unit of "`{@[/:^!") {
      expect({ unit, problem: problem(unit) }).toEqual({ unit, problem: "has an unexpected character at position 0" });
      if (unit !== "{") expect({ unit, problem: problem(`a${unit}`) }).toEqual({ unit, problem: "has an unexpected character at position 1" });
    }
  });

  test("spaces around names and braces, which have no meaning", () => {
    expect(written("  a , b { c  ,d } , e")).toBe("a,b{c,d},e");
    expect(problem("a b")).toBe("has an unexpected character at position 2");
  });

  test("a repeated name, with all that was selected below it", () => {
    expect(["a,a", "a{b},a{c}", "a{b{c}},a{b{d},e}"].map(written)).toEqual(["a", "a{b,c}", "a{b{c,d},e}"]);
    // A field that is selected both with and without braces is shown with its default fields.
    expect(["a{b},a", "a,a{b}", "a{b},a,a{c}", "x{a{b},a}"].map(written)).toEqual(["a,a{b}", "a,a{b}", "a,a{b,c}", "x{a,a{b}}"]);
    expect(written(written("x{a{b{c},b},a}"))).toBe("x{a,a{b,b{c}}}");
  });

  test("eight levels and 200 names, counted on all levels", () => {
    const deep = (levels: number): string => (levels === 1 ? "a" : `a{${deep(levels - 1)}}`);
    expect([problem(deep(8)), problem(deep(9))]).toEqual(["none", "nests deeper than 8 levels"]);
    const wide = (count: number): string => `x{${Array(count - 1).fill("a")}}`;
    expect([problem(wide(200)), problem(wide(201))]).toEqual(["none", "names more than 200 fields"]);
  });

  test.each([
    ["", "ends where a field name is expected"],
    ["a,", "ends where a field name is expected"],
    ["a{}", "has an unexpected character at position 2"],
    ["a{b", "lacks a closing brace after a"],
    ["a}", "has an unexpected character at position 1"],
    ["a{b}}", "has an unexpected character at position 4"],
    ["a.limit(5)", "uses a modifier on a, which is unsupported"],
    ["x,a (5)", "uses arguments on a, which is unsupported"],
  ])("%p: it %s", (text, what) => {
    expect(problem(text)).toBe(what);
  });
});

test("D-14, D-20: each error has its status and code, others for page messaging if it has them, and is transient or not", () => {
  const shown = ({ status, flatStatus, code, flatCode, subcode, isTransient }: ErrorEntry): string => {
    const other = (flat: number | undefined): string => (flat === undefined ? "" : `|${flat}`);
    return `${status}${other(flatStatus)} ${code}${other(flatCode)}${subcode === undefined ? "" : `/${subcode}`}${isTransient === true ? " transient" : ""}`;
  };
  expect(Object.fromEntries(Object.entries(catalogue).map(([name, entry]) => [name, shown(entry)]))).toEqual({
    ...{ internalError: "500 1", databaseUnreachable: "503 2 transient", overloaded: "503 2 transient" },
    ...{ appRateLimited: "429 4 transient", edgeRateLimited: "429 613 transient" },
    ...{ permissionMissing: "403 10", taskMissing: "403 200", foreignPage: "403 200" },
    ...{ tokenMissing: "401|403 104|190", tokenInvalid: "401|403 190" },
    ...{ tokenExpired: "401|403 190/463", tokenRevoked: "401|403 190/466", tokenOfOtherApp: "401|403 190/458" },
    ...{ invalidParameter: "400 100", unsupportedRequest: "400 100/33", unknownObject404: "404 803", fieldUnavailable: "422 100" },
    ...{ unknownPath: "400 2500", versionDeprecated: "400 2635", handshakeFailed: "400 2200", challengeMismatch: "400 2201" },
    ...{ bodyTooLarge: "413 100", headersTooLarge: "431 100", requestTooSlow: "408 100 transient" },
  });
});

test("D-21: an error repeats at most 2,000 characters of a text, and its facts unchanged", () => {
  const of = (length: number) => invalidParameter("x".repeat(length), "", { limit: 7, list: ["access_token=abc"] }).details.data ?? {};
  expect([String(of(2_000).parameter).length, String(of(2_000).parameter).at(-1)]).toEqual([2_000, "x"]);
  expect([String(of(2_001).parameter).length, String(of(2_001).parameter).at(-1)]).toEqual([2_001, "…"]);
  expect(of(1)).toEqual({ parameter: "x", limit: 7, list: ["access_token=abc"] });
  expect(unsupportedRequest("DELETE", "9")).toMatchObject({ name: "GraphError", errorName: "unsupportedRequest", details: {} });
  expect(unsupportedRequest("DELETE", "9").message).toStartWith("Unsupported delete request. Object with ID '9' ");
});

test("D-02, D-03: ids and versions have only digits, and no neighbours of these in ASCII", () => {
  for (const unit of "/:") {
    expect([unit, `1${unit}`, `${unit}1`, `1${unit}1`].map(isNodeId)).toEqual([false, false, false, false]);
    expect([`v${unit}`, `v1${unit}`, `v1.${unit}`, `v1.1${unit}`].map(parseVersion)).toEqual(Array(4).fill(undefined));
  }
  expect(["1", "9", "10", "19", "90"].map(isNodeId)).toEqual(Array(5).fill(true));
  expect(["v9.0", "v10.9", "v90.90", "v1.100"].map((text) => formatVersion(parseVersion(text) as number))).toEqual([
    "v9.0",
    "v10.9",
    "v90.90",
    "v1.100",
  ]);
  expect(["u1", "w1", "1", "v1.00", "v00"].map(parseVersion)).toEqual(Array(5).fill(undefined));
  expect(nodeId("7")).toBe(nodeId("7"));
  expect(() => nodeId("07")).toThrow("not a node id: 07");
});

test("a port is provided once, and using one that nobody provides is a mistake", () => {
  const ports = new PortRegistry() as unknown as Record<"register" | "get" | "has", (name: string, port?: unknown) => unknown> & {
    registerAll(ports: object): void;
  };
  ports.registerAll({ one: 1, two: 2 });
  expect([ports.get("one"), ports.get("two"), ports.has("one"), ports.has("three")]).toEqual([1, 2, true, false]);
  expect(() => ports.register("one", 3)).toThrow("the port one is provided twice");
  expect(() => ports.get("three")).toThrow("no feature provides the port three");
  expect(ports.get("one")).toBe(1);
});
