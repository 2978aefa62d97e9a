/** Checks that data of a newer program is refused before anything in the data changes. */
import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Client } from "pg";
import { databaseKinds } from "#harness/databases";
import { endAll, runPlaza } from "../cli/plaza-process.ts";
import { fixtures } from "./fixtures.ts";
import type { Place } from "./places.ts";

afterEach(endAll);

/** Runs the statements in order, and returns the rows of the last one. */
async function execute({ data }: Place, statements: readonly string[]): Promise<unknown[]> {
  let rows: unknown[] = [];
  if (data.startsWith("postgres")) {
    const client = new Client({ connectionString: data });
    await client.connect();
    for (const statement of ["SET search_path = plaza_default", ...statements]) rows = (await client.query(statement)).rows;
    await client.end();
  } else {
    const database = new Database(join(data, "default.sqlite"));
    for (const statement of statements) rows = database.query(statement).all();
    database.close();
  }
  return rows;
}

const MIGRATIONS = "SELECT feature, name FROM migrations ORDER BY feature, name";

const chosen = fixtures.filter(({ database }) => databaseKinds.includes(database));

describe.each(chosen)("data of $version ($database), with a migration of a newer program", ({ open }) => {
  test("is refused with exit code 2 and the unknown migration, and is unchanged", async () => {
    const place = await open();
    const newer = "INSERT INTO migrations (feature, name, applied_time) VALUES ('later-feature', 'things', 1900000000)";
    const before = await execute(place, [newer, MIGRATIONS]);
    const commands = [
      ["start", "--json", "--port", "0", "--control-port", "0", "--rtmp-port", "off"],
      ["token", "list"],
    ];
    for (const command of commands) {
      expect(await runPlaza([...command, "--data", place.data], { env: place.env })).toEqual({
        code: 2,
        stdout: "",
        stderr:
          "plaza: a newer version of Plaza changed the data: this version does not know the migration later-feature/things. Start the newer version\n",
      });
    }
    expect(await execute(place, [MIGRATIONS])).toEqual(before);
  });
});
