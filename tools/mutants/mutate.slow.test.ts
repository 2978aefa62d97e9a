/** Runs the tool on a small project whose tests notice known mistakes. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { BUN, ROOT } from "../steps.ts";
import { changedLines, filesOf, Importers } from "./files.ts";
import { conformanceOf } from "./judge.ts";
import { TypeCheck } from "./type-check.ts";
import { WorkCopy } from "./work-copy.ts";

/**
 * Each test of this file starts the tool, which runs tests several times. Starting the tool takes seconds, and more on a busy machine.
 */
setDefaultTimeout(180_000);

const FILES = {
  "package.json": '{ "type": "module", "imports": { "#src/*": "./src/*.ts" } }',
  "tsconfig.json":
    '{ "compilerOptions": { "strict": true, "noEmit": true, "skipLibCheck": true, "types": [], "module": "ESNext", "moduleResolution": "bundler", "lib": ["ES2015"], "target": "ESNext", "allowImportingTsExtensions": true }, "include": ["src"] }',
  ".gitignore": "node_modules\ntest-artefacts\n",
  "src/age/age.ts": "export const isAdult = (age: number): boolean => age >= 18;\n\nexport const never = (): number => 5;\n",
  "src/age/age.test.ts":
    'import { expect, test } from "bun:test";\nimport { isAdult } from "./age.ts";\ntest("eighteen", () => expect([isAdult(17), isAdult(18)]).toEqual([false, true]));\n',
  "src/gate/gate.ts":
    'import { isAdult } from "#src/age/age";\nimport type { Other } from "./other.ts";\nexport const opens = (age: number, _?: Other): boolean => isAdult(age);\n',
  "src/gate/other.ts": "export interface Other {\n  name: string;\n}\n",
  "test/gate.test.ts":
    'import { expect, test } from "bun:test";\nimport { opens } from "#src/gate/gate";\ntest("it opens", () => expect(opens(30)).toBe(true));\n',
};

function madeUp(): string {
  const root = mkdtempSync(join(tmpdir(), "plaza-made-up-"));
  afterThisTest(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(FILES)) write(root, path, text);
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  git(root, "init", "--quiet", "--initial-branch=main");
  git(root, "add", ".");
  git(root, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "Begin");
  return root;
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function git(root: string, ...args: string[]): void {
  const { success, stderr } = Bun.spawnSync(["git", ...args], { cwd: root });
  if (!success) throw new Error(stderr.toString());
}

/** Starts the tool. The tool's copies are in a folder of this test alone, so that the test sees files that are left behind. */
function start(root: string, ...args: string[]) {
  const temporary = mkdtempSync(join(tmpdir(), "plaza-made-up-tmp-"));
  afterThisTest(() => rmSync(temporary, { recursive: true, force: true }));
  const tool = Bun.spawn([BUN, join(ROOT, "tools/mutants/mutate.ts"), ...args], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary, NO_COLOR: "1" },
    stdout: "pipe",
    stderr: "pipe",
  });
  return { tool, temporary };
}

interface Report {
  readonly noticed: Record<"npm test" | "test:all", number>;
  readonly folders: Record<string, unknown>;
  readonly mutants: { path: string; change: string; outcome: string; by?: string; run?: string; equivalent?: unknown }[];
}

async function mutate(root: string, ...args: string[]): Promise<{ exitCode: number; output: string; report: Report }> {
  const { tool, temporary } = start(root, ...args);
  const output = (await Promise.all([tool.stdout.text(), tool.stderr.text()])).join("");
  const exitCode = await tool.exited;
  expect(readdirSync(temporary)).toEqual([]);
  const file = join(root, "test-artefacts/mutants.json");
  if (!existsSync(file)) throw new Error(output);
  return { exitCode, output, report: JSON.parse(readFileSync(file, "utf8")) };
}

const ends = ({ mutants }: Report): string[] => mutants.map(({ change, outcome }) => `${change}: ${outcome}`);

test("noticed mutants and survivors are listed separately, by folder, and the project is not changed", async () => {
  const root = madeUp();
  const { exitCode, output, report } = await mutate(root);
  expect(ends(report)).toEqual([">= → >: noticed", "18 → 19: noticed", "5 → 6: survived"]);
  expect(report.mutants[0]).toMatchObject({ path: "src/age/age.ts", by: "src/age/age.test.ts" });
  expect(report.folders).toMatchObject({ "src/age": { noticed: 2, survived: 1, equivalent: 0 } });
  expect(output).toContain("| src/age | 2 | 0 | 1 | 0 | 0 | 66.7 % | 66.7 % |");
  expect(output).toContain("survived: src/age/age.ts:3: 5 → 6 (2 files of tests)");
  expect(exitCode).toBe(1);
  for (const [path, text] of Object.entries(FILES)) expect(readFileSync(join(root, path), "utf8")).toBe(text);
});

