import { expect, test } from "bun:test";
import { countOf } from "./test.ts";

test("tests that passed and failed are counted from the closing lines", () => {
  const output = "(pass) one\n 3 pass\nsomething\n\n 12 pass\n 2 fail\n 40 expect() calls\nRan 14 tests across 3 files. [1.00s]\n";
  expect(countOf({ exitCode: 1, output })).toEqual({ passed: 12, failed: 2 });
});

test("colours do not hide the count", () => {
  expect(countOf({ exitCode: 0, output: "\u001b[0m\u001b[32m 7 pass\u001b[0m\n\u001b[0m\u001b[2m 0 fail\u001b[0m\n" })).toEqual({
    passed: 7,
    failed: 0,
  });
});

test("an error between tests counts as a failure", () => {
  expect(countOf({ exitCode: 1, output: " 1 pass\n 0 fail\n 1 error\n" })).toEqual({ passed: 1, failed: 1 });
});

test("a run that crashed without a count has failed", () => {
  expect(countOf({ exitCode: 139, output: "" })).toEqual({ passed: 0, failed: 1 });
});
