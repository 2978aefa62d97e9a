/** Checks how processes that share a PostgreSQL schema hear of each other's changes. */
import { afterEach, describe, expect, test } from "bun:test";
import { Client } from "pg";
import { sharedPostgres } from "#harness/postgres-cluster";
import type { Database } from "#storage/database";
import { FactCache } from "#storage/facts";
import { openPostgres } from "#storage/postgres/open";
import { sql } from "#storage/sql";
import { becomesTrue, cleanUp, closedAfterwards, notes } from "../stores.ts";

/** ARCHITECTURE.md, idea 5: other processes see a change within 1 s. */
const LIMIT_MS = 1_000;
/** The longest time that a test waits for a notice: a machine may be so busy that a second passes at once. */
const WAIT_MS = 10_000;

let databases = 0;

async function openBoth() {
  const { url } = await sharedPostgres();
  const schema = `plaza_facts_${process.pid}_${++databases}`;
  const open = async () => closedAfterwards(await openPostgres({ url, schema, migrations: [notes] }));
  return { url, schema, one: await open(), two: await open(), open };
}

/**
 * Records facts. The notice "everything" may arrive at any time: a process that did not run for half a second does not know which notices it missed.
 */
function listen(database: Database): string[] {
  const heard: string[] = [];
  database.onInvalidate((kind, key) => heard.push(kind === undefined ? "everything" : `${kind} ${key}`));
  return heard;
}

async function execute(url: string, statement: string, values: unknown[] = []): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement, values).finally(() => client.end());
}

const announce = (database: Database, key: string): Promise<void> => database.write(async (tx) => tx.invalidate("token", key));

