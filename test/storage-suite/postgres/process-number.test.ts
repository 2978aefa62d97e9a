/** Checks the numbers of server processes, which are the only thing that distinguishes two servers on one database. */
import { afterEach, describe, expect, test } from "bun:test";
import type { Client } from "pg";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import { openPostgres } from "#storage/postgres/open";
import { LEASE_MS, ProcessNumber, USED_MS } from "#storage/postgres/process-number";
import { Server } from "#storage/postgres/server";
import { sql } from "#storage/sql";
import { TimeOrderedIds } from "#system";
import { cleanUp, closedAfterwards, notes } from "../stores.ts";

let databases = 0;

async function newServer(): Promise<{ url: string; schema: string; client: Client }> {
  const { url } = await sharedPostgres();
  const schema = `plaza_numbers_${process.pid}_${++databases}`;
  await (await openPostgres({ url, schema, migrations: [notes] })).close();
  const client = await new Server(url, schema).connect();
  afterThisTest(() => client.end());
  return { url, schema, client };
}

/** Moves the stored times into the past, as if this much time had passed on the database's clock. */
async function pass(client: Client, ms: number): Promise<void> {
  await client.query("BEGIN READ WRITE");
  await client.query("UPDATE process_numbers SET lease_until_ms = lease_until_ms - $1", [ms]);
  await client.query("COMMIT");
}

describe("process numbers", () => {
  afterEach(cleanUp);

  test("a number is free when its lease is over, and not before; its old holder gets another one", async () => {
    const { client } = await newServer();
    const [first, second, third] = [new ProcessNumber(), new ProcessNumber(), new ProcessNumber()];
    await first.renew(client);
    // The clock is now 50 s after the renewal of the lease, so ten seconds of the minute are left.
    await pass(client, 50_000);
    await second.renew(client);
    expect([first.value, second.value]).toEqual([0, 1]);
    await pass(client, 20_000);
    await third.renew(client);
    expect(third.value).toBe(0);
    await first.renew(client);
    expect(first.value).toBe(2);
    await second.renew(client);
    expect(second.value).toBe(1);
  });

  test("a number that could not be renewed is used for at most a third of its lease, by a clock that never jumps", async () => {
    const { client } = await newServer();
    let nowMs = 5_000;
    const number = new ProcessNumber(undefined, () => nowMs);
    expect(() => number.value).toThrow("temporarily unavailable");
    await number.renew(client);
    nowMs += 20_000;
    expect(number.value).toBe(0);
    expect(number.isDue).toBe(true);
    nowMs += 1;
    expect(() => number.value).toThrow("temporarily unavailable");
    await number.renew(client);
    expect(number.value).toBe(0);
    expect(USED_MS * 3).toBeLessThanOrEqual(LEASE_MS);
  });

  test("a number that was given back is free at once, and is not used any more", async () => {
    const { client } = await newServer();
    const [first, second] = [new ProcessNumber(), new ProcessNumber()];
    await first.renew(client);
    await first.release(client);
    await second.renew(client);
    expect(second.value).toBe(0);
    expect(() => first.value).toThrow("temporarily unavailable");
  });

  test("processes that start at once have different numbers, and one too many is refused", async () => {
    const { url, schema, client } = await newServer();
    const clients = await Promise.all(Array.from({ length: 8 }, () => new Server(url, schema).connect()));
    const numbers = clients.map(() => new ProcessNumber());
    await Promise.all(numbers.map((number, at) => number.renew(clients[at] as Client)));
    expect(numbers.map(({ value }) => value).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await Promise.all(clients.map((each) => each.end()));
    await client.query("BEGIN READ WRITE");
    await client.query(
      "INSERT INTO process_numbers (number, holder, lease_until_ms) SELECT n, 'other', 9000000000000000 FROM generate_series(8, 1023) AS n",
    );
    await client.query("COMMIT");
    await expect(new ProcessNumber().renew(client)).rejects.toThrow("1024 processes");
  });

  test("two servers without advisory locks create distinct ids and lose nothing", async () => {
    const url = await (await sharedPostgres()).newDatabase();
    const open = async () => closedAfterwards(await openPostgres({ url, schema: "plaza", migrations: [notes] }));
    const stubbing = await new Server(url, "public").connect();
    await stubbing.query("SET default_transaction_read_only = off; SET allow_system_table_mods = on");
    const { rows } = await stubbing.query<{ name: string; arguments: string; result: string }>(
      `SELECT proname AS name, CAST(pg_get_function_identity_arguments(oid) AS TEXT) AS arguments, CAST(pg_get_function_result(oid) AS TEXT) AS result
       FROM pg_proc WHERE proname LIKE '%advisory%lock%'`,
    );
    expect(rows.length).toBeGreaterThan(10);
    for (const { name, arguments: given, result } of rows) {
      const body = result === "void" ? "SELECT" : "SELECT true";
      await stubbing.query(`CREATE OR REPLACE FUNCTION pg_catalog.${name}(${given}) RETURNS ${result} LANGUAGE sql AS '${body}'`);
    }
    await stubbing.end();
    const servers = [await open(), await open()];
    const minters = servers.map((server) => new TimeOrderedIds(() => server.processNumber));
    const ids = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        (servers[at % 2] as (typeof servers)[0]).write(async (tx) => {
          await tx.lock("notes", "a");
          const { highest } = (await tx.get<{ highest: number }>(sql`SELECT COALESCE(MAX(n.amount), 0) AS highest FROM notes n`)) ?? { highest: -1 };
          const id = minters[at % 2]?.mint() ?? "";
          await tx.runOne(sql`INSERT INTO notes (id, list, amount) VALUES (${id}, ${"a"}, ${highest + 1})`);
          return id;
        }),
      ),
    );
    expect(new Set(ids).size).toBe(200);
    const counted = sql`SELECT COUNT(*) AS count, MAX(n.amount) AS highest FROM notes n`;
    expect(await servers[0]?.reader.get(counted)).toEqual({ count: 200, highest: 200 });
  }, 60_000);
});
