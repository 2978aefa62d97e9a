/** Checks a disk that is full when SQLite commits. The system's limit on the size of a file takes the role of the full disk. */
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { append, sql } from "#storage/sql";
import { openSqlite } from "#storage/sqlite/open";
import { cleanUp, closedAfterwards, notes, temporaryFolder } from "./stores.ts";

/** The limit on the size of a file in blocks of 512 bytes, as the shell counts: 2 MB. */
const LIMIT_BLOCKS = 4_000;

interface Report {
  readonly responded: number[];
  readonly refusals: Record<string, number>;
  readonly afterwards: number[];
  readonly announced: number[];
  readonly acted: number[];
}

describe("disk full", () => {
  afterEach(cleanUp);

  test("a group is stored or refused as a whole, readers continue, and later writes succeed", async () => {
    const folder = temporaryFolder();
    // The process ignores the signal of the limit, so that the write itself fails, as on a full disk.
    const script = `trap '' XFSZ; ulimit -S -f ${LIMIT_BLOCKS}; exec "$0" "$@"`;
    const child = Bun.spawn(["sh", "-c", script, process.execPath, join(import.meta.dir, "fill-disk.ts"), folder], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const text = await new Response(child.stdout).text();
    expect(await child.exited).toBe(0);
    const { responded, refusals, afterwards, announced, acted } = JSON.parse(text) as Report;
    expect(Object.keys(refusals)).toEqual(["databaseUnreachable"]);
    expect(responded.length).toBeGreaterThan(0);
    expect(afterwards.length).toBeGreaterThan(0);

    const database = closedAfterwards(await openSqlite({ folder, migrations: [notes] }));
    const stored = await database.reader.all<{ id: number }>(sql`SELECT id FROM notes ORDER BY id`);
    // Every acknowledged write is stored, and no refused write is stored.
    const ids = stored.map(({ id }) => id);
    expect([...responded, ...afterwards].sort((a, b) => a - b)).toEqual(ids);
    // For a refused write, the server announced no change and ran no action.
    expect(announced.sort((a, b) => a - b)).toEqual(ids);
    expect(acted.sort((a, b) => a - b)).toEqual(ids);
  }, 30_000);

  test("if a statement in the middle of a group ends the transaction, nothing of the group is stored outside it", async () => {
    const database = closedAfterwards(await openSqlite({ folder: temporaryFolder(), migrations: [notes] }));
    const insert = (id: number, characters: number) =>
      database.write((tx) => tx.runOne(sql`INSERT INTO notes (id, list, text) VALUES (${id}, ${"a"}, ${"x".repeat(characters)})`));
    const storedIds = async () => (await database.reader.all<{ id: number }>(sql`SELECT n.id FROM notes n ORDER BY n.id`)).map(({ id }) => id);
    await insert(1, 1);
    const [{ pages = 0 } = {}] = await database.reader.all<{ pages: number }>(sql`SELECT page_count AS pages FROM pragma_page_count`);
    const limitPages = (count: number) => database.write((tx) => tx.run(append(sql`PRAGMA`, `max_page_count = ${count}`)));
    await limitPages(pages + 10);
    const ends = await Promise.allSettled([insert(2, 1), insert(3, 500_000), insert(4, 1), insert(5, 1)]);
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "fulfilled"]);
    expect(await storedIds()).toEqual([1, 4, 5]);
    await limitPages(1_000_000);
    await Promise.all([insert(3, 500_000), insert(6, 1)]);
    expect(await storedIds()).toEqual([1, 3, 4, 5, 6]);
  });
});
