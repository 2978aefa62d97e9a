/** What `package-lock.json` would do on somebody's machine (docs/dependencies.md: Install scripts). */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "./steps.ts";

interface LockedPackage {
  readonly hasInstallScript?: boolean;
  readonly resolved?: string;
}

const { allowScripts } = (await Bun.file(join(ROOT, "package.json")).json()) as { allowScripts: Record<string, boolean> };
const { packages } = (await Bun.file(join(ROOT, "package-lock.json")).json()) as { packages: Record<string, LockedPackage> };
/** The project itself stands there under no name. */
const locked = Object.entries(packages).filter(([path]) => path !== "");

test("every package that brings an install script is decided upon, and Bun's alone may run", () => {
  const withScripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const decided = withScripts.map(([path]) => [path, allowScripts[path.replace(/^.*node_modules\//, "")]]);
  expect(Object.fromEntries(decided)).toEqual({ "node_modules/bun": true, "node_modules/@scarf/scarf": false });
});

test("packages come from the registry that each machine is set up with: the lock names none", () => {
  expect(locked.length).toBeGreaterThan(100);
  expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
