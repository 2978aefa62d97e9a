/** Checks that on PostgreSQL, transaction functions that begin by locking the same name share a transaction. */
import { afterEach, describe, expect, test } from "bun:test";
import { sharedPostgres } from "#harness/postgres-cluster";
import type { Database, Transaction } from "#storage/database";
import { openPostgres } from "#storage/postgres/open";
import { sql } from "#storage/sql";
import { cleanUp, closedAfterwards, notes } from "../stores.ts";

let schemas = 0;

async function open(poolSize = 6): Promise<Database> {
  const { url } = await sharedPostgres();
  return closedAfterwards(
    await openPostgres({ url, schema: `plaza_groups_${process.pid}_${++schemas}`, migrations: [notes], limits: { connections: poolSize } }),
  );
}

const insert = (id: number) => sql`INSERT INTO notes (id, list) VALUES (${id}, ${"a"})`;
const ids = async (database: Database) =>
  (await database.reader.all<{ id: number }>(sql`SELECT n.id FROM notes n ORDER BY n.id`)).map(({ id }) => id);
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

/** The number of the PostgreSQL transaction, which its first write determines. */
const transactionOf = async (tx: Transaction) => (await tx.get<{ xid: string }>(sql`SELECT CAST(pg_current_xact_id() AS TEXT) AS xid`))?.xid;

