/** Checks what `plaza migrate` prints. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrationsOf } from "#graph/worlds/open-world";
import { printedBy, written } from "#harness/cli/printed";
import { variables } from "#harness/cli/variables";
import { temporaryFolder } from "#harness/server";
import { buildRegistry } from "#main";
import { databasesIn } from "#storage/open";
import { migrateData } from "./migrate.ts";

/** Makes the data of an earlier version of Plaza, which had no login. */
async function earlierData(): Promise<string> {
  const data = temporaryFolder();
  const earlier = migrationsOf(buildRegistry()).filter(({ feature }) => feature !== "login");
  await (await (await databasesIn(data, earlier, { version: "0.0.1" })).open("default")).close();
  return data;
}

test("D-352: the address of the data is read from a file, as by the other commands", async () => {
  const file = join(temporaryFolder(), "data");
  writeFileSync(file, `${await earlierData()}\n`);
  variables({ PLAZA_DATA: undefined, PLAZA_DATA_FILE: file, PLAZA_CONFIG: undefined });
  const streams = written();
  expect(await migrateData({ dry_run: true })).toBe(0);
  expect(streams.out).toContain("default: login/");
});

test("the migrations of each world, as text or as JSON; a dry run changes nothing", async () => {
  const data = await earlierData();
  const streams = written();
  const printed = async (given: object): Promise<string> => {
    streams.out = "";
    expect(await migrateData({ data, ...given })).toBe(0);
    return streams.out;
  };
  const { worlds, run } = printedBy("migrate", await printed({ json: true, dry_run: true })) as {
    worlds: { world: string; migrations: string[] }[];
    run: number;
  };
  const lines = worlds.flatMap(({ world, migrations }) => migrations.map((one) => `${world}: ${one}`));
  expect(lines.length).toBeGreaterThan(0);
  expect(run).toBe(0);
  expect(await printed({ dry_run: true })).toBe(`${[...lines, `${lines.length} to run; nothing was changed`].join("\n")}\n`);
  expect(printedBy("migrate", await printed({ json: true }))).toEqual({ worlds, run: lines.length });
  expect(JSON.parse(await printed({ json: true }))).toEqual({ worlds: [], run: 0 });
  expect(await printed({})).toBe("nothing to migrate\n");
  expect(streams.err).toBe("");
});
