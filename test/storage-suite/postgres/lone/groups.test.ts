/**
 * Checks the exact statements of a group of transaction functions, and the result of each function. The tests with a real PostgreSQL server are in
 * the parent folder.
 */
import { expect, test } from "bun:test";
import { type Completion, LoneServer, type LoneSession } from "#harness/postgres/lone-server";
import { nextTurn } from "#kernel/turns";
import type { Transaction } from "#storage/database";
import { Groups, Undone } from "#storage/postgres/groups";
import { Pool } from "#storage/postgres/pool";
import { sql } from "#storage/sql";

const insert = (id: number) => sql`INSERT INTO notes (id) VALUES (${id})`;
const change = sql`UPDATE notes SET amount = 1`;

/** A short transcript of one session. Each line of the transcript has the statements that are sent together. */
const SHORT: readonly (readonly [start: RegExp, word: string])[] = [
  [/^BEGIN/, "begin"],
  [/^\s*SELECT l\.slot/, "lock"],
  [/^\s*WITH counted/, "announce"],
  [/^INSERT/, "insert"],
  [/^UPDATE/, "change"],
  [/^SAVEPOINT/, "savepoint"],
  [/^ROLLBACK TO/, "back"],
];
const short = (text: string): string => SHORT.find(([start]) => start.test(text))?.[1] ?? text.toLowerCase();
const transcript = ({ sent }: LoneSession): string[] => sent.map((each) => (typeof each === "string" ? short(each) : each.map(short).join(" ")));

const usual = (text: string): Completion => (/^(COMMIT|BEGIN|SAVEPOINT)/.test(text) ? text.split(" ", 1).join() : "UPDATE 1");

function newGroups(size = 2) {
  const server = new LoneServer();
  const responses = { of: usual };
  server.beginning = (session) => {
    session.completionOf = (text) => responses.of(text);
  };
  const pool = new Pool(server.asServer, { connections: size });
  const emitted: string[] = [];
  const groups = new Groups(pool, "own", (kind, key) => emitted.push(`${kind} ${key}`));
  const run = (body: (tx: Transaction) => Promise<unknown>, isAlone = false) =>
    groups.run(body, isAlone).then(
      (value) => value,
      (error) => error,
    );
  const locked = (body: (tx: Transaction) => Promise<unknown>, isAlone = false, name = "a") =>
    run(async (tx) => {
      await tx.lock("notes", name);
      return body(tx);
    }, isAlone);
  return { server, responses, pool, emitted, run, locked };
}

test("one body is one transaction, with nothing before or after it; one that throws is rolled back, without a commit", async () => {
  const { server, run } = newGroups(1);
  const kept = await run(async (tx) => {
    await tx.runOne(insert(1));
    return "kept";
  });
  const refused = new Error("refused");
  expect(kept).toBe("kept");
  const second = await run(async (tx) => {
    await tx.run(insert(2));
    throw refused;
  });
  expect(second).toBe(refused);
  expect(server.sessions).toHaveLength(1);
  expect(transcript(server.sessions[0] as LoneSession)).toEqual(["begin insert", "commit", "begin insert", "rollback"].flat());
});

test("a body that throws before its first statement, and no other, needs no connection", async () => {
  const { server, run } = newGroups();
  const refused = new Error("refused");
  expect(
    await run(async () => {
      throw refused;
    }),
  ).toBe(refused);
  expect(server.asked).toEqual([]);
  // For a transaction function without statements, PostgreSQL still commits before the function's result is returned.
  expect(await run(async () => "nothing")).toBe("nothing");
  expect(server.sessions.map(transcript)).toEqual([["begin commit"]]);
});