describe("groups", () => {
  afterEach(cleanUp);

  test("fifty bodies that lock one name share a transaction, in the order of their arrival; others do not", async () => {
    const database = await open();
    const order: number[] = [];
    const locked = await Promise.all(
      numbers(50).map((id) =>
        database.write(async (tx) => {
          await tx.lock("notes", "a");
          order.push(id);
          await tx.runOne(insert(id));
          return transactionOf(tx);
        }),
      ),
    );
    expect(new Set(locked).size).toBe(1);
    expect(order).toEqual(numbers(50));
    expect(await ids(database)).toEqual(numbers(50));
    const free = await Promise.all(numbers(3).map(() => database.write(transactionOf)));
    const later = await Promise.all(
      numbers(3).map(() =>
        database.write(async (tx) => {
          await tx.get(sql`SELECT 1 AS one`);
          await tx.lock("notes", "a");
          return transactionOf(tx);
        }),
      ),
    );
    expect(new Set([...free, ...later]).size).toBe(6);
  });

  test("at most sixty, so that another process has its turn", async () => {
    const database = await open();
    const lock = () =>
      database.write(async (tx) => {
        await tx.lock("notes", "a");
        return transactionOf(tx);
      });
    expect(new Set(await Promise.all(numbers(61).map(lock))).size).toBe(2);
  });

  test("a name can be locked in a schema that an administrator has created", async () => {
    const { url } = await sharedPostgres();
    const schema = `plaza_groups_${process.pid}_${++schemas}`;
    const other = await open();
    await other.write((tx) => tx.run({ query: { text: `CREATE SCHEMA ${schema}` }, values: [] }));
    const database = closedAfterwards(await openPostgres({ url, schema, migrations: [notes] }));
    await Promise.all(numbers(20).map((id) => database.write((tx) => tx.lock("notes", String(id)))));
  });

  test("a name whose row is missing is not locked, and the write is refused, even if the lock is its last statement", async () => {
    const database = await open();
    await database.write((tx) => tx.run(sql`DELETE FROM locks`));
    const bodies = [[insert(1)], [insert(1), insert(2)], []];
    for (const before of bodies) {
      const response = database.write(async (tx) => {
        for (const statement of before) await tx.runOne(statement);
        await tx.get(sql`SELECT 1 AS one`);
        await tx.lock("notes", "a");
      });
      await expect(response).rejects.toThrow("the row of a lock is missing");
    }
    expect(await ids(database)).toEqual([]);
  });

  test("a body that throws is undone alone, first or later, and later ones do not see it", async () => {
    const database = await open();
    const seen: number[] = [];
    const responses = await Promise.allSettled(
      numbers(40).map((id) =>
        database.write(async (tx) => {
          await tx.lock("notes", "a");
          seen[id] = (await tx.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM notes`))?.count ?? -1;
          await tx.runOne(insert(id));
          if (id % 4 < 2) throw new Error(`refused ${id}`);
          return id;
        }),
      ),
    );
    const kept = numbers(40).filter((id) => id % 4 >= 2);
    expect(responses).toHaveLength(40);
    for (const [id, response] of responses.entries()) {
      expect(response).toMatchObject(id % 4 < 2 ? { status: "rejected", reason: { message: `refused ${id}` } } : { status: "fulfilled", value: id });
      expect(seen[id]).toBe(kept.filter((one) => one < id).length);
    }
    expect(await ids(database)).toEqual(kept);
  });

  test("the name is locked for each of them, even after the first was undone", async () => {
    const { url } = await sharedPostgres();
    const schema = `plaza_groups_${process.pid}_${++schemas}`;
    const [database, other] = [await openPostgres({ url, schema, migrations: [notes] }), await openPostgres({ url, schema, migrations: [notes] })];
    for (const each of [database, other]) closedAfterwards(each);
    const countFree = () => other.write(async (tx) => (await tx.all(sql`SELECT l.slot FROM locks l FOR UPDATE SKIP LOCKED`)).length);
    const all = await countFree();
    const free: number[] = [];
    const responses = await Promise.allSettled(
      numbers(3).map((id) =>
        database.write(async (tx) => {
          await tx.lock("notes", "a");
          await tx.get(sql`SELECT 1 AS one`);
          free.push(await countFree());
          if (id === 0) throw new Error("refused");
        }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(free).toEqual([all - 1, all - 1, all - 1]);
  });

  test("further names are locked for each body that asks, and the name of the group once", async () => {
    const { url } = await sharedPostgres();
    const schema = `plaza_groups_${process.pid}_${++schemas}`;
    const [database, other] = [await openPostgres({ url, schema, migrations: [notes] }), await openPostgres({ url, schema, migrations: [notes] })];
    for (const each of [database, other]) closedAfterwards(each);
    const countFree = () => other.write(async (tx) => (await tx.all(sql`SELECT l.slot FROM locks l FOR UPDATE SKIP LOCKED`)).length);
    const all = await countFree();
    const rows = await Promise.all(
      numbers(3).map((id) =>
        database.write(async (tx) => {
          for (const name of ["a", `${id} b`, `${id} c`]) await tx.lock("notes", name);
          const scans = sql`SELECT CAST(SUM(idx_scan + seq_scan) AS BIGINT) AS count FROM pg_stat_xact_user_tables WHERE relname = 'locks' AND schemaname = ${schema}`;
          return [(await tx.get<{ count: number }>(scans))?.count, all - (await countFree())];
        }),
      ),
    );
    expect(rows).toEqual([
      [3, 3],
      [5, 5],
      [7, 7],
    ]);
  });

  test("a refusal because of a row that is not stored in the end is repeated", async () => {
    const database = await open(1);
    await database.write((tx) => tx.runOne(insert(7)));
    const add = (id: number, more: readonly number[]) =>
      database.write(async (tx) => {
        await tx.lock("notes", "a");
        if ((await tx.get(sql`SELECT 1 AS one FROM notes WHERE id = ${1}`)) !== undefined) return "refused";
        await tx.runOne(insert(id));
        // The function does not await the failing statement, so that the next function has begun when the statement fails.
        for (const each of more) await tx.runOne(insert(each));
        return "stored";
      });
    const responses = await Promise.allSettled([add(1, [7]), add(2, []), add(3, [])]);
    expect(responses.map((response) => (response.status === "fulfilled" ? response.value : "failed"))).toEqual(["failed", "stored", "stored"]);
    expect(await ids(database)).toEqual([2, 3, 7]);
  });

  const change = sql`UPDATE notes SET amount = amount + 1 WHERE id = ${1}`;
  const changed = (database: Database) => database.reader.get(sql`SELECT n.amount FROM notes n WHERE n.id = ${1}`);
  const storeOne = (database: Database) => database.write((tx) => tx.runOne(sql`INSERT INTO notes (id, list, amount) VALUES (1, ${"a"}, 0)`));

  /**
   * The number of turns of the event loop within which thirty transaction functions end. Each transaction function locks the name and then runs
   * `ask`.
   */
  async function turnsOf(database: Database, ask: (tx: Transaction) => Promise<void>): Promise<number> {
    let turn = 0;
    const count = () => {
      turn++;
      immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);
    const ends = await Promise.all(
      numbers(30).map(() =>
        database.write(async (tx) => {
          await tx.lock("notes", "a");
          await ask(tx);
          return turn;
        }),
      ),
    );
    clearImmediate(immediate);
    return new Set(ends).size;
  }

  test("bodies that await nothing have all ended before PostgreSQL responds", async () => {
    const database = await open();
    await storeOne(database);
    expect(await turnsOf(database, (tx) => tx.runOne(change))).toBe(1);
    expect(await changed(database)).toEqual({ amount: 30 });
  });

  test("a body that arrives before PostgreSQL has responded is stored with the others", async () => {
    const database = await open();
    await storeOne(database);
    let hasEnded = () => {};
    const write = () =>
      database.write(async (tx) => {
        await tx.lock("notes", "a");
        await tx.runOne(change);
        hasEnded();
      });
    const end = new Promise<void>((resolve) => {
      hasEnded = resolve;
    });
    const first = write();
    await end;
    // Until these microtasks have run, the connection sends and receives nothing.
    for (let microtask = 0; microtask < 100; microtask++) await undefined;
    const second = write();
    await first;
    expect(await changed(database)).toEqual({ amount: 2 });
    await second;
  });

  test("a missing row undoes all of them, and each runs again by itself", async () => {
    const database = await open();
    await storeOne(database);
    const runs = new Map<number, number>();
    const update = (id: number, at: number) =>
      database.write(async (tx) => {
        await tx.lock("notes", "a");
        runs.set(at, (runs.get(at) ?? 0) + 1);
        await tx.runOne(sql`UPDATE notes SET amount = amount + 1 WHERE id = ${id}`);
      });
    const outcomes = await Promise.allSettled([1, 2, 1].map(update));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect([...runs.values()]).toEqual([2, 5, 2]);
    expect(await changed(database)).toEqual({ amount: 2 });
  });

  test("facts and actions are those of the stored bodies, after they are stored", async () => {
    const database = await open();
    const heard: string[] = [];
    database.onInvalidate((_, key) => heard.push(`fact ${key}`));
    await Promise.allSettled(
      numbers(4).map((id) =>
        database.write(async (tx) => {
          await tx.lock("notes", "a");
          tx.invalidate("note", String(id));
          tx.afterCommit(() => heard.push(`action ${id}`));
          await tx.runOne(insert(id));
          if (id % 2 === 0) throw new Error("refused");
        }),
      ),
    );
    // The database also sends the notices of this process back to it, as to every process.
    expect([...new Set(heard)].filter((each) => each !== "fact undefined")).toEqual(["fact 1", "fact 3", "action 1", "action 3"]);
  });

  test("if one of many statements fails, the earlier ones have their results, and the connection continues", async () => {
    const database = await open(1);
    const both = [sql`SELECT n.id FROM notes n WHERE n.id = ${1}`, sql`SELECT n.list FROM notes n WHERE n.id = ${1}`] as const;
    await database.write((tx) => tx.runOne(insert(1)));
    for (let round = 0; round < 2; round++) {
      let settled: PromiseSettledResult<unknown>[] = [];
      await database
        .write(async (tx) => {
          settled = await Promise.allSettled([tx.get(both[0]), tx.run(insert(1)), tx.get(both[1])]);
        })
        .catch(() => {});
      expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
      expect(settled[0]).toMatchObject({ value: { id: 1 } });
    }
    expect([await database.reader.get(both[0]), await database.reader.get(both[1])]).toEqual([{ id: 1 }, { list: "a" }]);
  });
});
