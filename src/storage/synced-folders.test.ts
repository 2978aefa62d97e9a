/** Checks how folders are made and copied, and the syncs that keep the folders' names on the disk. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { diskSteps } from "#harness/disk/disk-steps";
import { temporaryFolder } from "#harness/server";
import { openSqlite } from "./sqlite/open.ts";
import { copyFolder, makeFolder } from "./synced-folders.ts";

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test("each created folder is readable only by its owner, and its name survives a power failure", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "there"), { mode: 0o755 });
  const steps = await diskSteps(folder, () => makeFolder(join(folder, "there/one/two")));
  expect(steps.sort()).toEqual(["sync there", "sync there/one"]);
  expect(["there", "there/one", "there/one/two"].map((path) => modeOf(join(folder, path)))).toEqual([0o755, 0o700, 0o700]);
});

test("an existing folder costs no sync", async () => {
  const folder = temporaryFolder();
  expect(await diskSteps(folder, () => makeFolder(folder))).toEqual([]);
});

test("a copied folder survives a power failure, with each file and each name in it", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "from/one"), { recursive: true });
  writeFileSync(join(folder, "from/one/file"), "kept");
  writeFileSync(join(folder, "from/other"), "");
  const steps = await diskSteps(folder, () => copyFolder(join(folder, "from"), join(folder, "to")));
  expect(readFileSync(join(folder, "to/one/file"), "utf8")).toBe("kept");
  // order: the operating system chooses the order in which it lists a folder's content.
  expect(steps.slice(0, 3).sort()).toEqual(["sync to/one", "sync to/one/file", "sync to/other"]);
  expect(steps.slice(3)).toEqual(["sync to", "sync ."]);
});

test("new data survives a power failure with its folders", async () => {
  const folder = temporaryFolder();
  const steps = await diskSteps(folder, async () => (await openSqlite({ folder: join(folder, "one/data"), migrations: [] })).close());
  expect(steps).toContain("sync .");
  expect(steps).toContain("sync one");
  expect(steps.at(-1)).toBe("sync one/data");
});