test("bodies with one name follow one another behind savepoints, and have one commit; the name is locked again if the first was undone", async () => {
  const { server, locked } = newGroups();
  const body = (id: number, isRefused = false) =>
    locked(async (tx) => {
      await tx.run(insert(id));
      if (isRefused) throw new Error(`refused ${id}`);
      return id;
    });
  const outcomes = await Promise.all([body(1, true), body(2), body(3, true), body(4)]);
  expect(outcomes.map(String)).toEqual(["Error: refused 1", "2", "Error: refused 3", "4"]);
  expect(server.sessions.map(transcript)).toEqual([
    ["begin lock insert", "rollback", "begin lock insert", "savepoint insert", "back", "savepoint insert", "commit"],
  ]);
});

test("bodies run in the order of their arrival, sixty in a transaction, and the next one begins another", async () => {
  const { server, locked } = newGroups(8);
  const order: number[] = [];
  const all = Array.from({ length: 61 }, (_, id) =>
    locked(async (tx) => {
      order.push(id);
      await tx.run(insert(id));
    }),
  );
  await Promise.all(all);
  // The second transaction does not have to wait for the first.
  expect(order.filter((id) => id < 60)).toEqual(Array.from({ length: 60 }, (_, id) => id));
  const inserts = server.sessions.map(
    (session) =>
      transcript(session)
        .join(" ")
        .split(" ")
        .filter((word) => word === "insert").length,
  );
  expect(inserts).toEqual([60, 1]);
});

test("a body that arrives after the last one has ended and before PostgreSQL has responded is stored with it", async () => {
  const { server, locked } = newGroups(8);
  const end = Promise.withResolvers<void>();
  const first = locked(async (tx) => {
    await tx.runOne(change);
    end.resolve();
  });
  await end.promise;
  for (let microtask = 0; microtask < 50; microtask++) await undefined;
  const second = locked((tx) => tx.runOne(insert(1)));
  await Promise.all([first, second]);
  expect(server.sessions.map(transcript).map((lines) => lines.join(" "))).toEqual(["begin lock change savepoint insert commit"]);
});

test("other names, and a body that must be alone, have their own transactions", async () => {
  const { server, locked } = newGroups(8);
  const body = (tx: Transaction) => tx.runOne(insert(1));
  await Promise.all([locked(body), locked(body, false, "b"), locked(body, true), locked(body, true), locked(body)]);
  expect(server.sessions).toHaveLength(4);
  expect(
    server.sessions.map(
      (session) =>
        transcript(session)
          .join(" ")
          .split(" ")
          .filter((word) => word === "commit").length,
    ),
  ).toEqual([1, 1, 1, 1]);
});

test("facts are announced before the commit, if there are any, and reported here after it; actions run after the commit in order", async () => {
  const { server, locked, emitted, responses } = newGroups(1);
  const seen: string[] = [];
  const body = (name: string) =>
    locked(async (tx) => {
      tx.invalidate("note", name);
      tx.afterCommit(() => seen.push(`${name} after ${emitted.length}`));
      await tx.runOne(insert(1));
    });
  await Promise.all([body("a"), body("b")]);
  expect(transcript(server.sessions[0] as LoneSession).at(-1)).toBe("announce commit");
  expect({ emitted, seen }).toEqual({ emitted: ["note a", "note b"], seen: ["a after 2", "b after 2"] });
  // The response of PostgreSQL to a commit that it refused.
  responses.of = (text) => (text === "COMMIT" ? "ROLLBACK" : usual(text));
  expect(String(await body("c"))).toContain("rolled back at its commit");
  expect({ emitted: emitted.length, seen: seen.length }).toEqual({ emitted: 2, seen: 2 });
});

