/** Checks the lease of one process: how long the process may work, and which process gives back its rows after the lease. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { movedClock, newWorkStore } from "#harness/work-database";
import type { Database, Transaction } from "#storage/database";
import { sql } from "#storage/sql";
import { jobMigrations } from "./jobs.migrations.ts";
import { LEASE_MS, WorkSession } from "./work-session.ts";

const claim = (database: Database, session: WorkSession): Promise<number> => database.write((tx) => session.fenceFor(tx));

onEachDatabase("the session of a process", (kind) => {
  const isShared = kind === "postgres";

  async function newSession() {
    const database = await (await newWorkStore(kind, [jobMigrations])).open();
    const real = movedClock();
    return { database, real, session: new WorkSession(database, () => real.ms) };
  }

  /** A source that records the fences whose rows it is asked to give back. */
  function releases() {
    const fences: number[] = [];
    return { fences, release: async (_tx: Transaction, fence: number) => void fences.push(fence) };
  }

  test("is stored with the first claim that commits, and keeps its fence", async () => {
    const { database, session } = await newSession();
    const undone = database.write(async (tx) => {
      await session.fenceFor(tx);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(session.soleFence).toBeUndefined();
    const fence = await claim(database, session);
    expect(await claim(database, session)).toBe(fence);
    expect(session.soleFence).toBe(isShared ? undefined : fence);
    const stranger = new WorkSession(database, () => Number.MAX_SAFE_INTEGER);
    const { fences, release } = releases();
    await stranger.takeOver(release);
    expect(fences).toEqual([fence]);
  });

  test("holds its claims until its lease ends, or forever if no other process can exist", async () => {
    const { database, real, session } = await newSession();
    const fence = await claim(database, session);
    expect([session.holds(fence), session.holds(fence + 1)]).toEqual([true, false]);
    // The lease lasts five seconds.
    real.ms += 4_999;
    expect(session.holds(fence)).toBe(true);
    real.ms++;
    expect(session.holds(fence)).toBe(!isShared);
  });

  test("asks for a heartbeat when it is time, and only if it has a lease to renew", async () => {
    const { database, real, session } = await newSession();
    real.ms += LEASE_MS;
    expect(session.needsBeat).toBe(false);
    await claim(database, session);
    real.ms += 999;
    expect(session.needsBeat).toBe(false);
    real.ms++;
    expect(session.needsBeat).toBe(isShared);
    await session.beat();
    expect(session.needsBeat).toBe(false);
  });

  test("is extended by each heartbeat, here and for the others", async () => {
    const { database, real, session } = await newSession();
    const fence = await claim(database, session);
    for (let beats = 0; beats < 3; beats++) {
      real.ms += LEASE_MS - 1;
      await session.beat();
    }
    expect(session.holds(fence)).toBe(true);
    if (!isShared) return;
    const { fences, release } = releases();
    expect(await new WorkSession(database, () => real.ms + LEASE_MS).takeOver(release)).toBe(0);
    expect(fences).toEqual([]);
  });

  test("that gave back its work at the end leaves nothing to others, and claims under another fence", async () => {
    const { database, session } = await newSession();
    const { fences, release } = releases();
    await session.end(release);
    expect(fences).toEqual([]);
    const fence = await claim(database, session);
    await session.end(release);
    await session.end(release);
    expect(fences).toEqual([fence]);
    expect(await new WorkSession(database, () => Number.MAX_SAFE_INTEGER).takeOver(release)).toBe(0);
    expect(session.holds(fence)).toBe(false);
    expect(await claim(database, session)).not.toBe(fence);
  });

  test("takes over in one transaction: if giving back fails, the ended session stays for the next attempt", async () => {
    const { database, real, session } = await newSession();
    const fence = await claim(database, session);
    const next = new WorkSession(database, () => real.ms + LEASE_MS + 1);
    const { fences, release } = releases();
    const failing = next.takeOver(async () => {
      throw new Error("not given back");
    });
    await expect(failing).rejects.toThrow("not given back");
    expect(await next.takeOver(release)).toBe(1);
    expect(fences).toEqual([fence]);
  });
});

test("PostgreSQL: a process that lost its session continues under a new fence, and holds no earlier work", async () => {
  const store = await newWorkStore("postgres", [jobMigrations]);
  const real = movedClock();
  const database = await store.open();
  const session = new WorkSession(database, () => real.ms);
  const fence = await claim(database, session);
  const other = new WorkSession(await store.open(), () => real.ms + LEASE_MS + 1);
  await other.takeOver(async () => {});
  expect(session.holds(fence)).toBe(true);
  await session.beat();
  expect(session.holds(fence)).toBe(false);
  const next = await claim(database, session);
  expect(next).not.toBe(fence);
  expect(session.holds(next)).toBe(true);
});

test("PostgreSQL: a session that a restored state deleted is stored again with the next claim, so that it can be given back", async () => {
  const store = await newWorkStore("postgres", [jobMigrations]);
  const real = movedClock();
  const database = await store.open();
  const session = new WorkSession(database, () => real.ms);
  const before = await claim(database, session);
  const other = await store.open();
  await other.write((tx) => tx.runOne(sql`DELETE FROM work_sessions`));
  const fence = await claim(database, session);
  expect(fence).not.toBe(before);
  expect([session.holds(fence), session.holds(before)]).toEqual([true, false]);
  const given: number[] = [];
  await new WorkSession(other, () => real.ms + LEASE_MS + 1).takeOver(async (_tx, ended) => void given.push(ended));
  expect(given).toEqual([fence]);
});

test("PostgreSQL: a claim renews the lease like a heartbeat, after its commit", async () => {
  const database = await (await newWorkStore("postgres", [jobMigrations])).open();
  const real = movedClock();
  const session = new WorkSession(database, () => real.ms);
  const fence = await claim(database, session);
  real.ms += LEASE_MS - 1;
  await expect(
    database.write(async (tx) => {
      await session.fenceFor(tx);
      throw new Error("undone");
    }),
  ).rejects.toThrow("undone");
  expect(session.needsBeat).toBe(true);
  expect(await claim(database, session)).toBe(fence);
  expect(session.needsBeat).toBe(false);
  real.ms += LEASE_MS - 1;
  expect(session.holds(fence)).toBe(true);
});

test("PostgreSQL: if two processes find the same ended session, one gives back its work", async () => {
  const store = await newWorkStore("postgres", [jobMigrations]);
  const real = movedClock();
  const ended = await store.open();
  await claim(ended, new WorkSession(ended, () => real.ms));
  const [first, second] = [await store.open(), await store.open()].map((database) => new WorkSession(database, () => real.ms + LEASE_MS + 1));
  const given: string[] = [];
  let late: Promise<unknown> | undefined;
  await first?.takeOver(async () => {
    given.push("first");
    // The second session still finds the row of the ended session, because the first transaction has not committed, and waits until the first
    // transaction unlocks this row.
    late = second?.takeOver(async () => void given.push("second"));
    await Bun.sleep(200);
  });
  await late;
  expect(given).toEqual(["first"]);
});
