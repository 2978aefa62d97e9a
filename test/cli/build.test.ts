import { expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";

const ROOT = join(import.meta.dir, "../..");

/** A generator that replaces Plaza's own: it copies the program's source. */
const GENERATOR = `await Bun.write("generated.txt", Bun.file("src/cli/plaza.ts"));
await Bun.write("clients/testing/generated/control-api.ts", "");
console.log('["generated.txt"]');`;

/** A program with one source, which replaces Plaza's own. */
function copyOfProgram(): string {
  const root = temporaryFolder();
  for (const folder of ["bin", "tools", "tools/write-docs", "src/cli", "clients/testing", "workbench", "conformance", "spec"])
    mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(join(ROOT, "bin/plaza"), join(root, "bin/plaza"));
  chmodSync(join(root, "bin/plaza"), 0o755);
  copyFileSync(join(ROOT, "tools/build.mjs"), join(root, "tools/build.mjs"));
  writeFileSync(join(root, "tools/write-docs/generated.ts"), GENERATOR);
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  writeFileSync(join(root, "package.json"), `{ "type": "module" }`);
  writeFileSync(join(root, "package-lock.json"), "{}");
  writeSource(root, "first");
  return root;
}

const writeSource = (root: string, word: string): void =>
  writeFileSync(
    join(root, "src/cli/plaza.ts"),
    `console.log("${word}", import.meta.path.startsWith("/$bunfs/") ? process.execPath.slice(${root.length}) : "/src/cli/plaza.ts");`,
  );

function run(root: string, command: readonly string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], { cwd: root });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.toString().trim();
}

const start = (root: string): string => run(root, [join(root, "bin/plaza")]);
const build = (root: string): string => run(root, ["node", "tools/build.mjs"]);

/** Gives a file a later time of change than it has, because file systems store these times with different precision. */
function changeLater(path: string): void {
  const later = new Date(Date.now() + 5_000);
  utimesSync(path, later, later);
}

test("it starts from the build, or from the sources if there is no build or one is newer", () => {
  const root = copyOfProgram();
  expect(start(root)).toBe("first /src/cli/plaza.ts");
  build(root);
  expect(start(root)).toBe("first /build/plaza");
  writeSource(root, "second");
  changeLater(join(root, "src/cli/plaza.ts"));
  expect(start(root)).toBe("second /src/cli/plaza.ts");
});

test("a build is repeated only when a source or a dependency changed, and nothing is left beside it", () => {
  const root = copyOfProgram();
  build(root);
  writeFileSync(join(root, "build/plaza"), "#!/bin/sh\necho kept\n");
  changeLater(join(root, "build/plaza"));
  build(root);
  expect(start(root)).toBe("kept");
  utimesSync(join(root, "package-lock.json"), new Date(Date.now() + 10_000), new Date(Date.now() + 10_000));
  build(root);
  expect(run(root, ["build/plaza"])).toBe("first /build/plaza");
  expect(readdirSync(root).filter((name) => name.startsWith("build"))).toEqual(["build"]);
});

test("a source that cannot be compiled is reported, and the program still starts", () => {
  const root = copyOfProgram();
  build(root);
  writeFileSync(join(root, "src/cli/plaza.ts"), `import { nothing } from "./nowhere.ts"; console.log(nothing);`);
  changeLater(join(root, "src/cli/plaza.ts"));
  const { exitCode, stderr } = Bun.spawnSync(["node", "tools/build.mjs"], { cwd: root });
  expect(exitCode).toBe(0);
  expect(stderr.toString()).toContain("nowhere.ts");
  expect(readdirSync(root).filter((name) => name.startsWith("build"))).toEqual(["build"]);
});

test("generated files are written only if one is missing or a source is newer", () => {
  const root = copyOfProgram();
  const generated = join(root, "generated.txt");
  build(root);
  expect(readFileSync(generated, "utf8")).toContain("first");
  writeFileSync(generated, "kept");
  build(root);
  expect(readFileSync(generated, "utf8")).toBe("kept");
  rmSync(generated);
  build(root);
  expect(readFileSync(generated, "utf8")).toContain("first");
  writeSource(root, "second");
  changeLater(join(root, "src/cli/plaza.ts"));
  build(root);
  expect(readFileSync(generated, "utf8")).toContain("second");
});

test("a failing generator is reported, and the program is still compiled", () => {
  const root = copyOfProgram();
  writeFileSync(join(root, "tools/write-docs/generated.ts"), `throw new Error("no contract");`);
  const { exitCode, stderr } = Bun.spawnSync(["node", "tools/build.mjs"], { cwd: root });
  expect(exitCode).toBe(0);
  expect(stderr.toString()).toContain("no contract");
  expect(start(root)).toBe("first /build/plaza");
});
