/**
 * Checks which tests each command runs, which programs the tests need, and which lines a run prints while it goes on.
 */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { isQuick, type TestFile, testFiles } from "./files.ts";
import { Progress } from "./progress.ts";
import { type Extent, runsOf } from "./runs.ts";

const all = testFiles();

/** Returns the test files of a run. A file that runs on each database is listed once for each database, with the database. */
const declared = (extent: Extent, files: readonly TestFile[] = all): string[] =>
  runsOf(extent, files).flatMap((run) =>
    run.files.flatMap((file) => (file.isOnEachDatabase ? run.databases.map((database) => `${file.path} ${database}`) : [file.path])),
  );

test("npm test and the rest run every test of every file once, on both databases, and together are test:all", () => {
  const [quick, rest] = [declared("quick"), declared("rest")];
  const both = [...quick, ...rest];
  expect(new Set(both).size).toBe(both.length);
  const wanted = all.flatMap((file) => (file.isOnEachDatabase ? [`${file.path} postgres`, `${file.path} sqlite`] : [file.path]));
  expect(new Set(both)).toEqual(new Set(wanted));
  expect(declared("all")).toEqual(both);
});

test("npm test runs tests on PostgreSQL if the database decides", () => {
  const quick = declared("quick");
  for (const path of ["src/features/personas/personas.test.ts", "src/jobs/jobs.test.ts", "src/webhooks/delivery/claims.test.ts"])
    expect(quick).toContain(`${path} postgres`);
  expect(quick).not.toContain("src/features/personas/personas.world.test.ts postgres");
});

test("the needs of a file are read from its imports, and not from the server's files", () => {
  const root = temporaryFolder();
  const files = {
    "package.json": JSON.stringify({ imports: { "#harness/*": "./test/harness/*.ts", "#main": "./src/main.ts" } }),
    "test/harness/encoder.ts": 'import { needs } from "./needs.ts";\nneeds("ffmpeg", "nginx-rtmp");\n',
    "test/harness/live.ts": 'export * from "./encoder.ts";\n',
    "src/main.ts": 'import "../test/harness/encoder.ts";\n',
    "test/a.test.ts": 'import "#harness/live";\n',
    "test/b.test.ts": 'import "#main";\nonEachDatabase("b", () => {});\n',
    "test/c.slow.test.ts": 'import { startPostgresCluster } from "#harness/none";\nawait startPostgresCluster();\n',
    "test/d.ts": "",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const found = testFiles(root);
  const base = { programs: [], isSlow: false, isOnEachDatabase: false, usesPostgres: false };
  expect(found).toEqual([
    { ...base, path: "test/a.test.ts", programs: ["ffmpeg", "nginx-rtmp"] },
    { ...base, path: "test/b.test.ts", isOnEachDatabase: true, usesPostgres: true },
    { ...base, path: "test/c.slow.test.ts", isSlow: true, usesPostgres: true },
  ]);
  expect(found.map(isQuick)).toEqual([false, true, false]);
  writeFileSync(join(root, "test/harness/encoder.ts"), 'needs("fmpeg");\n');
  expect(() => testFiles(root)).toThrow('"fmpeg"');
});

test("lines show the progress of a run and the expected time, and at its end the result of each part", () => {
  const lines: string[] = [];
  const paths = ["src/jobs/a.test.ts", "src/jobs/b.test.ts", "src/features/pages/c.test.ts", "conformance/d.test.ts", "src/e.test.ts"];
  const timings = { "src/jobs/a.test.ts": 1_000, "src/jobs/b.test.ts": 4_000, "src/features/pages/c.test.ts": 9_000, "src/e.test.ts": 500 };
  const progress = new Progress(paths, timings, (line) => lines.push(line));
  expect(progress.left(2)).toBe(", about 7 s left");
  const output = `src/jobs/a.test.ts:
(pass) one [1.00ms]
src/features/pages/c.test.ts:
(fail) one
src/jobs/a.test.ts:
(pass) three
src/features/pages/c.test.ts:
(pass) two
src/jobs/b.test.ts:
(pass) one
(pass) two

src/e.test.ts:

# Unhandled error between tests
error: no

conformance/d.test.ts:
✗ conformance/d.test.ts (worker crashed: exit code 3)

2 tests failed:
(fail) one
`;
  for (const line of output.split("\n")) progress.add(line, 2);
  progress.end();
  expect(lines).toEqual([
    "1 of 5 files: 0 passed, 0 failed, about 7 s left",
    "2 of 5 files: 1 passed, 0 failed, about 2 s left",
    "3 of 5 files: 3 passed, 1 failed",
    "4 of 5 files: 5 passed, 1 failed",
    "  conformance: 0 passed, 1 failed",
    "  src: 0 passed, 1 failed",
    "  src/features/pages: 1 passed, 1 failed",
    "  src/jobs: 4 passed, 0 failed",
  ]);
});
