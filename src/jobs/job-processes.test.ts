/** Checks that several processes can work on the jobs of one database, one after another or at the same time. */
import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { onEachDatabase } from "#harness/databases";
import { type JobWorker, jobWorkerOn, movedClock, newWorkStore } from "#harness/work-database";
import type { Database } from "#storage/database";
import { sql } from "#storage/sql";
import type { JobKind } from "./job-kind.ts";
import { jobMigrations } from "./jobs.migrations.ts";
import { LEASE_MS } from "./work-session.ts";

onEachDatabase("jobs of an ended process", (kind) => {
  test("are run by the next one: at once on SQLite, when the lease is over on PostgreSQL", async () => {
    const store = await newWorkStore(kind, [jobMigrations]);
    const database = await store.open();
    let end = (): void => {};
    const hanging: JobKind<JobWorker> = { kind: "hanging", run: () => new Promise((resolve) => (end = resolve)) };
    // The job of this worker hangs, so no result of the worker reaches the database, as if its process had died.
    const dead = jobWorkerOn(database, [hanging]);
    afterThisTest(async () => end());
    await database.write((tx) => dead.jobs.schedule(tx, { kind: "hanging", key: "k", dueMs: 0 }));
    dead.loop.start();
    while ((await dead.jobs.dueTimeOf(database.reader, "hanging", "k")) !== undefined && !(await isClaimed(database))) await Bun.sleep(1);

    const seen: number[] = [];
    const finishing: JobKind<JobWorker> = { kind: "hanging", run: async (_worker, _key, _payload, { attempt }) => void seen.push(attempt) };
    const real = movedClock();
    const next = jobWorkerOn(kind === "postgres" ? await store.open() : database, [finishing], real);
    await next.loop.runDue();
    expect(seen).toHaveLength(kind === "postgres" ? 0 : 1);
    real.ms += LEASE_MS + 1;
    await next.loop.runDue();
    expect(seen).toEqual([1]);
  }, 20_000);
});

const isClaimed = async (database: Database): Promise<boolean> =>
  (await database.reader.get(sql`SELECT 1 AS one FROM jobs j WHERE j.fence > 0`)) !== undefined;

test("two processes on PostgreSQL share the work: each job runs in one of them, once", async () => {
  const store = await newWorkStore("postgres", [jobMigrations]);
  const [one, other] = [jobWorkerOn(await store.open()), jobWorkerOn(await store.open())];
  const keys = Array.from({ length: 200 }, (_, at) => `job ${String(at).padStart(3, "0")}`);
  await one.database.write(async (tx) => {
    for (const key of keys) await one.jobs.schedule(tx, { kind: "noted", key, dueMs: 0 });
  });
  await Promise.all([one.loop.runDue(), other.loop.runDue()]);
  expect([...one.ran, ...other.ran].map(({ key }) => key).sort()).toEqual(keys);
  expect(one.ran.length).toBeGreaterThan(0);
  expect(other.ran.length).toBeGreaterThan(0);
});

test("PostgreSQL: a clock that another process has set back counts for jobs that are claimed from then on", async () => {
  const database = await (await newWorkStore("postgres", [jobMigrations])).open();
  const [here, stored] = [movedClock(20_000), movedClock(10_000)];
  const worker = jobWorkerOn(database, [], movedClock(), here, stored);
  await database.write(async (tx) => {
    for (const dueMs of [10_000, 10_001]) await worker.jobs.schedule(tx, { kind: "noted", key: String(dueMs), dueMs });
  });
  await worker.loop.runDue();
  expect(worker.ran.map(({ key }) => key)).toEqual(["10000"]);
  stored.ms++;
  await worker.loop.runDue();
  expect(worker.ran.map(({ key }) => key)).toEqual(["10000", "10001"]);
});

test("PostgreSQL: a caller who waits for due work also waits for other processes' work, and for the work that it makes due", async () => {
  const store = await newWorkStore("postgres", [jobMigrations]);
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: JobKind<JobWorker> = {
    kind: "slow",
    async run({ database, jobs }, _key, _payload, job) {
      begun.resolve();
      await end.promise;
      await database.write(async (tx) => {
        await job.settle(tx);
        await jobs.schedule(tx, { kind: "noted", key: "made due", dueMs: 0 });
      });
    },
  };
  const other = jobWorkerOn(await store.open(), [slow]);
  const here = jobWorkerOn(await store.open(), [slow]);
  await here.database.write((tx) => here.jobs.schedule(tx, { kind: "slow", key: "k", dueMs: 0 }));
  const elsewhere = other.loop.runDue();
  await begun.promise;
  // Another process ends the job just after this process has found nothing to claim.
  here.loop.add({
    async turn() {
      end.resolve();
      while ((await here.database.reader.get(sql`SELECT 1 AS one FROM jobs j WHERE j.kind = 'slow'`)) !== undefined) await Bun.sleep(1);
      return { didWork: false, nextDueMs: undefined };
    },
    settled: async () => false,
    isBusy: () => false,
    release: async () => {},
  });
  await here.loop.runDue();
  expect([...here.ran, ...other.ran].map(({ key }) => key)).toEqual(["made due"]);
  await elsewhere;
});