test("a missing row undoes the other bodies, too, and so does a dead connection", async () => {
  const { responses, locked, server } = newGroups(1);
  const body = () => locked((tx) => tx.runOne(change));
  responses.of = (text) => (text.startsWith("UPDATE") ? "UPDATE 0" : usual(text));
  const undone = await Promise.all([body(), body()]);
  for (const each of undone) expect(each).toMatchObject({ name: "Error", wasStale: false });
  expect(undone.every((each) => each instanceof Undone)).toBe(true);
  expect(transcript(server.sessions[0] as LoneSession).at(-1)).toBe("rollback");
  responses.of = usual;
  await body();
  const lost = Object.assign(new Error("terminated"), { code: "57P01" });
  responses.of = () => lost;
  // No statement of the group has run, so all its functions run once more, whether there is one or many.
  expect(await body()).toMatchObject({ wasStale: true });
  expect(server.sessions[0]?.hasEnded).toBe(true);
  responses.of = usual;
  expect(await Promise.all([body(), body()])).toEqual([undefined, undefined]);
  expect(server.sessions).toHaveLength(2);
});

test("a connection that is lost at the commit, times out, or was new, gives no second run", async () => {
  const lost = Object.assign(new Error("terminated"), { code: "57P01" });
  const silent = new Error("Query read timeout");
  for (const [at, error] of [
    [/^COMMIT/, lost],
    [/^INSERT/, silent],
  ] as const) {
    const { responses, run, server } = newGroups(1);
    const body = () => run((tx) => tx.run(insert(1)));
    await body();
    responses.of = (text) => (at.test(text) ? error : usual(text));
    expect(await body()).toBe(error);
    expect(server.sessions[0]?.hasEnded).toBe(true);
  }
  const { responses, run } = newGroups(1);
  responses.of = () => lost;
  expect(await run((tx) => tx.run(insert(1)))).toBe(lost);
});

test("if no connection can be had, all that wait for the group are refused, and the next one tries again", async () => {
  const { server, locked } = newGroups();
  const { beginning } = server;
  const gate = Promise.withResolvers<void>();
  server.beginning = () => gate.promise;
  const all = [1, 2, 3].map((id) => locked((tx) => tx.runOne(insert(id))));
  await nextTurn();
  const refused = new Error("refused");
  gate.reject(refused);
  expect(await Promise.all(all)).toEqual([refused, refused, refused]);
  server.beginning = beginning;
  expect(await locked(async () => "served")).toBe("served");
});

test("of many bodies that end together, four get their responses in each turn of the event loop", async () => {
  const { locked } = newGroups();
  let turn = 0;
  const count = (): void => {
    turn++;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  const ends = await Promise.all(Array.from({ length: 12 }, (_, id) => locked((tx) => tx.runOne(insert(id))).then(() => turn)));
  clearImmediate(immediate);
  const perTurn = [...new Set(ends)].map((each) => ends.filter((end) => end === each).length);
  expect(perTurn).toEqual([4, 4, 4]);
});

test("a body that swallows the failure of a statement is undone alone, and the others run once", async () => {
  const { server, responses, locked } = newGroups(1);
  const failure = Object.assign(new Error("check violated"), { code: "23514" });
  responses.of = (text) => (text.startsWith("UPDATE") ? failure : usual(text));
  const outcomes = await Promise.all([
    locked(async (tx) => tx.run(insert(1))),
    locked(async (tx) => tx.run(change).catch(() => "content")),
    locked(async (tx) => tx.run(insert(2))),
  ]);
  expect(outcomes).toEqual([1, failure, 1]);
  expect(server.sessions.map(transcript)).toEqual([["begin lock insert", "savepoint change", "back", "savepoint insert", "commit"]]);
});

test("a body that swallows the failure of a statement fails with it, and the connection is given back", async () => {
  const { responses, run, server } = newGroups(1);
  const failure = Object.assign(new Error("check violated"), { code: "23514" });
  responses.of = (text) => (text.startsWith("INSERT") ? failure : usual(text));
  expect(
    await run(async (tx) => {
      await tx.run(insert(1)).catch(() => {});
      return "content";
    }),
  ).toBe(failure);
  responses.of = usual;
  expect(await run(async (tx) => tx.run(insert(1)))).toBe(1);
  expect(server.sessions).toHaveLength(1);
});
