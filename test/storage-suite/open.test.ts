import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sharedPostgres } from "#harness/postgres-cluster";
import { openDatabase } from "#storage/open";
import { sql } from "#storage/sql";
import { cleanUp, closedAfterwards, notes, temporaryFolder } from "./stores.ts";

const open = async (data: string, world: string) => closedAfterwards(await openDatabase({ data, world, migrations: [notes] }));

describe("opening", () => {
  afterEach(cleanUp);

  test("a folder has a file for each world", async () => {
    const folder = join(temporaryFolder(), ".plaza");
    for (const world of ["default", "test-1"]) expect((await open(folder, world)).dialect).toBe("sqlite");
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(["default.sqlite", "test-1.sqlite", "plaza.lock"]));
  });

  test("worlds in memory are separate", async () => {
    const [one, two] = [await open(":memory:", "default"), await open(":memory:", "default")];
    await one.write((tx) => tx.run(sql`INSERT INTO notes (id, list) VALUES (${1}, ${"a"})`));
    expect(await two.reader.get(sql`SELECT 1 AS one FROM notes`)).toBeUndefined();
  });

  test("PostgreSQL has a schema for each world, and the address's own options apply", async () => {
    const url = await (await sharedPostgres()).newDatabase();
    for (const world of ["default", "Test-1"]) expect((await open(url, world)).dialect).toBe("postgres");
    const options = encodeURIComponent("-c application_name=mine -c work_mem=5MB");
    const database = await open(`${url}?options=${options}`, "default");
    const settings = sql`SELECT current_setting(${"work_mem"}) AS memory, current_setting(${"search_path"}) AS path`;
    expect(await database.reader.get(settings)).toEqual({ memory: "5MB", path: "plaza_default" });
    const schemas = sql`SELECT CAST(nspname AS TEXT) AS name FROM pg_namespace WHERE nspname LIKE ${"plaza%"} ORDER BY 1`;
    expect(await database.reader.all(schemas)).toEqual([{ name: "plaza_Test-1" }, { name: "plaza_default" }]);
  });

  test("a name that could lead out of the folder is refused", async () => {
    for (const world of ["", "..", "a/b", "a.b", 'a"b', "ä", "a".repeat(58)]) {
      await expect(openDatabase({ data: ":memory:", world, migrations: [] })).rejects.toThrow("not a valid world name");
    }
  });

  test("the PostgreSQL driver is not loaded for SQLite", async () => {
    const program = `
      const { openDatabase } = await import("#storage/open");
      await (await openDatabase({ data: ":memory:", world: "default", migrations: [] })).close();
      console.log(Object.keys(require.cache).filter((file) => file.includes("/node_modules/pg")).length);
      await import("#storage/postgres/open");
      console.log(Object.keys(require.cache).filter((file) => file.includes("/node_modules/pg")).length > 0);`;
    const child = Bun.spawn([process.execPath, "-e", program], { cwd: join(import.meta.dir, "../.."), stdout: "pipe", stderr: "inherit" });
    expect(await new Response(child.stdout).text()).toBe("0\ntrue\n");
  });
});
