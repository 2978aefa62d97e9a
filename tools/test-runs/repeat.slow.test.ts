import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { temporaryFolder } from "#harness/server";
import { durationOf, failuresOfRun, Tally } from "./repeat.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

test("times are given in seconds, minutes or hours", () => {
  expect(["90s", "30m", "8h"].map(durationOf)).toEqual([90_000, 1_800_000, 28_800_000]);
  expect(["", "8", "src/graph", "8h30m", "-1h"].map(durationOf)).toEqual([undefined, undefined, undefined, undefined, undefined]);
});

test("it counts in how many rounds a test failed", () => {
  const tally = new Tally();
  expect(tally.isClean).toBe(false);
  tally.add([]);
  expect(tally.isClean).toBe(true);
  const [one, other] = [
    { test: "one", output: "" },
    { test: "other", output: "" },
  ];
  for (const failures of [[other], [one, other, other], [other]]) tally.add(failures);
  expect(tally.isClean).toBe(false);
  expect(tally.text).toBe("4 rounds, 2 tests failed\n3 of 4: other\n1 of 4: one");
});

test("a crashed run has failed, even without a failed test", () => {
  const end = { name: "src", durationMs: 1, output: "src/a.test.ts:\n(pass) one\npanic\n" };
  expect(failuresOfRun({ ...end, exitCode: 0 })).toEqual([]);
  expect(failuresOfRun({ ...end, exitCode: 139 })).toEqual([{ test: "src: ended with 139", output: end.output }]);
});

test("rounds continue until the time is over, and the result has the failed tests, how often they failed, and their output", () => {
  const folder = temporaryFolder();
  // The made-up test fails only in the first round.
  const mark = join(folder, "mark");
  const seeds = join(folder, "seeds");
  const path = join(folder, "made.test.ts");
  writeFileSync(
    path,
    `import { appendFileSync, existsSync, writeFileSync } from "node:fs";
     import { expect, test } from "bun:test";
     test("well", () => appendFileSync(${JSON.stringify(seeds)}, process.env.PLAZA_TEST_SEED + "\\n"));
     test("sometimes", () => { const isThere = existsSync(${JSON.stringify(mark)}); writeFileSync(${JSON.stringify(mark)}, ""); expect(isThere).toBe(true); });`,
  );
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, "tools/prove.ts", "repeat", "3s", relative(ROOT, path)], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1" },
  });
  const text = stdout.toString();
  expect(existsSync(mark)).toBe(true);
  expect(text).toContain("Expected: true");
  expect(text).toMatch(/\n\d+ rounds, 1 tests failed\n1 of \d+: \S*made\.test\.ts sometimes\n$/);
  expect(text.match(/^round \d+: /gm)?.length).toBeGreaterThan(0);
  expect(exitCode).toBe(1);
  const drawn = readFileSync(seeds, "utf8").trim().split("\n");
  expect(new Set(drawn).size).toBe(drawn.length);
  expect(drawn.join("")).toMatch(/^\d+$/);
});
