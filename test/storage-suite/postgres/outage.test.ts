/** Checks what happens when PostgreSQL stops and starts again, on a cluster that only this file uses. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { Client } from "pg";
import { type PostgresCluster, startPostgresCluster } from "#harness/postgres-cluster";
import { GraphError } from "#kernel/errors";
import type { Database } from "#storage/database";
import { openPostgres } from "#storage/postgres/open";
import { sql } from "#storage/sql";
import { becomesTrue, cleanUp, closedAfterwards, notes } from "../stores.ts";

/** The time limit of a test: a cluster starts in 1 to 2 s, and needs more on a busy machine. */
const LIMIT_MS = 60_000;

const insert = (id: number) => sql`INSERT INTO notes (id, list) VALUES (${id}, ${"a"})`;
const count = sql`SELECT COUNT(*) AS count FROM notes`;

describe("outage of PostgreSQL", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgresCluster();
  }, LIMIT_MS);
  afterAll(() => cluster?.stop(), LIMIT_MS);
  afterEach(cleanUp);

  const open = async (): Promise<Database> =>
    closedAfterwards(await openPostgres({ url: await cluster.newDatabase(), schema: "plaza", migrations: [notes] }));

  /** Opens this number of database connections and leaves them idle in the pool. */
  const warm = (database: Database, connections: number) => Promise.all(Array.from({ length: connections }, () => database.reader.get(count)));

  async function execute(url: string, statement: string): Promise<void> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }

  async function expectUnreachable(response: Promise<unknown>): Promise<void> {
    const error = await response.then(
      () => undefined,
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(GraphError);
    expect(error).toMatchObject({ errorName: "databaseUnreachable", details: { headers: { "retry-after": "1" } } });
    expect(error.cause).toBeInstanceOf(Error);
  }

  for (const how of ["fast", "immediate", "kill"] as const) {
    test(
      `after ${how === "kill" ? "SIGKILL" : `a ${how} shutdown`} reads and writes are refused at once, and served again when it is back`,
      async () => {
        const database = await open();
        const number = database.processNumber;
        await warm(database, 6);
        await database.write((tx) => tx.run(insert(1)));
        await (how === "kill" ? cluster.kill() : cluster.halt(how));
        const start = performance.now();
        for (let round = 0; round < 3; round++) {
          await expectUnreachable(database.reader.get(count));
          await expectUnreachable(database.write((tx) => tx.run(insert(2))));
          await expectUnreachable(database.snapshot((reader) => reader.get(count)));
          await expectUnreachable(database.ping());
        }
        // A transaction function that fails before its first statement reports its own error.
        const mistake = new Error("refused");
        expect(await database.write(() => Promise.reject(mistake)).catch((error) => error)).toBe(mistake);
        // The test sends twelve requests, and if they waited for PostgreSQL, each would wait 5 s.
        expect(performance.now() - start).toBeLessThan(10_000);
        const heard: string[] = [];
        database.onInvalidate((kind, key) => heard.push(`${kind} ${key}`));
        await cluster.start();
        await database.ping();
        await database.write((tx) => tx.run(insert(3)));
        expect(await database.reader.get(count)).toEqual({ count: 2 });
        expect(await becomesTrue(() => heard.includes("undefined undefined"), 20_000)).toBe(true);
        expect(database.processNumber).toBe(number);
      },
      LIMIT_MS,
    );
  }

  test(
    "an unnoticed restart fails no request, however many connections were idle",
    async () => {
      const database = await open();
      await warm(database, 8);
      await cluster.restart("fast");
      const requests = Array.from({ length: 20 }, (_, id) =>
        id % 2 === 0 ? database.reader.get(count) : database.write((tx) => tx.run(insert(id))),
      );
      expect((await Promise.allSettled(requests)).filter(({ status }) => status === "rejected")).toEqual([]);
      expect(await database.reader.get(count)).toEqual({ count: 10 });
    },
    LIMIT_MS,
  );

  test("a connection cut in the middle of a body: the body runs again on another one", async () => {
    const url = await cluster.newDatabase();
    const database = closedAfterwards(await openPostgres({ url, schema: "plaza", migrations: [notes] }));
    await warm(database, 1);
    let runs = 0;
    await database.write(async (tx) => {
      await tx.run(insert(1));
      if (++runs === 1) await tx.get(sql`SELECT CAST(pg_terminate_backend(pg_backend_pid()) AS TEXT) AS done`);
    });
    expect(runs).toBe(2);
    expect(await database.reader.get(count)).toEqual({ count: 1 });
  });

  test("a connection cut at COMMIT: the outcome is unknown, so the caller gets an error and nothing runs twice", async () => {
    const url = await cluster.newDatabase();
    const database = closedAfterwards(await openPostgres({ url, schema: "plaza", migrations: [notes] }));
    await warm(database, 1);
    await execute(
      url,
      `CREATE FUNCTION plaza.cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON plaza.notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION plaza.cut()`,
    );
    let runs = 0;
    let isCommitted = false;
    await expectUnreachable(
      database.write(async (tx) => {
        runs++;
        tx.afterCommit(() => {
          isCommitted = true;
        });
        await tx.run(insert(1));
      }),
    );
    expect({ runs, isCommitted }).toEqual({ runs: 1, isCommitted: false });
    expect(await database.reader.get(count)).toEqual({ count: 0 });
  });

  test("the same with bodies that share the commit; cut before it, all of them run again", async () => {
    const url = await cluster.newDatabase();
    const database = closedAfterwards(await openPostgres({ url, schema: "plaza", migrations: [notes] }));
    await warm(database, 1);
    const runs: number[] = [];
    const writeAll = (cutBy: number) =>
      Promise.allSettled(
        [1, 2, 3].map((id) =>
          database.write(async (tx) => {
            await tx.lock("notes", "a");
            runs.push(id);
            await tx.run(insert(id));
            if (id === cutBy && runs.length <= 3) await tx.get(sql`SELECT pg_terminate_backend(pg_backend_pid()) AS ended`);
          }),
        ),
      );
    expect((await writeAll(2)).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
    expect(runs.filter((id) => id === 1)).toHaveLength(2);
    expect(await database.reader.get(count)).toEqual({ count: 3 });
    await execute(url, "DELETE FROM plaza.notes");
    await execute(
      url,
      `CREATE FUNCTION plaza.cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON plaza.notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION plaza.cut()`,
    );
    runs.length = 0;
    for (const response of await writeAll(0)) {
      expect(response).toMatchObject({ status: "rejected", reason: { errorName: "databaseUnreachable" } });
    }
    expect(runs).toEqual([1, 2, 3]);
    expect(await database.reader.get(count)).toEqual({ count: 0 });
  });

  test("a plan that a newer program's change made stale is replaced", async () => {
    const url = await cluster.newDatabase();
    const database = closedAfterwards(await openPostgres({ url, schema: "plaza", migrations: [notes] }));
    const all = sql`SELECT * FROM notes WHERE id = ${1}`;
    await database.write((tx) => tx.run(insert(1)));
    await database.reader.get(all);
    await execute(url, "ALTER TABLE plaza.notes ADD COLUMN added TEXT DEFAULT 'x'");
    expect(await database.reader.get(all)).toMatchObject({ added: "x" });
  });

  test("opening reports unreachable if nobody listens, and the reason if it is something else", async () => {
    await expectUnreachable(openPostgres({ url: "postgres://postgres@127.0.0.1:1/postgres", schema: "plaza", migrations: [] }));
    await expect(openPostgres({ url: cluster.url.replace(/postgres$/, "nowhere"), schema: "plaza", migrations: [] })).rejects.toThrow(
      'database "nowhere" does not exist',
    );
  });

  test("a query that waits too long for a connection is refused", async () => {
    const url = await cluster.newDatabase();
    const database = closedAfterwards(await openPostgres({ url, schema: "plaza", migrations: [notes], limits: { connections: 1 } }));
    const sleeping = database.reader.get(sql`SELECT CAST(pg_sleep(6) AS TEXT) AS slept`);
    const start = performance.now();
    const error = await database.reader.get(count).catch((reason) => reason);
    expect(error.errorName).toBe("databaseUnreachable");
    expect(performance.now() - start).toBeGreaterThan(4_900);
    await sleeping;
    expect(await database.reader.get(count)).toEqual({ count: 0 });
  }, 20_000);
});
