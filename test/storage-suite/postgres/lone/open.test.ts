/**
 * Checks how often a write, a read and a snapshot are repeated after a lost connection or a conflict with another transaction, and which work the
 * closing database waits for.
 */
import { expect, test } from "bun:test";
import { type Completion, LoneServer, type LoneSession } from "#harness/postgres/lone-server";
import { nextTurn } from "#kernel/turns";
import type { Transaction } from "#storage/database";
import { DatabaseHealth } from "#storage/database-health";
import { openPostgres, PostgresDatabase } from "#storage/postgres/open";
import { Pool } from "#storage/postgres/pool";
import { sql } from "#storage/sql";

const insert = sql`INSERT INTO notes (id) VALUES (${1})`;
const change = sql`UPDATE notes SET amount = 1`;
const read = sql`SELECT 1 AS one FROM notes`;
const withCode = (code: string): Error => Object.assign(new Error(`failed with ${code}`), { code });
const deadlock = withCode("40P01");
const lost = withCode("57P01");
const unreachable = { errorName: "databaseUnreachable" };

const usual = (text: string): Completion =>
  /^(COMMIT|BEGIN|SAVEPOINT)/.test(text) ? text.split(" ", 1).join() : text.startsWith("SELECT") ? "SELECT 1" : "UPDATE 1";

function newDatabase(size = 8) {
  const server = new LoneServer();
  const responses = { of: usual, text: async (_text: string): Promise<[]> => [] };
  server.beginning = (session) => {
    session.completionOf = (text) => responses.of(text);
    session.respond = (text) => responses.text(text);
  };
  const ends: string[] = [];
  const pool = new Pool(server.asServer, { connections: size });
  const database = new PostgresDatabase({
    schema: "own",
    pool,
    migrations: [],
    health: new DatabaseHealth(),
    end: async () => void ends.push("end"),
  });
  /** The number of times that a transaction function runs if each run has this failure. */
  const runsWith = async (completion: Completion, run = (body: (tx: Transaction) => Promise<unknown>): Promise<unknown> => database.write(body)) => {
    let runs = 0;
    responses.of = (text) => (text.startsWith("INSERT") ? completion : usual(text));
    const error = await run(async (tx) => {
      runs++;
      await tx.run(insert);
    }).catch((thrown: unknown) => thrown);
    responses.of = usual;
    return { runs, error };
  };
  return { server, responses, database, ends, runsWith };
}

const textsOf = (session: LoneSession): string[] => session.sent.flat();

test("a write that PostgreSQL rolls back because of others is tried five times; one that is refused, or whose new connection breaks, once", async () => {
  for (const [completion, runs] of [
    [deadlock, 5],
    [withCode("40001"), 5],
    [withCode("23505"), 1],
    [lost, 1],
    [withCode("53100"), 1],
  ] as const) {
    const { runsWith } = newDatabase();
    const outcome = await runsWith(completion);
    expect([completion.message, outcome.runs]).toEqual([completion.message, runs]);
    const isOutage = completion === lost || completion.message.endsWith("53100");
    if (isOutage) expect(outcome.error).toMatchObject(unreachable);
    else expect(outcome.error).toBe(completion);
  }
});

test("a write on a connection that died since its last use runs on a new one, any number of times; one that hangs does not", async () => {
  const { database, server, responses } = newDatabase();
  await Promise.all(Array.from({ length: 7 }, () => database.reader.all(read)));
  expect(server.sessions).toHaveLength(7);
  const isDead = new Set(server.sessions);
  for (const session of isDead) session.completionOf = () => lost;
  let runs = 0;
  await database.write(async (tx) => {
    runs++;
    await tx.run(insert);
  });
  // Attempts on connections that have died do not count as attempts of the write.
  expect({ runs, sessions: server.sessions.length }).toEqual({ runs: 8, sessions: 8 });
  responses.of = (text) => (text.startsWith("INSERT") ? new Error("Query read timeout") : usual(text));
  runs = 0;
  const hanging = database.write(async (tx) => {
    runs++;
    await tx.run(insert);
  });
  await expect(hanging).rejects.toMatchObject(unreachable);
  expect(runs).toBe(1);
});

test("bodies that were undone together run again, each alone", async () => {
  const { database, server, responses } = newDatabase();
  let changed = 0;
  // Both transaction functions fail the first time.
  responses.of = (text) => (text.startsWith("UPDATE") && changed++ < 2 ? "UPDATE 0" : usual(text));
  const body = (tx: Transaction): Promise<void> => tx.lock("notes", "a").then(() => tx.runOne(change));
  await Promise.all([database.write(body), database.write(body)]);
  const commits = () => server.sessions.flatMap(textsOf).filter((text) => text === "COMMIT").length;
  expect(commits()).toBe(2);
  // Each time, one of two transaction functions has a conflict. The function without a conflict is not undone with the other one again and again.
  let refusals = 0;
  responses.of = (text) => (text.startsWith("INSERT") && refusals++ < 3 ? deadlock : usual(text));
  const both = [database.write(body), database.write((tx) => tx.lock("notes", "a").then(() => tx.run(insert)))];
  expect(await Promise.all(both)).toEqual([undefined, 1]);
  expect(commits()).toBe(4);
});