test("mutants that do not compile are counted separately", async () => {
  const root = madeUp();
  // No test reads the number, but the number's type allows no other number, so a mutant with another number does not compile.
  write(root, "src/level.ts", "export const level = (): 1 => 1;\n");
  write(root, "src/level.test.ts", 'import { test } from "bun:test";\nimport { level } from "./level.ts";\ntest("a level", () => void level());\n');
  expect(ends((await mutate(root, "--only", "src/level.ts")).report)).toEqual(["1 → 2: does not compile"]);
});

test("an error about an unused name does not count, and the files that import a mutant do not see it", () => {
  const root = madeUp();
  write(root, "tsconfig.json", FILES["tsconfig.json"].replace('"strict"', '"noUnusedLocals": true, "noUnusedParameters": true, "strict"'));
  const types = new TypeCheck(root);
  const accepts = (path: keyof typeof FILES, from: string, to: string) => types.accepts(path, FILES[path], FILES[path].replace(from, to));
  expect(accepts("src/gate/gate.ts", "isAdult(age)", "true")).toBe(true);
  expect(accepts("src/gate/gate.ts", "isAdult(age)", "age")).toBe(false);
  expect(accepts("src/age/age.ts", "age >= 18", "age")).toBe(false);
  expect(accepts("src/age/age.ts", "boolean => age >= 18", "number => age")).toBe(true);
  expect(accepts("src/gate/gate.ts", ": boolean =>", ": true | false =>")).toBe(true);
});

test("survivors of npm test are tried with the tests of test:all, including those that it declares; the report tells them apart", async () => {
  const root = madeUp();
  write(root, "src/age/age.ts", `${FILES["src/age/age.ts"]}\nexport const always = (): number => 8;\n`);
  const of = (name: string, value: number): string =>
    `import { expect, test } from "bun:test";\nimport { ${name} } from "#src/age/age";\ntest("it is ${value}", () => expect(${name}()).toBe(${value}));\n`;
  write(root, "test/never.slow.test.ts", of("never", 5));
  write(
    root,
    "src/age/always.test.ts",
    `const onEachDatabase = (_: boolean) => {};\nonEachDatabase(true);\n${of("always", 8).replace("test(", 'if (process.env["TEST_DATABASES"]?.includes("postgres")) test(')}`,
  );
  const { exitCode, output, report } = await mutate(root);
  expect(report.mutants).toMatchObject([
    { change: ">= → >", outcome: "noticed", run: "npm test" },
    { change: "18 → 19", outcome: "noticed", run: "npm test" },
    { change: "5 → 6", outcome: "noticed", by: "test/never.slow.test.ts", run: "test:all" },
    { change: "8 → 9", outcome: "noticed", by: "src/age/always.test.ts", run: "test:all" },
  ]);
  expect(output).toContain("| all | 4 | 0 | 0 | 0 | 0 | 50.0 % | 100.0 % |");
  expect(output).toContain("only test:all notices, constant:\nnoticed: src/age/age.ts:3: 5 → 6 (test/never.slow.test.ts)\n");
  expect({ exitCode, noticed: report.noticed }).toEqual({ exitCode: 0, noticed: { "npm test": 0.5, "test:all": 1 } });
});

test("an equivalent mutant is not run; a comment about a missing mutant must be deleted", async () => {
  const root = madeUp();
  const comments = "// Equivalent mutant (constant): nobody asks.\n// Equivalent mutant (7 → 8): it is 5.\nexport const never";
  write(root, "src/age/age.ts", FILES["src/age/age.ts"].replace("export const never", comments));
  const { exitCode, output, report } = await mutate(root);
  expect(report.mutants.at(-1)).toMatchObject({ outcome: "equivalent", equivalent: { reason: "nobody asks." } });
  expect(output).toContain("src/age/age.ts:4: delete the comment, because this mutant does not exist: 7 → 8");
  expect({ exitCode, noticed: report.noticed }).toEqual({ exitCode: 0, noticed: { "npm test": 1, "test:all": 1 } });
});

