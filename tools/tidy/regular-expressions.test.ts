/** Checks that the check of regular expressions finds slow expressions. */
import { expect, test } from "bun:test";
import { slowExpressions } from "./regular-expressions.ts";

const foundIn = async (text: string, path = "src/a.ts"): Promise<string[]> => (await slowExpressions([{ path, text }])).map(({ what }) => what);

test.each([
  ["/^(?:a|a)*$/.test(x);", "exponential"],
  ["/(a+)+$/.test(x);", "exponential"],
  ["/^(?:(?:ab)+)*c$/.test(x);", "exponential"],
  ["/^\\d+\\.?\\d*$/.test(x);", "polynomial"],
  ["x.replace(/\\s+$/, '');", "polynomial"],
  ['Type.String({ pattern: "^(a|b|ab)*c$" });', "exponential"],
  ["new RegExp(x);", "cannot be checked"],
  ["RegExp(x, 'g');", "cannot be checked"],
])("%s is found", async (code, problem) => {
  expect(await foundIn(code)).toEqual([expect.stringContaining(problem)]);
});

test.each([
  "/^a+$/.test(x);",
  "/^\\d+(?:\\.\\d*)?$/.test(x);",
  'Type.String({ pattern: "^[a-z]+$" });',
  "// linear: made of a literal.\nnew RegExp(A);",
])("%s passes", async (code) => {
  expect(await foundIn(code)).toEqual([]);
});

test("only the server's expressions are checked", async () => {
  expect(await foundIn("/(a+)+$/;", "tools/a.ts")).toEqual([]);
  expect(await foundIn("/(a+)+$/;", "src/a.test.ts")).toEqual([]);
});