test("a read whose connection died is repeated, a snapshot only before its body has begun, and a hanging one never", async () => {
  const { database, server, responses } = newDatabase(1);
  const breakAll = (): void => {
    for (const session of server.sessions) session.completionOf = () => lost;
  };
  await database.reader.all(read);
  breakAll();
  expect(await database.reader.get(read)).toEqual({});
  expect(server.sessions).toHaveLength(2);
  breakAll();
  expect(await database.snapshot((reader) => reader.get(read))).toEqual({});
  expect(textsOf(server.sessions.at(-1) as LoneSession)).toEqual([
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SELECT 1 AS one",
    "SELECT 1 AS one FROM notes",
    "ROLLBACK",
  ]);
  let bodies = 0;
  const broken = database.snapshot(async (reader) => {
    bodies++;
    breakAll();
    await reader.all(read);
  });
  await expect(broken).rejects.toMatchObject(unreachable);
  expect(bodies).toBe(1);
  await database.reader.all(read);
  const sessions = server.sessions.length;
  for (const session of server.sessions) session.completionOf = () => new Error("Query read timeout");
  await expect(database.reader.all(read)).rejects.toMatchObject(unreachable);
  expect(server.sessions).toHaveLength(sessions);
  // If PostgreSQL refuses a statement, the database does not try another connection.
  responses.of = () => withCode("42703");
  await expect(database.reader.all(read)).rejects.toThrow("42703");
  await expect(database.reader.all(read)).rejects.toThrow("42703");
  expect(server.sessions).toHaveLength(sessions + 1);
});

test("a stale plan is replaced on another connection", async () => {
  const { database, server } = newDatabase(1);
  const stale = Object.assign(new Error("cached plan must not change result type"), { code: "0A000" });
  await database.reader.all(read);
  (server.sessions[0] as LoneSession).completionOf = () => stale;
  expect(await database.reader.get(read)).toEqual({});
  expect(server.sessions).toHaveLength(2);
});

test("an operation on all tables is tried five times if others are in its way, each time in its own transaction", async () => {
  const { database, server, responses } = newDatabase(1);
  const texts = (): string[] => textsOf(server.sessions[0] as LoneSession).map((text) => text.split(" ", 1).join());
  responses.text = async (text) => {
    if (text.startsWith("DELETE")) throw deadlock;
    return [];
  };
  await expect(database.saveState("one")).rejects.toBe(deadlock);
  expect(texts()).toEqual(Array.from({ length: 5 }, () => ["BEGIN", "SELECT", "DELETE", "ROLLBACK"]).flat());
  (server.sessions[0] as LoneSession).sent.length = 0;
  responses.text = async (text) => {
    if (text.startsWith("DELETE")) throw withCode("42501");
    return [];
  };
  await expect(database.saveState("one")).rejects.toThrow("42501");
  expect(texts()).toEqual(["BEGIN", "SELECT", "DELETE", "ROLLBACK"]);
  (server.sessions[0] as LoneSession).sent.length = 0;
  responses.text = async () => [];
  await database.saveState("one");
  expect(texts()).toEqual(["BEGIN", "SELECT", "DELETE", "COMMIT"]);
});

test("the end waits for running work, accepts nothing more, and happens once", async () => {
  const { database, responses, ends, server } = newDatabase();
  server.beginning = () => {};
  const running = [database.reader.all(read), database.reader.all(read)];
  await nextTurn();
  const closing = [database.close(), database.close()];
  await expect(database.reader.all(read)).rejects.toThrow("the database is closed");
  await expect(database.write(async () => {})).rejects.toThrow("the database is closed");
  for (const session of server.sessions) {
    expect(ends).toEqual([]);
    session.complete(responses.of);
    await nextTurn();
  }
  await Promise.all([...running, ...closing]);
  expect(ends).toEqual(["end"]);
});

test("a listener learns of changes of this process or another until it is removed", async () => {
  const { database } = newDatabase();
  const heard: string[] = [];
  const letGo = database.onInvalidate((kind, key) => heard.push(`${kind} ${key}`));
  database.emit("note", "1");
  await database.write(async (tx) => tx.invalidate("note", "2"));
  letGo();
  database.emit("note", "3");
  expect(heard).toEqual(["note 1", "note 2"]);
});

test("an invalid schema name is refused before the database is asked", async () => {
  for (const schema of ["", "1a", "a b", 'a"b', "é", "x".repeat(64)])
    await expect(openPostgres({ url: "postgres://127.0.0.1:1/none", schema, migrations: [] })).rejects.toThrow("not a schema name");
});
