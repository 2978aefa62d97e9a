/** Checks that only the user of the server may read the files that the server makes. */
import { afterEach, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, runPlaza, startPlaza } from "../cli/plaza-process.ts";

afterEach(endAll);

interface Made {
  readonly path: string;
  readonly mode: string;
}

const modesIn = (folder: string): Made[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, mode: (statSync(path).mode & 0o777).toString(8) }));

test("every folder that a server creates is 0700, every file 0600: worlds, states, keys, recordings, backups", async () => {
  const cwd = newFolder();
  const plaza = await startPlaza(["--rtmp-port", "0"], { cwd });
  const run = async (...words: readonly string[]): Promise<void> => expect(await runPlaza(words, { cwd })).toMatchObject({ code: 0 });
  await run("world", "new", "other");
  await run("world", "snapshot", "first");
  await run("live", "play", "5301");
  while (!modesIn(cwd).some(({ path }) => path.endsWith(".ts"))) await Bun.sleep(20);
  await run("backup", "copy");
  await plaza.end();
  const made = modesIn(cwd);
  expect(made.length).toBeGreaterThan(10);
  expect(made.filter(({ path, mode }) => mode !== (statSync(path).isDirectory() ? "700" : "600"))).toEqual([]);
});
