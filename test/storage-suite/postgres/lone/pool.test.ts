/** Checks the connections of a database: which request gets a connection next, how many connections there are, and when a connection ends. */
import { expect, test } from "bun:test";
import { LoneServer, type LoneSession } from "#harness/postgres/lone-server";
import { catchTimers } from "#harness/time/stopped-time";
import { nextTurn } from "#kernel/turns";
import { Pool, type PoolConnection } from "#storage/postgres/pool";
import { sql } from "#storage/sql";

const one = sql`SELECT 1 AS one`;

function newPool(size: number, OwnPool = Pool) {
  const { intervals, timeouts } = catchTimers();
  const server = new LoneServer();
  const pool = new OwnPool(server.asServer, { connections: size });
  const [checks] = intervals as [(typeof intervals)[0]];
  /** The result of a request for a connection: the number of its session, its error, or that it still waits. */
  const ask = (schema = "own") => {
    const asked: { state: string; connection: PoolConnection | undefined } = { state: "waits", connection: undefined };
    pool.acquire(schema).then(
      (connection) => {
        asked.connection = connection;
        const before = server.sessions.map(({ sent }) => sent.length);
        connection.query(one).catch(() => {});
        asked.state = `session ${server.sessions.findIndex(({ sent }, at) => sent.length > (before[at] as number))}`;
        for (const session of server.sessions) session.complete();
      },
      (error: Error) => {
        asked.state = error.message;
      },
    );
    return asked;
  };
  const acquire = async (schema = "own"): Promise<PoolConnection> => {
    const asked = ask(schema);
    await nextTurn();
    return asked.connection as PoolConnection;
  };
  /** The time limits of waiting requests, without the timers that look for locked tables. */
  const waits = () => timeouts.filter(({ ms }) => ms !== 500);
  return { server, pool, checks, waits, ask, acquire };
}

const textsOf = ({ sent }: LoneSession): string[] => sent.map((each) => (typeof each === "string" ? each : each.join("; ")));

test("connections are opened on demand, up to the size; later callers get the next free one, in the order of arrival", async () => {
  const { server, pool, waits, ask } = newPool(2);
  expect(server.asked).toEqual([]);
  const first = [ask(), ask("other")];
  await nextTurn();
  expect(server.asked).toEqual(
    ["own", "other"].map((schema) => ({
      options: { query_timeout: 31_000, pipeline: true, limits: { statementMs: 30_000, lockMs: 5_000 } },
      schema,
    })),
  );
  expect(first.map(({ state }) => state)).toEqual(["session 0", "session 1"]);
  const later = [ask("a"), ask("b"), ask("c")];
  await nextTurn();
  expect(later.map(({ state }) => state)).toEqual(["waits", "waits", "waits"]);
  pool.release(first[1]?.connection as PoolConnection);
  await nextTurn();
  expect(later.map(({ state }) => state)).toEqual(["session 1", "waits", "waits"]);
  pool.release(first[0]?.connection as PoolConnection);
  await nextTurn();
  expect(later.map(({ state }) => state)).toEqual(["session 1", "session 0", "waits"]);
  expect(later.slice(0, 2).map(({ connection }) => connection?.schema)).toEqual(["a", "b"]);
  // A request that has a connection has no time limit any more.
  expect(waits().map(({ isCleared }) => isCleared)).toEqual([true, true, false]);
});

test("a caller who waits in vain is refused, alone, and takes no connection that becomes free afterwards", async () => {
  const { pool, waits, ask, acquire } = newPool(1);
  const used = await acquire();
  const waiting = [ask(), ask(), ask()];
  expect(waits().map(({ ms }) => ms)).toEqual([5_000, 5_000, 5_000]);
  waits()[1]?.fire();
  await nextTurn();
  expect(waiting.map(({ state }) => state)).toEqual(["waits", "none of the 1 connections of this process became free within 5 s", "waits"]);
  for (const at of [0, 2]) {
    pool.release(at === 0 ? used : (waiting[0]?.connection as PoolConnection));
    await nextTurn();
    expect(waiting[at]?.state).toBe("session 0");
  }
});

