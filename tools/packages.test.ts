/** Checks the effects of `package-lock.json` on the machine of a user (docs/dependencies.md: Install scripts). */
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./steps.ts";

interface LockedPackage {
  readonly hasInstallScript?: boolean;
  readonly resolved?: string;
}

const { allowScripts } = (await Bun.file(join(ROOT, "package.json")).json()) as { allowScripts: Record<string, boolean> };
/** The packages in a lock file. The lock file's entry for the project itself, which has an empty name, is left out. */
const lockedIn = async (folder: string): Promise<[string, LockedPackage][]> => {
  const { packages } = (await Bun.file(join(ROOT, folder, "package-lock.json")).json()) as { packages: Record<string, LockedPackage> };
  return Object.entries(packages).filter(([path]) => path !== "");
};
const locked = await lockedIn(".");
const lockedOfConsole = await lockedIn("console");
const lockedOfFirehose = await lockedIn("clients/firehose");
const lockedOfReference = await lockedIn("console/reference");

test("every package with an install script is listed, and only Bun's may run", async () => {
  expect([...lockedOfConsole, ...lockedOfFirehose].filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
  const withScripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const decided = withScripts.map(([path]) => [path, allowScripts[path.replace(/^.*node_modules\//, "")]]);
  expect(Object.fromEntries(decided)).toEqual({ "node_modules/bun": true });
  const ofReference = lockedOfReference
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.replace(/^.*node_modules\//, ""));
  const { allowScripts: allowed } = await Bun.file(join(ROOT, "console/reference/package.json")).json();
  expect(allowed).toEqual(Object.fromEntries(ofReference.map((name) => [name, false])));
});

test("each command of a fresh clone installs the packages that it needs", async () => {
  const { scripts } = (await Bun.file(join(ROOT, "package.json")).json()) as { scripts: Record<string, string> };
  const without = ["build", "prepack", "start", "test", "check", "docs", "conformance", "bench", "prove", "first-webhook"].filter(
    (name) => !/^node tools\/install\.mjs (?:all|running)\b/.test(scripts[name === "prepack" ? name : `pre${name}`] ?? ""),
  );
  expect(without).toEqual([]);
});

test("npm start and npm test install packages without running their scripts, on any npm", async () => {
  const folder = mkdtempSync(join(tmpdir(), "plaza-install-"));
  try {
    const npm = join(folder, "npm");
    writeFileSync(npm, '#!/bin/sh\nprintf "%s\\n" "$@" >> "$0.log"\nexit 1\n', { mode: 0o755 });
    const programs = ["tools/install.mjs", "tools/build.mjs", "tools/console/build.mjs", "tools/console/reference.mjs", "tools/install/packages.mjs"];
    for (const file of [...programs, "package.json", "package-lock.json"]) await Bun.write(join(folder, file), Bun.file(join(ROOT, file)));
    for (const which of ["running", "all"]) {
      const { exitCode } = Bun.spawnSync(["node", "tools/install.mjs", which], { cwd: folder, env: { PATH: `${folder}:${process.env.PATH}` } });
      expect(exitCode).toBe(1);
    }
    const given = readFileSync(`${npm}.log`, "utf8").split("\n");
    expect(given.filter((word) => word === "ci" || word === "--ignore-scripts")).toEqual(["ci", "--ignore-scripts", "ci", "--ignore-scripts"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("packages come from the machine's own registry: the lock names none", () => {
  expect(locked.length).toBeGreaterThan(100);
  expect(lockedOfConsole.length).toBeGreaterThan(20);
  expect(lockedOfFirehose.length).toBeGreaterThan(10);
  expect(lockedOfReference.length).toBeGreaterThan(100);
  expect([...locked, ...lockedOfConsole, ...lockedOfFirehose, ...lockedOfReference].filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