test("a test that fails without the mutant notices nothing", async () => {
  const root = madeUp();
  write(root, "src/age/broken.test.ts", 'import { expect, test } from "bun:test";\nimport "./age.ts";\ntest("broken", () => expect(1).toBe(2));\n');
  const { output, report } = await mutate(root);
  expect(ends(report)).toEqual([">= → >: noticed", "18 → 19: noticed", "5 → 6: survived"]);
  expect(output).toContain("fails on the unchanged project, and does not count");
});

test("--match selects mutants whose change contains a text", async () => {
  const { tool } = start(madeUp(), "--match", "8 →", "--list");
  expect((await tool.stdout.text()).trim().split("\n")).toEqual(["src/age/age.ts:1: constant: 18 → 19", "1 mutants"]);
});

test("--changed selects the lines that differ from the main branch, and new files", async () => {
  const root = madeUp();
  git(root, "checkout", "--quiet", "-b", "change");
  write(root, "src/age/age.ts", FILES["src/age/age.ts"].replace("5;", "6;"));
  write(root, "src/age/new.ts", "export const two = 2;\n");
  const { report } = await mutate(root, "--changed");
  expect(ends(report)).toEqual(["6 → 7: survived", "2 → 3: survived"]);
});

test("--resume skips the mutants of an earlier report, except survivors, for which a test may have been added", async () => {
  const root = madeUp();
  const { report } = await mutate(root);
  const [first, second, third] = report.mutants;
  write(root, "test-artefacts/mutants.json", JSON.stringify({ mutants: [{ ...first, by: "an earlier run" }, third] }));
  write(
    root,
    "src/age/never.test.ts",
    'import { expect, test } from "bun:test";\nimport { never } from "./age.ts";\ntest("never", () => expect(never()).toBe(5));\n',
  );
  const resumed = await mutate(root, "--resume", "--at-once", "2");
  expect(resumed.report.mutants).toEqual([
    { ...first, by: "an earlier run" },
    { ...second, by: "src/age/age.test.ts" },
    expect.objectContaining({ change: "5 → 6", outcome: "noticed", by: "src/age/never.test.ts" }),
  ]);
});

test("removed lines do not change the lines below them", () => {
  const root = madeUp();
  write(root, "src/age/age.ts", "export const never = (): number => 5;\n");
  expect(changedLines(root, "main").get("src/age/age.ts")?.(1)).toBe(false);
});

test("tests that import a file run first, those beside it before others; then those with few files between, over aliases", () => {
  const root = madeUp();
  write(root, "src/aloof.test.ts", "");
  const importers = new Importers(root, filesOf(root));
  write(root, "test/far.test.ts", 'import "#src/gate/gate";\n');
  write(root, "src/one.ts", 'import "./gate/gate.ts";\n');
  write(root, "src/two.ts", 'import "./one.ts";\n');
  write(root, "src/gate/beside.test.ts", 'import "../two.ts";\n');
  // A test of the file that is far away still comes before a test of another file in the same folder.
  write(root, "src/gate/deep/deep.ts", "export {};\n");
  write(root, "src/gate/deep/user.ts", 'import "./deep.ts";\n');
  write(root, "src/gate/deep/user.test.ts", 'import "./user.ts";\n');
  write(root, "test/deep.test.ts", 'import "#src/gate/deep/deep";\n');
  expect(new Importers(root, filesOf(root)).testsOf("src/gate/deep/deep.ts").slice(0, 2)).toEqual([
    "test/deep.test.ts",
    "src/gate/deep/user.test.ts",
  ]);
  for (const path of ["test/deep.test.ts", "src/gate/deep/user.test.ts"]) rmSync(join(root, path));
  expect(new Importers(root, filesOf(root)).testsOf("src/gate/gate.ts")).toEqual([
    "test/far.test.ts",
    "test/gate.test.ts",
    "src/gate/beside.test.ts",
    "src/age/age.test.ts",
    "src/aloof.test.ts",
  ]);
  expect(importers.testsOf("src/age/age.ts")).toEqual(["src/age/age.test.ts", "test/gate.test.ts", "src/aloof.test.ts"]);
});