test("a connection that served the schema last is first, then a new one, then any, which receives the schema before anything else", async () => {
  const { server, pool, acquire } = newPool(3);
  const [a, b, again] = [await acquire("a"), await acquire("b"), await acquire("a")];
  for (const connection of [b, a, again]) pool.release(connection);
  // The pool prefers the connection that was released last, then any other connection of the schema.
  expect(await acquire("a")).toBe(again);
  expect(await acquire("b")).toBe(b);
  pool.release(again);
  pool.release(b);
  expect(await acquire("a")).toBe(again);
  for (const connection of [b, a, again]) expect(connection.wasUsed).toBe(true);
  expect(server.sessions.flatMap(({ sent }) => sent).filter((each) => typeof each === "string")).toEqual([]);
  pool.release(again);
  // The pool is full, so it sets one of its three connections to the new schema.
  const changed = await acquire("c");
  expect(changed.schema).toBe("c");
  expect(server.sessions).toHaveLength(3);
  const session = server.sessions.find(({ sent }) => sent.includes('SET search_path TO "c"')) as LoneSession;
  expect(session.sent.slice(-2)).toEqual(['SET search_path TO "c"', ["SELECT 1 AS one"]]);
});

test("if there is room for a new one, none of another schema changes over", async () => {
  const { server, pool, acquire } = newPool(2);
  pool.release(await acquire("a"));
  const other = await acquire("b");
  expect([other.schema, server.sessions.length, other.wasUsed]).toEqual(["b", 2, false]);
});

test("a connection that cannot receive the schema counts as broken", async () => {
  const { server, pool, acquire } = newPool(1);
  pool.release(await acquire("a"));
  const [session] = server.sessions as [LoneSession];
  session.respond = async () => {
    throw new Error("Connection terminated");
  };
  const connection = await acquire("b");
  expect(connection.isBroken).toBe(true);
});

test("a broken one is ended and makes room, for waiting or later callers, even if it breaks while idle, and none is broken twice", async () => {
  const { server, pool, ask, acquire } = newPool(2);
  const [first, second] = [await acquire(), await acquire()];
  const waiting = ask("other");
  server.sessions[0]?.emit("error", new Error("Connection terminated"));
  expect([first.isBroken, second.isBroken]).toEqual([true, false]);
  // The connection is in use, so it first has to be released.
  expect(server.sessions[0]?.hasEnded).toBe(false);
  pool.release(first);
  await nextTurn();
  expect([server.sessions[0]?.hasEnded, waiting.state, waiting.connection?.schema]).toEqual([true, "session 2", "other"]);
  pool.release(second);
  pool.release(waiting.connection as PoolConnection);
  for (let twice = 0; twice < 2; twice++) server.sessions[1]?.emit("error", new Error("Connection terminated"));
  expect(server.sessions.map(({ hasEnded }) => hasEnded)).toEqual([true, true, false]);
  // Only one connection is still open, so the pool opens one more, but not a third.
  expect(await acquire("other")).toBe(waiting.connection as PoolConnection);
  await acquire();
  expect(server.sessions).toHaveLength(4);
  const late = ask();
  await nextTurn();
  expect(late.state).toBe("waits");
});

test("if no session begins, its caller is refused, and waiting ones too: the place is free for the next one", async () => {
  const { server, pool, ask, acquire } = newPool(1);
  const used = await acquire();
  const waiting = [ask(), ask()];
  server.beginning = async () => {
    throw new Error("refused");
  };
  used.isBroken = true;
  pool.release(used);
  await nextTurn();
  expect(waiting.map(({ state }) => state)).toEqual(["refused", "refused"]);
  server.beginning = () => {};
  const next = ask();
  await nextTurn();
  expect(next.state).toBe("session 1");
});

