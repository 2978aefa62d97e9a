/** Checks that a backup is on the disk before the command reports that the backup was made. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { diskSteps } from "#harness/disk/disk-steps";
import { temporaryFolder } from "#harness/server";
import { copyWorlds } from "./backup.ts";
import { openSqlite } from "./open.ts";

test("the copy of each world survives a power failure, and so does its name", async () => {
  const folder = temporaryFolder();
  const data = join(folder, "data");
  const databases = [await openSqlite({ folder: data, migrations: [] }), await openSqlite({ folder: data, world: "second", migrations: [] })];
  mkdirSync(join(folder, "copy"));
  const steps = await diskSteps(folder, () => copyWorlds(data, join(folder, "copy")));
  expect(steps.slice(0, -1).sort()).toEqual(["sync copy/default.sqlite", "sync copy/second.sqlite"]);
  expect(steps.at(-1)).toBe("sync copy");
  for (const database of databases) await database.close();
});