test("a test that starts the program and names a command of its folder precedes unrelated ones", () => {
  const root = madeUp();
  write(root, "src/cli/server/doctor.ts", "export {};\n");
  write(root, "src/cli/other.test.ts", "");
  write(root, "test/cli/commands.test.ts", 'run("doctor");\n');
  write(root, "test/cli/another.test.ts", 'run("doctors");\n');
  write(root, "test/far/doctor.test.ts", 'run("doctor");\n');
  write(root, "test/far/commands.test.ts", 'run("doctor");\n');
  expect(new Importers(root, filesOf(root)).testsOf("src/cli/server/doctor.ts").slice(0, 3)).toEqual([
    "test/cli/commands.test.ts",
    "test/far/doctor.test.ts",
    "src/cli/other.test.ts",
  ]);
});

test("the conformance cases of a feature are those of its clauses; cases for the code that every request passes are in one folder", () => {
  const texts: Record<string, string> = {
    "conformance/run.ts": "",
    "conformance/cases/every-operation/errors.yaml": "# Errors\narea: errors\n",
    "conformance/cases/webhooks/webhooks.yaml": "area: webhooks\n",
    "conformance/cases/pages.yaml": "# D-8\ncases:\n  - title: a\n    clauses: [A7-1, A7-1b]\n    decisions: [LIST-12]\n",
    "src/features/pages/pages.contract.ts": 'clauses: ["A7-1", "LIST-12"], decisions: ["D-8"]',
  };
  const of = conformanceOf(Object.keys(texts), (path) => texts[path] ?? "");
  expect(of("src/features/pages/pages.store.ts")?.slice(3)).toEqual(["--clause", "A7-1", "--clause", "LIST-12"]);
  expect(of("src/graph/pipeline/parse.ts")?.slice(3)).toEqual(["--area", "errors"]);
  expect(of("src/webhooks/events/emit.ts")?.slice(3)).toEqual(["--area", "webhooks"]);
  expect(of("src/features/users/index.ts")).toBeUndefined();
  expect(of("src/jobs/jobs.ts")).toBeUndefined();
});

test("when it is interrupted, the copy is deleted and the program that runs in it ends", async () => {
  const root = madeUp();
  const alive = join(root, "alive");
  write(
    root,
    "src/age/age.test.ts",
    `import { test } from "bun:test";\nimport { appendFileSync } from "node:fs";\nimport "./age.ts";\nappendFileSync(${JSON.stringify(alive)}, String(process.pid));\ntest("for ever", () => { for (;;); });\n`,
  );
  const { tool, temporary } = start(root);
  while (!existsSync(alive) || readFileSync(alive, "utf8") === "") await Bun.sleep(20);
  expect(readdirSync(temporary)).toHaveLength(1);
  // Sends many signals, because both a terminal and npm send a signal when somebody stops the program.
  for (let times = 0; times < 20; times++) {
    tool.kill("SIGINT");
    await Bun.sleep(1);
  }
  expect(await tool.exited).toBe(130);
  expect(readdirSync(temporary)).toEqual([]);
  while (isAlive(Number(readFileSync(alive, "utf8")))) await Bun.sleep(20);
});

test("a program that takes too long is ended, with the programs that it started", async () => {
  const root = madeUp();
  const copy = new WorkCopy(root, filesOf(root));
  afterThisTest(() => copy.remove());
  const pids = join(root, "pids");
  const { ended } = await copy.run(["sh", "-c", `sleep 1000 & echo $! $$ > ${pids}; while :; do :; done`], 500);
  expect(ended).toBe("timeout");
  for (const pid of readFileSync(pids, "utf8").trim().split(" ")) while (isAlive(Number(pid))) await Bun.sleep(20);
});

// Only Linux shows which processes belong to a run.
if (existsSync("/proc/self/environ"))
  test("a server that left the group of its test is ended with it, even a busy one", async () => {
    const root = madeUp();
    const copy = new WorkCopy(root, filesOf(root));
    afterThisTest(() => copy.remove());
    const pids = join(root, "pids");
    const server = `process.on("SIGTERM", () => {}); require("node:fs").writeFileSync("${pids}", String(process.pid)); for (;;);`;
    const starter = `Bun.spawn([process.execPath, "-e", ${JSON.stringify(server)}], { detached: true }); while (!require("node:fs").existsSync("${pids}"));`;
    expect(await copy.run([BUN, "-e", `${starter} process.exit(0);`], 60_000)).toMatchObject({ ended: "passed" });
    while (isAlive(Number(readFileSync(pids, "utf8")))) await Bun.sleep(20);
  });

/** Whether a process is alive. A zombie does not count as alive: it has ended, but its parent has not read its exit code yet. */
const isAlive = (pid: number): boolean =>
  /^[^Z]/.test(
    Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)])
      .stdout.toString()
      .trim(),
  );