test("connections that nobody used between two checks are closed, and used ones stay; at the end all idle ones are closed", async () => {
  const { server, pool, checks, acquire } = newPool(2);
  expect({ ms: checks.ms, isUnreffed: checks.isUnreffed }).toEqual({ ms: 60_000, isUnreffed: true });
  const [first, second] = [await acquire("a"), await acquire("b")];
  const ended = () => server.sessions.map(({ hasEnded }) => hasEnded);
  for (const connection of [first, second]) pool.release(connection);
  checks.fire();
  expect(ended()).toEqual([false, false]);
  pool.release(await acquire("a"));
  checks.fire();
  expect(ended()).toEqual([false, true]);
  // The pool does not check a connection that is in use.
  const used = await acquire("a");
  for (let check = 0; check < 3; check++) checks.fire();
  expect(ended()).toEqual([false, true]);
  pool.release(used);
  // A new connection can replace the ended one.
  pool.release(await acquire("b"));
  expect(ended()).toEqual([false, true, false]);
  await pool.end();
  expect(ended()).toEqual([true, true, true]);
  expect(checks.isCleared).toBe(true);
});

test("statements of a transaction are sent together at the end of the turn, those before a read at once with it, and none twice", async () => {
  const { server, acquire } = newPool(1);
  const connection = await acquire();
  const [session] = server.sessions as [LoneSession];
  session.sent.length = 0;
  const counts = (): number[] => session.sent.filter((each) => typeof each !== "string").map(({ length }) => length);
  const sent = [sql`SELECT 2 AS two`, sql`SELECT 3 AS three`].map((statement) => connection.send(statement));
  expect(counts()).toEqual([]);
  await nextTurn();
  expect(counts()).toEqual([2]);
  sent.push(connection.send(one), connection.query(one));
  expect(counts()).toEqual([2, 2]);
  sent.push(connection.send(one));
  const text = connection.execute("ROLLBACK");
  expect(counts()).toEqual([2, 2, 1]);
  await nextTurn();
  expect(counts()).toEqual([2, 2, 1]);
  const [two, three, again] = ["SELECT 2 AS two", "SELECT 3 AS three", "SELECT 1 AS one"];
  expect(textsOf(session)).toEqual([`${two}; ${three}`, `${again}; ${again}`, `${again}`, "ROLLBACK"]);
  // A single statement is sent in the same way as several statements.
  sent.push(connection.send(one));
  await nextTurn();
  expect(counts()).toEqual([2, 2, 1, 1]);
  session.complete(() => "UPDATE 7");
  expect((await Promise.all(sent)).map(({ rowCount }) => rowCount)).toEqual([7, 7, 7, 7, 7, 7]);
  await text;
});

test("a text is prepared under one name, once for each connection; beyond a thousand texts further ones have none", async () => {
  // The names of prepared statements are unique in a process. The test imports a copy of the module, so that other tests and this one do not share
  // statement names.
  const { Pool: PoolOfItsOwn } = (await import(`${Bun.resolveSync("#storage/postgres/pool", import.meta.dir)}?names`)) as { Pool: typeof Pool };
  const { server, acquire } = newPool(2, PoolOfItsOwn);
  const connections = [await acquire("a"), await acquire("b")];
  for (const session of server.sessions) session.prepared.length = 0;
  const statements = Array.from({ length: 1_100 }, (_, n) => ({ query: { text: `SELECT ${n} AS n WHERE 1 = ?` }, values: [n] }));
  for (const connection of connections) {
    for (let round = 0; round < 2; round++) for (const statement of statements) connection.send(statement);
    await nextTurn();
  }
  const [first, second] = server.sessions.map(({ prepared }) => prepared);
  const names = new Set(first?.map(({ name }) => name).filter((name) => name !== ""));
  // The first statement name belongs to the statement that the connections sent first.
  expect(names.size).toBe(999);
  expect(["s1000", "s1001"].map((name) => names.has(name))).toEqual([true, false]);
  const unnamed = first?.filter(({ name }) => name === "") ?? [];
  expect(unnamed.length).toBe(2 * (statements.length - names.size));
  expect(first?.[0]?.text).toBe("SELECT 0 AS n WHERE 1 = $1");
  expect(second?.map(({ name }) => name)).toEqual(first?.map(({ name }) => name) ?? []);
});
