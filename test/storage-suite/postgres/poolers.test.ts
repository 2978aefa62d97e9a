/** Checks PostgreSQL behind pgbouncer. */
import { afterEach, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import { freePort } from "#harness/processes/free-port";
import { needs } from "#harness/processes/needs";
import { openPostgres } from "#storage/postgres/open";
import { WrongAddress } from "#storage/postgres/server";
import { sql } from "#storage/sql";
import { cleanUp, closedAfterwards, notes } from "../stores.ts";

needs("pgbouncer");

const START_MS_MAX = 20_000;

/** The address of the same database behind a pgbouncer that only this test uses and that drops start-up options. */
async function behindPgbouncer(url: string, poolMode: "session" | "transaction"): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const folder = mkdtempSync(join(tmpdir(), "plaza-pgbouncer-"));
  chmodSync(folder, 0o777);
  afterThisTest(() => rmSync(folder, { recursive: true, force: true }));
  const own = freePort();
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: own,
    auth_type: "any",
    pool_mode: poolMode,
    ignore_startup_parameters: "options",
    unix_socket_dir: "",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const database = `${pathname.slice(1)} = host=${hostname} port=${port} user=postgres`;
  writeFileSync(join(folder, "pgbouncer.ini"), ["[databases]", database, "[pgbouncer]", ...lines, ""].join("\n"), { mode: 0o644 });
  // pgbouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ["-u", "postgres"] : [];
  const child = spawn("pgbouncer", [...user, join(folder, "pgbouncer.ini")], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const address = `postgres://postgres@127.0.0.1:${own}${pathname}`;
  await isServing(address);
  return address;
}

async function isServing(connectionString: string): Promise<void> {
  const end = performance.now() + START_MS_MAX;
  for (;;) {
    const client = new Client({ connectionString });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await Bun.sleep(20);
    }
  }
}

describe("PostgreSQL behind pgbouncer", () => {
  afterEach(cleanUp);

  test("pool_mode session: tables are in the world's schema, writes and reads work as without it, and changes are received", async () => {
    const direct = await (await sharedPostgres()).newDatabase();
    const pooled = await behindPgbouncer(direct, "session");
    const open = async (url: string) => closedAfterwards(await openPostgres({ url, schema: "plaza", migrations: [notes] }));
    const [one, two] = [await open(pooled), await open(direct)];
    const heard: string[] = [];
    two.onInvalidate((kind, key) => heard.push(`${kind} ${key}`));
    await Promise.all(
      Array.from({ length: 20 }, (_, id) =>
        one.write(async (tx) => {
          await tx.lock("notes", "a");
          await tx.runOne(sql`INSERT INTO notes (id, list) VALUES (${id}, ${"a"})`);
          tx.invalidate("note", String(id));
        }),
      ),
    );
    expect(await two.reader.get(sql`SELECT COUNT(*) AS count FROM plaza.notes`)).toEqual({ count: 20 });
    while (!heard.includes("note 19") && !heard.includes("undefined undefined")) await Bun.sleep(5);
    expect(one.processNumber).not.toBe(two.processNumber);
    const tables = sql`SELECT COUNT(*) AS count FROM pg_tables WHERE schemaname = 'public'`;
    expect(await two.reader.get(tables)).toEqual({ count: 0 });
  }, 60_000);

  test("pool_mode transaction is refused, before anything is stored", async () => {
    const direct = await (await sharedPostgres()).newDatabase();
    const pooled = await behindPgbouncer(direct, "transaction");
    const refused = await openPostgres({ url: pooled, schema: "plaza", migrations: [notes] }).catch((error) => error);
    expect(refused).toBeInstanceOf(WrongAddress);
    expect(refused.message).toContain("pool_mode = session");
    const client = new Client({ connectionString: direct });
    await client.connect();
    const { rows } = await client.query("SELECT nspname FROM pg_namespace WHERE nspname = 'plaza'").finally(() => client.end());
    expect(rows).toEqual([]);
  }, 60_000);
});
