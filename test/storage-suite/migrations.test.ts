import { expect, test } from "bun:test";
import { Client } from "pg";
import { sharedPostgres } from "#harness/postgres-cluster";
import type { Database, FeatureMigrations } from "#storage/database";
import { MigrationFailed, UnknownMigration } from "#storage/migrator";
import { openPostgres } from "#storage/postgres/open";
import { sql } from "#storage/sql";
import { describeDrivers } from "./stores.ts";

const first = { name: "letters", statements: ["CREATE TABLE letters (id BIGINT NOT NULL PRIMARY KEY, body TEXT) WITHOUT ROWID"] };
const second = {
  name: "letter dates",
  statements: [
    "ALTER TABLE letters ADD COLUMN sent_time BIGINT NOT NULL DEFAULT 0",
    "INSERT INTO letters (id, body, sent_time) VALUES (7, 'TEXT', 5)",
  ],
};
const featureOf = (...migrations: FeatureMigrations["migrations"]): FeatureMigrations[] => [{ feature: "letters", migrations }];

const applied = (database: Database) =>
  database.reader.all(sql`SELECT feature, name FROM migrations ORDER BY applied_time, CASE name WHEN ${"letters"} THEN 0 ELSE 1 END`);

describeDrivers("migrations", (driver) => {
  test("each runs once, in the given order, even if the data is opened again", async () => {
    const store = await driver.newStore();
    for (let time = 0; time < 3; time++) {
      const database = await store.open(featureOf(first, second));
      expect(await database.reader.all(sql`SELECT id, body, sent_time FROM letters`)).toEqual([{ id: 7, body: "TEXT", sent_time: 5 }]);
      expect(await applied(database)).toEqual([
        { feature: "letters", name: "letters" },
        { feature: "letters", name: "letter dates" },
      ]);
      await database.close();
    }
  });

  test("additions of a newer program run on existing data", async () => {
    const store = await driver.newStore();
    const older = await store.open(featureOf(first));
    await older.write((tx) => tx.run(sql`INSERT INTO letters (id, body) VALUES (${1}, ${"old"})`));
    await older.close();
    const newer = await store.open(featureOf(first, second));
    expect(await newer.reader.all(sql`SELECT id, sent_time FROM letters ORDER BY id`)).toEqual([
      { id: 1, sent_time: 0 },
      { id: 7, sent_time: 5 },
    ]);
  });

  test("D-346: a program works on data to which a newer one has added something, and refuses data from which it took away what it uses", async () => {
    const store = await driver.newStore();
    await (await store.open(featureOf(first, second))).close();
    const older = await store.open(featureOf(first));
    await older.write((tx) => tx.run(sql`INSERT INTO letters (id, body) VALUES (${2}, ${"by the older one"})`));
    await older.close();
    const third = { name: "dates gone", statements: ["ALTER TABLE letters DROP COLUMN sent_time"], contracts: "letters/letter dates" };
    await (await store.open(featureOf(first, second, third))).close();
    await (await store.open(featureOf(first, second))).close();
    const refused = await store.open(featureOf(first)).catch((error) => error);
    expect(refused).toBeInstanceOf(UnknownMigration);
    expect(refused.message).toContain("letters/dates gone");
    await (await store.open(featureOf(first, second, third))).close();
  });

  test("D-347: rows change in batches until none is left, each durable, and a run that was ended goes on where it was", async () => {
    const store = await driver.newStore();
    const before = await store.open(featureOf(first));
    await before.write(async (tx) => {
      for (let id = 100; id < 1_700; id++) await tx.run(sql`INSERT INTO letters (id, body) VALUES (${id}, ${"short"})`);
    });
    await before.close();
    const fill = "UPDATE letters SET body = 'filled' WHERE id IN (SELECT l.id FROM letters l WHERE l.body = 'short' ORDER BY l.id LIMIT ?)";
    // The migration fails at one row, and this row is in the third batch or later.
    const fails = `${fill} AND CAST(CASE WHEN id = 1600 THEN 'x' ELSE '0' END AS INTEGER) = 0`;
    const failing =
      driver.name === "sqlite"
        ? fill.replace("body = 'filled'", "body = CASE WHEN id = 1600 THEN abs(-9223372036854775807 - 1) ELSE 'filled' END")
        : fails;
    const refused = await store.open(featureOf(first, { name: "filled", statements: [], batch: failing })).catch((error) => error);
    expect(refused).toBeInstanceOf(MigrationFailed);
    const between = await store.open(featureOf(first));
    const short = async (database: Database) =>
      Number((await database.reader.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM letters l WHERE l.body = 'short'`))?.n);
    expect(await short(between)).toBeGreaterThan(0);
    expect(await short(between)).toBeLessThanOrEqual(1_100);
    await between.close();
    const after = await store.open(featureOf(first, { name: "filled", statements: [], batch: fill }));
    expect(await short(after)).toBe(0);
  });

  test("a failed one leaves nothing of the whole run, and is named", async () => {
    const store = await driver.newStore();
    await (await store.open([])).close();
    const broken = { name: "broken", statements: ["INSERT INTO letters (id) VALUES (1)", "INSERT INTO nowhere (id) VALUES (1)"] };
    const refused = await store.open(featureOf(first, broken)).catch((error) => error);
    expect(refused).toBeInstanceOf(MigrationFailed);
    expect(refused.message).toContain("letters/broken");
    const database = await store.open(featureOf(first));
    expect(await database.reader.all(sql`SELECT id FROM letters`)).toEqual([]);
  });

  test("two with one name are a mistake of the program", async () => {
    const store = await driver.newStore();
    await expect(store.open(featureOf(first, first))).rejects.toThrow("two migrations are called letters/letters");
  });

  if (driver.name === "postgres") {
    test("a database in another encoding than UTF-8 is refused, with nothing created in it", async () => {
      const { url } = await sharedPostgres();
      const name = `plaza_ascii_${process.pid}`;
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'`).finally(() => client.end());
      const other = url.replace(/[^/]+$/, name);
      await expect(openPostgres({ url: other, schema: "plaza", migrations: [] })).rejects.toThrow(
        "the encoding of the database is SQL_ASCII: give Plaza a database with the encoding UTF8",
      );
    });

    test("processes that start at once take turns", async () => {
      const store = await driver.newStore();
      const databases = await Promise.all(Array.from({ length: 4 }, () => store.open(featureOf(first, second))));
      for (const database of databases) expect(await database.reader.all(sql`SELECT id FROM letters`)).toEqual([{ id: 7 }]);
      expect(new Set(databases.map(({ processNumber }) => processNumber)).size).toBe(4);
    });
  }
});
