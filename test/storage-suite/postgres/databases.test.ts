/** Checks the worlds of one server on PostgreSQL: each world has a schema, and all worlds but the first share connections. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import { GraphError } from "#kernel/errors";
import type { Database } from "#storage/database";
import { PostgresDatabases } from "#storage/postgres/databases";
import { sql } from "#storage/sql";

const migrations = [{ feature: "notes", migrations: [{ name: "notes", statements: ["CREATE TABLE notes (id BIGINT NOT NULL PRIMARY KEY)"] }] }];
const insert = (id: number) => sql`INSERT INTO notes (id) VALUES (${id})`;
const all = sql`SELECT n.id FROM notes n ORDER BY n.id`;

async function begin() {
  const url = await (await sharedPostgres()).newDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  afterThisTest(() => client.end());
  const newServer = async () => {
    const databases = new PostgresDatabases(url, migrations);
    const opened: Database[] = [];
    // The first world must be closed after all other worlds.
    afterThisTest(async () => {
      for (const database of opened.toReversed()) await database.close();
    });
    const open = async (world: string): Promise<Database> => {
      const database = await databases.open(world);
      opened.push(database);
      return database;
    };
    return { databases, open };
  };
  const names = async (text: string): Promise<string[]> => (await client.query<{ name: string }>(text)).rows.map(({ name }) => name);
  return {
    ...{ client, newServer },
    schemas: () => names("SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'plaza%' ORDER BY nspname"),
    /** The database connections of all servers. */
    connections: async () =>
      (await names("SELECT pid::text AS name FROM pg_stat_activity WHERE application_name = 'plaza' AND datname = current_database()")).length,
  };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(5);
}

test("each world has its own schema and rows, and all further ones together have no more connections than one", async () => {
  const { newServer, schemas, connections } = await begin();
  const { open } = await newServer();
  const first = await open("default");
  const further = await Promise.all(Array.from({ length: 4 }, (_, at) => open(`w${at}`)));
  expect(await schemas()).toEqual(["plaza_default", "plaza_w0", "plaza_w1", "plaza_w2", "plaza_w3"]);
  for (const [id, database] of [first, ...further].entries()) await database.write((tx) => tx.run(insert(id)));
  for (const [id, database] of [first, ...further].entries()) expect(await database.reader.all(all)).toEqual([{ id }]);
  await Promise.all([first, first, ...further].flatMap((database) => Array.from({ length: 8 }, () => database.reader.all(all))));
  // Eight connections of the first world's pool, eight for all other worlds, and the one of the channel for notices.
  await until(async () => (await connections()) === 17);
  // A process has the same number in every world.
  expect(further.map(({ processNumber }) => processNumber)).toEqual(new Array(4).fill(first.processNumber));
});

test("a further world learns of another process's changes in it, until it is idle, and of no other world's", async () => {
  const { newServer } = await begin();
  const [one, two] = [await newServer(), await newServer()];
  await one.open("default");
  const changing = [await one.open("a"), await one.open("b")] as const;
  const first = await two.open("default");
  const hearing = await two.open("a");
  expect(hearing.processNumber).toBe(first.processNumber);
  expect(changing[0].processNumber).not.toBe(hearing.processNumber);
  const heard: string[] = [];
  hearing.onInvalidate((kind, key) => heard.push(`${kind} ${key}`));
  const change = (database: Database, key: string) => database.write(async (tx) => tx.invalidate("note", key));
  await change(changing[1], "of b");
  await change(changing[0], "of a");
  await until(() => heard.includes("note of a"));
  expect(heard).not.toContain("note of b");
  await hearing.close();
  await expect(hearing.reader.all(all)).rejects.toThrow("the database is closed");
  // The server's other worlds continue to work.
  expect(await first.reader.all(all)).toEqual([]);
});

test("a further world ignores its cache if nothing was confirmed for a second, like the first one", async () => {
  const { newServer } = await begin();
  const { open } = await newServer();
  await open("default");
  const further = await open("a");
  const heard: unknown[] = [];
  further.onInvalidate((kind) => heard.push(kind));
  // While this call sleeps, the event loop handles no timers and no sockets.
  Bun.sleepSync(1_100);
  further.confirm();
  expect(heard).toEqual([undefined]);
});

test("a removed world loses its own schema only; the last connections end with the first world", async () => {
  const { newServer, schemas, connections } = await begin();
  const { databases, open } = await newServer();
  const first = await open("default");
  const [a] = [await open("a"), await open("a-more")];
  await a.close();
  await databases.remove("a");
  await databases.remove("never-made");
  expect(await schemas()).toEqual(["plaza_a-more", "plaza_default"]);
  // A world that is created again under the name of a removed world begins empty.
  expect(await (await open("a")).reader.all(all)).toEqual([]);
  await first.close();
  await until(async () => (await connections()) === 0);
});

test("worlds are removed one after the other, because each removal needs some hundred locks of the few of PostgreSQL", async () => {
  const { client, newServer, schemas } = await begin();
  const { databases, open } = await newServer();
  await open("default");
  for (const world of ["a", "b"]) await (await open(world)).close();
  await client.query("BEGIN; LOCK TABLE plaza_a.notes");
  const begun: string[] = [];
  const { serverOf } = databases;
  databases.serverOf = (world) => {
    begun.push(world);
    return serverOf.call(databases, world);
  };
  const removals = ["a", "b"].map((world) => databases.remove(world));
  const waiting = "SELECT 1 AS one FROM pg_locks WHERE NOT granted AND relation = 'plaza_a.notes'::regclass";
  await until(async () => (await client.query(waiting)).rows.length > 0);
  expect(begun).toEqual(["a"]);
  await client.query("COMMIT");
  await Promise.all(removals);
  expect(await schemas()).toEqual(["plaza_default"]);
});

test("if processes create a world of one name at once, one does, and the others find the name taken until it has ended", async () => {
  const { newServer, connections } = await begin();
  const [one, two] = [await newServer(), await newServer()];
  for (const { open } of [one, two]) await open("default");
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const making = one.databases.making("a", () => {
    begun.resolve();
    return ended;
  });
  await begun.promise;
  expect(await two.databases.making("a", async () => "made")).toBeUndefined();
  expect(await one.databases.making("a", async () => "made")).toBeUndefined();
  expect(await two.databases.making("b", async () => "made")).toBe("made");
  const before = await connections();
  let runs = 0;
  const make = () => {
    runs++;
    return ended;
  };
  const more = Array.from({ length: 20 }, (_, at) => one.databases.making(`w${at}`, make));
  await until(() => runs === 20);
  expect(await connections()).toBe(before);
  end("first");
  expect(await Promise.all(more)).toEqual(new Array(20).fill("first"));
  expect(await making).toBe("first");
  await expect(one.databases.making("a", () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  expect(await two.databases.making("a", async () => "made")).toBe("made");
});

test("each of them reports an unreachable database", async () => {
  const away = new PostgresDatabases("postgres://127.0.0.1:1/none", migrations);
  for (const use of [() => away.open("default"), () => away.remove("a"), () => away.making("a", async () => {})]) {
    const error = await use().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(GraphError);
    expect(error).toMatchObject({ errorName: "databaseUnreachable" });
  }
});