describe("fact channel", () => {
  afterEach(cleanUp);

  test("another process receives each change, by name, in order", async () => {
    const { one, two } = await openBoth();
    const heard = listen(two);
    const expected = Array.from({ length: 30 }, (_, index) => `token key ${index} ' \u{1f600}`);
    for (const each of expected) await announce(one, each.slice("token ".length));
    expect(await becomesTrue(() => heard.length >= 30, WAIT_MS)).toBe(true);
    // If only the poll has found a change, the process announces the change as "everything". This notice is rare, and no other change may be missing.
    expect(heard.filter((each) => each !== "everything")).toEqual(expected);
  });

  test("each commit that changes a fact raises its number, by which a process that missed the notification finds it", async () => {
    const { one } = await openBoth();
    const sums: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      await announce(one, "key");
      sums.push((await one.reader.get<{ sum: number }>(sql`SELECT CAST(SUM(g.generation) AS BIGINT) AS sum FROM fact_generations g`))?.sum ?? 0);
    }
    expect(sums).toEqual([1, 2, 3, 4].map((more) => (sums[0] as number) - 1 + more));
  });

  test("a process that got no processor time for a second ignores its older cache, whichever event comes first", async () => {
    const { two } = await openBoth();
    const heard = listen(two);
    // While this call sleeps, the event loop handles no timers and no sockets.
    Bun.sleepSync(LIMIT_MS + 100);
    two.confirm();
    two.confirm();
    expect(heard).toEqual(["everything"]);
  });

  test("a commit that changes several facts names each of them, in order", async () => {
    const { one, two } = await openBoth();
    const heard = listen(two);
    await one.write(async (tx) => {
      for (const [kind, key] of [["token", "1"] as const, ["role", "2"] as const, ["token", "3"] as const]) tx.invalidate(kind, key);
    });
    await announce(one, "4");
    expect(await becomesTrue(() => heard.includes("token 4"), WAIT_MS)).toBe(true);
    expect(heard.filter((each) => each !== "everything")).toEqual(["token 1", "role 2", "token 3", "token 4"]);
  });

  test("a refused commit announces nothing, here or elsewhere", async () => {
    const { url, schema, one, two } = await openBoth();
    await execute(url, `ALTER TABLE "${schema}".notes ADD CONSTRAINT once UNIQUE (amount) DEFERRABLE INITIALLY DEFERRED`);
    const heard = [listen(one), listen(two)];
    const acted: string[] = [];
    const insert = (id: number, amount: number) => sql`INSERT INTO notes (id, list, amount) VALUES (${id}, ${"a"}, ${amount})`;
    await one.write((tx) => tx.runOne(insert(1, 1)));
    // In the first transaction, COMMIT itself is refused; in the second, a statement fails, and COMMIT reports the failure.
    for (const refused of [insert(2, 1), insert(1, 2)]) {
      const response = one.write(async (tx) => {
        tx.invalidate("token", "refused");
        tx.afterCommit(() => acted.push("refused"));
        await tx.runOne(refused);
      });
      await expect(response).rejects.toThrow("duplicate key");
    }
    await announce(one, "after");
    const names = () => heard.map((each) => [...new Set(each.filter((name) => name !== "everything"))]);
    expect(await becomesTrue(() => heard.every((each) => each.includes("token after")), WAIT_MS)).toBe(true);
    expect({ names: names(), acted }).toEqual({ names: [["token after"], ["token after"]], acted: [] });
  });

  test("a gap in the numbers of a slot means that something was lost; all others are received by name, even a late one", async () => {
    const { url, schema, two } = await openBoth();
    const heard = listen(two);
    for (const generation of [1, 2, 4, 5, 3, 6]) {
      const payload = `1000 ${generation} ${JSON.stringify([["token", String(generation)]])}`;
      await execute(url, "SELECT pg_notify($1, $2)", [schema, payload]);
    }
    expect(await becomesTrue(() => heard.includes("token 6"), WAIT_MS)).toBe(true);
    expect(heard.filter((each) => each !== "everything")).toEqual(["token 1", "token 2", "token 5", "token 3", "token 6"]);
    expect(heard.slice(heard.indexOf("token 2"), heard.indexOf("token 5"))).toContain("everything");
  });

  test("many writers at once: nothing is lost, and everything is seldom dropped", async () => {
    const { one, two, open } = await openBoth();
    const three = await open();
    const heard = listen(three);
    const keys = Array.from({ length: 100 }, (_, index) => String(index));
    await Promise.all(keys.map((key, index) => announce(index % 2 === 0 ? one : two, key)));
    const isHeard = (key: string) => heard.includes(`token ${key}`);
    expect(await becomesTrue(() => keys.every(isHeard), WAIT_MS)).toBe(true);
    expect(heard.filter((each) => each === "everything").length).toBeLessThan(keys.length / 5);
  });

  test("more facts than fit into a notification are announced as everything", async () => {
    const { one, two } = await openBoth();
    const heard = listen(two);
    await one.write(async (tx) => {
      for (let i = 0; i < 100; i++) tx.invalidate("token", `${i}`.repeat(100));
    });
    expect(await becomesTrue(() => heard.includes("everything"), WAIT_MS)).toBe(true);
  });

  test("the next poll makes up for a lost notification, and names are received after it", async () => {
    const { url, schema, one, two } = await openBoth();
    await announce(one, "before");
    const heard = listen(two);
    // For this change, no notification is sent.
    await execute(url, `INSERT INTO "${schema}".fact_generations (slot, generation) VALUES (1000, 1)`);
    expect(await becomesTrue(() => heard.includes("everything"), WAIT_MS)).toBe(true);
    const isHeardByName = async () => {
      heard.length = 0;
      await announce(one, "after");
      return (await becomesTrue(() => heard.includes("token after"), WAIT_MS)) && !heard.includes("everything");
    };
    expect(await becomesTrue(isHeardByName, WAIT_MS)).toBe(true);
  });

  test("a gap in the numbers of a slot means that everything may have changed; afterwards, and for late ones, names count again", async () => {
    const { url, schema, one, two } = await openBoth();
    const heard = listen(two);
    const notify = (payload: string) => execute(url, "SELECT pg_notify($1, $2)", [schema, payload]);
    await notify('900 1 [["token","a"],["page","b"]]');
    await notify('900 3 [["token","c"]]');
    await notify('900 2 [["token","late"]]');
    await notify('900 4 [["token","d"]]');
    expect(await becomesTrue(() => heard.includes("token d"), WAIT_MS)).toBe(true);
    expect(heard.filter((each) => each !== "everything")).toEqual(["token a", "page b", "token late", "token d"]);
    expect(heard.slice(heard.indexOf("page b"), heard.indexOf("token late"))).toContain("everything");
    heard.length = 0;
    const undone = one.write(async (tx) => {
      tx.invalidate("token", "undone");
      throw new Error("refused");
    });
    await expect(undone).rejects.toThrow("refused");
    await one.write(async (tx) => {
      tx.invalidate("token", "e");
      tx.invalidate("page", "f");
    });
    expect(await becomesTrue(() => heard.includes("page f"), WAIT_MS)).toBe(true);
    // The poll may again have been faster than the notification.
    expect(heard.filter((each) => each !== "everything")).toEqual(["token e", "page f"]);
  });

  test("while the listening connection is gone everything counts as changed; then names are received again, under the same number", async () => {
    const { url, one: first, two, open } = await openBoth();
    const one = await open();
    const number = two.processNumber;
    // A lower process number is free now, but the process must keep its own.
    await first.close();
    const cache = new FactCache<string>(two, "token");
    await cache.get("kept", async () => "old");
    const heard = listen(two);
    await execute(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plaza' AND pid <> pg_backend_pid()");
    expect(await becomesTrue(() => heard.includes("everything"), WAIT_MS)).toBe(true);
    expect(cache.peek("kept")).toBeUndefined();
    const isHeardAgain = async () => {
      await announce(one, "again");
      return heard.includes("token again");
    };
    expect(await becomesTrue(isHeardAgain, WAIT_MS)).toBe(true);
    expect(two.processNumber).toBe(number);
    expect(one.processNumber).not.toBe(number);
  });

  test("a cache in another process is right soon after every change", async () => {
    const { one, two } = await openBoth();
    const cache = new FactCache<number>(two, "token");
    const stored = sql`SELECT amount FROM notes WHERE id = ${1}`;
    const read = () => cache.get("1", async () => (await two.reader.get<{ amount: number }>(stored))?.amount);
    await one.write((tx) => tx.run(sql`INSERT INTO notes (id, list, amount) VALUES (${1}, ${"a"}, ${0})`));
    for (let amount = 1; amount <= 10; amount++) {
      await one.write(async (tx) => {
        await tx.run(sql`UPDATE notes SET amount = ${amount} WHERE id = ${1}`);
        tx.invalidate("token", "1");
      });
      expect(await becomesTrue(async () => (await read()) === amount, WAIT_MS)).toBe(true);
    }
  });

  test("each process has its own number, and gives it back at its end", async () => {
    const { one, two, open } = await openBoth();
    expect(one.processNumber).toBe(0);
    expect(two.processNumber).toBe(1);
    await one.close();
    const third = await open();
    const fourth = await open();
    expect(third.processNumber).toBe(0);
    expect(fourth.processNumber).toBe(2);
  });

  test("worlds of one PostgreSQL do not receive each other's changes", async () => {
    const [first, second] = [await openBoth(), await openBoth()];
    const heard = listen(second.one);
    await announce(first.one, "1");
    // This change arrives later on the same connection, so the process would have heard an earlier change first.
    await announce(second.two, "2");
    expect(await becomesTrue(() => heard.includes("token 2"), WAIT_MS)).toBe(true);
    expect(heard).not.toContain("token 1");
    expect(second.one.processNumber).toBe(0);
  });
});
