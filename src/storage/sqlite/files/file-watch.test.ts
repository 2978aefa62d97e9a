/** D-342: checks what happens if another program changes the files of a database while the database uses them. */
import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { temporaryFolder } from "#harness/server";
import { nextTurn } from "#kernel/turns";
import { DatabaseHealth } from "../../database-health.ts";
import { sql } from "../../sql.ts";
import { openSqlite } from "../open.ts";

const migrations = [{ feature: "notes", migrations: [{ name: "notes", statements: ["CREATE TABLE notes (id BIGINT PRIMARY KEY, text TEXT)"] }] }];
const all = sql`SELECT n.id FROM notes n ORDER BY n.id`;

async function openWatched(data = temporaryFolder()) {
  const health = new DatabaseHealth();
  const database = await openSqlite({ folder: data, migrations, health });
  afterThisTest(() => database.close());
  const insert = (id: number, text = "t") => database.write((tx) => tx.runOne(sql`INSERT INTO notes (id, text) VALUES (${id}, ${text})`));
  const causes = () => health.report().problems.map(({ kind, cause }) => `${kind}: ${cause}`);
  return { database, insert, causes, file: join(data, "default.sqlite"), log: join(data, "default.sqlite-wal") };
}

type Watched = Awaited<ReturnType<typeof openWatched>>;

const otherContent = (file: string): Buffer => {
  const other = `${file}.other`;
  const connection = new Sqlite(other);
  connection.run("CREATE TABLE others (id INTEGER)");
  connection.close();
  return readFileSync(other);
};

const changes: readonly (readonly [title: string, change: (watched: Watched) => void, cause: string])[] = [
  ["a log that is deleted", ({ log }) => rmSync(log), "default.sqlite-wal is gone"],
  ["a file that is deleted", ({ file }) => rmSync(file), "default.sqlite is gone"],
  [
    "a file that is replaced",
    ({ file }) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
    "default.sqlite was replaced by another file",
  ],
  ["a file that is emptied", ({ file }) => truncateSync(file), "default.sqlite became shorter"],
  ["a file without its last page", ({ file }) => truncateSync(file, statSync(file).size - 4096), "default.sqlite became shorter"],
  ["a log that is emptied", ({ log }) => truncateSync(log), "default.sqlite-wal became shorter"],
  [
    "a file that is overwritten with another database",
    ({ file }) => writeFileSync(file, Buffer.concat([otherContent(file), Buffer.alloc(statSync(file).size)]), { flag: "r+" }),
    "default.sqlite was written by another program",
  ],
  [
    "a row that another program writes",
    ({ file }) => {
      const other = new Sqlite(file);
      other.run("INSERT INTO notes (id, text) VALUES (77, 'theirs')");
      other.close();
    },
    "default.sqlite-wal was written by another program",
  ],
];

for (const [title, change, cause] of changes) {
  test(`D-342: ${title}: the next write is refused, and so is every read and write after it`, async () => {
    const watched = await openWatched();
    const { database, insert, causes } = watched;
    await insert(1);
    change(watched);
    await expect(insert(2)).rejects.toMatchObject({ errorName: "databaseUnreachable", cause: { message: cause } });
    expect(causes()).toEqual([`file_changed: ${cause}`]);
    const asked = [database.reader.all(all), database.ping(), database.snapshot((reader) => reader.all(all)), database.saveState("s"), insert(3)];
    const rejected = { status: "rejected", reason: { errorName: "databaseUnreachable" } };
    expect(await Promise.allSettled(asked)).toMatchObject([rejected, rejected, rejected, rejected, rejected]);
  });

  test(`D-342: ${title}: it is noticed without a write, too, and nothing is read any more`, async () => {
    const watched = await openWatched();
    await watched.insert(1);
    expect(await watched.database.reader.all(all)).toEqual([{ id: 1 }]);
    change(watched);
    while (watched.causes().length === 0) await Bun.sleep(5);
    expect(watched.causes()).toEqual([`file_changed: ${cause}`]);
    await expect(watched.database.reader.all(all)).rejects.toMatchObject({ errorName: "databaseUnreachable" });
  });
}

test("D-342: a write is not acknowledged if the log was deleted while it ran", async () => {
  const { database, insert, log } = await openWatched();
  await insert(1);
  const writing = database.write(async (tx) => {
    await tx.runOne(sql`INSERT INTO notes (id, text) VALUES (2, 't')`);
    rmSync(log);
  });
  await expect(writing).rejects.toMatchObject({ errorName: "databaseUnreachable", cause: { message: "default.sqlite-wal is gone" } });
});

test("D-342: what the database does itself is no change: checkpoints, a file made anew, states, writes that are undone, and other readers", async () => {
  const { database, insert, causes, file } = await openWatched();
  const text = "x".repeat(100_000);
  // The inserted rows make the log larger than the size at which SQLite copies the log into the file and cuts it.
  for (let id = 1; id <= 400; id++) await insert(id, text);
  await database
    .write(async (tx) => {
      for (let id = 1_000; id < 1_100; id++) {
        await tx.run(sql`INSERT INTO notes (id, text) VALUES (${id}, ${text})`);
        await tx.pause();
      }
      throw new Error("refused");
    })
    .catch(() => {});
  await database.saveState("one");
  await insert(500);
  await database.scrub();
  await database.restoreState("one");
  await insert(501);
  const reader = new Sqlite(file, { readonly: true });
  reader.query("SELECT COUNT(*) FROM notes").get();
  reader.close();
  await insert(502);
  // A copy program, or a file system that stores times late, changes the modification time of a file.
  utimesSync(file, new Date(), new Date());
  utimesSync(`${file}-wal`, new Date(), new Date());
  await insert(503);
  expect(causes()).toEqual([]);
  expect(await database.reader.all(all)).toHaveLength(403);
});

test("D-342: the looks go on while nothing happens, and find nothing", async () => {
  const { insert, causes, database } = await openWatched(":memory:");
  await insert(1);
  const until = performance.now() + 1_200;
  while (performance.now() < until) await nextTurn();
  expect(causes()).toEqual([]);
  expect(await database.reader.all(all)).toEqual([{ id: 1 }]);
});
