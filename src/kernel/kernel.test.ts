import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { UNIX_SECONDS_MAX, unixSeconds, utcText, worldTimeMs } from "./clock.ts";
import { GraphError, invalidParameter } from "./errors.ts";
import { isNodeId } from "./ids.ts";
import { parseSelection, type Selection } from "./selection.ts";
import { codePointCount, detached, isStorableText, trimmedEnd, withoutCitations } from "./text.ts";
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

  test("D-33: whatever is written as a selection is read as it was meant", () => {
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

  test("D-03: versions are v{n} and v{n}.{m}, and are ordered by both numbers", () => {
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
  });
});

test("a summary loses its citations and nothing else", () => {
  expect(withoutCitations("Sets it (H1); without any, removes it (H3), for good (LIVE-13, LIVE-14).")).toBe(
    "Sets it; without any, removes it, for good.",
  );
  expect(withoutCitations("Needs SHA-256 (D-60 to D-61) and a pause (2 s).")).toBe("Needs SHA-256 and a pause (2 s).");
});

test("a character is taken off the end of a text as often as it stands there, and nowhere else", () => {
  expect(["a/b//", "a", "/", "//", "", "/a"].map((text) => trimmedEnd(text, "/"))).toEqual(["a/b", "a", "", "", "", "/a"]);
  expect([detached("ä𝄞"), detached("")]).toEqual(["ä𝄞", ""]);
});

test("times are whole seconds of the past, written in UTC with a numeric offset, up to the end of the year 9999", () => {
  expect([0, 999, 1_000, 1_999].map((ms) => unixSeconds({ nowMs: () => ms }))).toEqual([0, 0, 1, 1]);
  expect([utcText(0), utcText(1_795_000_000), utcText(UNIX_SECONDS_MAX)]).toEqual([
    ...["1970-01-01T00:00:00+0000", "2026-11-18T11:06:40+0000", "9999-12-31T23:59:59+0000"],
  ]);
  const state = { worldMs: 50, realMs: 1_000 };
  expect([undefined, { ...state, isFrozen: true }, { ...state, isFrozen: false }].map((one) => worldTimeMs(one, 1_007))).toEqual([1_007, 50, 57]);
});
