/** Checks which statements a transaction function waits for, and when the failure of a statement that nobody awaited is reported. */
import { expect, test } from "bun:test";
import { type Completion, LoneServer, type LoneSession } from "#harness/postgres/lone-server";
import { nextTurn } from "#kernel/turns";
import { NotOneRow } from "#storage/database";
import { Pool } from "#storage/postgres/pool";
import { PostgresTransaction } from "#storage/postgres/transaction";
import { sql } from "#storage/sql";

const insert = sql`INSERT INTO notes (id) VALUES (${1})`;
const change = sql`UPDATE notes SET amount = ${1}`;
const read = (id: number) => sql`SELECT 1 AS one FROM notes WHERE id = ${id}`;

async function begin() {
  const server = new LoneServer();
  const connection = await new Pool(server.asServer, { connections: 1 }).acquire("own");
  const [session] = server.sessions as [LoneSession];
  const place = { connection, isLocked: false };
  const entered: (number | undefined)[] = [];
  const tx = new PostgresTransaction(async (slot) => {
    entered.push(slot);
    return place;
  });
  /** Whether a transaction function ends before PostgreSQL has responded. After this check, PostgreSQL responds to everything. */
  const isAwaited = async (asked: Promise<unknown>, completion: (text: string) => Completion = () => "UPDATE 1"): Promise<[boolean, unknown]> => {
    let hasEnded = false;
    const outcome = asked.then(
      (value) => value,
      (error) => error,
    );
    void outcome.then(() => {
      hasEnded = true;
    });
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    const wasEarly = hasEnded;
    session.complete(completion);
    return [!wasEarly, await outcome];
  };
  return { tx, session, place, entered, isAwaited };
}

test("a statement that changes one row is sent and not awaited; one that returns its number of rows, and a read, are awaited", async () => {
  const one = await begin();
  expect(await one.isAwaited(one.tx.runOne(insert))).toEqual([false, undefined]);
  expect(await one.isAwaited(one.tx.run(change), () => "UPDATE 2")).toEqual([true, 2]);
  expect(await one.isAwaited(one.tx.all(read(1)), () => "SELECT 0")).toEqual([true, []]);
});

test("another number of rows than one, and a failure, appear at the next statement, and the first of them counts", async () => {
  for (const [statement, completion, failure] of [
    [change, "UPDATE 0", NotOneRow],
    [change, "UPDATE 2", NotOneRow],
    [insert, new Error("disk full"), Error],
    [insert, "INSERT 0 0", NotOneRow],
  ] as const) {
    const one = await begin();
    await one.isAwaited(one.tx.runOne(statement), () => completion);
    await nextTurn();
    expect(one.tx.failure).toBeInstanceOf(failure);
    expect(one.tx.failure instanceof NotOneRow).toBe(failure === NotOneRow);
    const first = one.tx.failure;
    await expect(one.tx.run(change)).rejects.toBe(first as Error);
    expect(one.session.sent).toHaveLength(1);
  }
});

test("a failure of an earlier statement is that of the read after it", async () => {
  const one = await begin();
  await one.tx.runOne(change);
  const [, outcome] = await one.isAwaited(one.tx.get(read(1)), (text) => (text.startsWith("UPDATE") ? "UPDATE 0" : "SELECT 0"));
  expect(outcome).toBeInstanceOf(NotOneRow);
});

test("a lock is first with its slot, once for the transaction, and a missing row is a failure", async () => {
  const one = await begin();
  await one.isAwaited(one.tx.lock("notes", "a"), () => "SELECT 1");
  const [slot] = one.entered;
  expect(slot).toBeNumber();
  expect(one.place.isLocked).toBe(true);
  expect(one.session.sent).toHaveLength(1);
  await one.isAwaited(one.tx.lock("notes", "b"), () => "SELECT 1");
  expect([one.session.sent.length, one.entered.length]).toEqual([2, 1]);
  // The next transaction function finds the name locked.
  const next = new PostgresTransaction(async () => one.place);
  await next.lock("notes", "a");
  expect(one.session.sent).toHaveLength(2);
  const late = await begin();
  await late.isAwaited(late.tx.get(read(1)), () => "SELECT 0");
  await late.isAwaited(late.tx.lock("notes", "a"), () => "SELECT 0");
  await nextTurn();
  expect([late.entered, late.place.isLocked, String(late.tx.failure)]).toEqual([[undefined], false, "Error: the row of a lock is missing"]);
});

test("256 of many statements are sent before one is awaited", async () => {
  const one = await begin();
  let sent = 0;
  const sending = (async () => {
    for (; sent < 600; sent++) await one.tx.runOne(insert);
  })();
  for (const most of [255, 511, 600]) {
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    expect(sent).toBe(most);
    one.session.complete(() => "INSERT 0 1");
  }
  await sending;
});

test("before its commit a transaction waits if PostgreSQL itself would not refuse a wrong outcome, or the connection may be dead", async () => {
  const isWaitedFor = async (ask: (tx: PostgresTransaction) => Promise<unknown>): Promise<boolean> => {
    const one = await begin();
    // The row exists.
    await one.isAwaited(one.tx.run(change));
    await ask(one.tx);
    const [isAwaited] = await one.isAwaited(one.tx.settle());
    return isAwaited;
  };
  expect(await isWaitedFor(async () => {})).toBe(false);
  expect(await isWaitedFor((tx) => tx.runOne(insert))).toBe(false);
  expect(await isWaitedFor((tx) => tx.runOne(change))).toBe(true);
  expect(await isWaitedFor((tx) => tx.runOne(sql`INSERT INTO notes (id) VALUES (1) ON CONFLICT DO NOTHING`))).toBe(true);
  expect(await isWaitedFor((tx) => tx.runOne(sql`INSERT INTO notes (id) SELECT 1`))).toBe(true);
  expect(await isWaitedFor((tx) => tx.runOne(sql` INSERT INTO notes (id) VALUES (2)`))).toBe(false);
  expect(await isWaitedFor((tx) => tx.lock("notes", "a"))).toBe(true);
  const fresh = await begin();
  await fresh.tx.runOne(insert);
  expect((await fresh.isAwaited(fresh.tx.settle()))[0]).toBe(true);
});

test("a transaction that has ended, or has failed, accepts nothing more", async () => {
  const one = await begin();
  expect(one.tx.hasBegun).toBe(false);
  await one.isAwaited(one.tx.run(change));
  expect(one.tx.hasBegun).toBe(true);
  one.tx.invalidate("note", "1");
  one.tx.end();
  const used = "a transaction was used after its body had ended";
  for (const use of [() => one.tx.run(change), () => one.tx.lock("notes", "a")]) await expect(use()).rejects.toThrow(used);
  expect(() => one.tx.invalidate("note", "2")).toThrow(used);
  expect(() => one.tx.afterCommit(() => {})).toThrow(used);
  expect({ facts: one.tx.facts, actions: one.tx.actions }).toEqual({ facts: [["note", "1"]], actions: [] });
});
