/** Checks the order of jobs, and which run ends a job if the job is replaced, if its end is undone or not stored at once, or if its process dies. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { catchTimers } from "#harness/time/stopped-time";
import { type JobWorker, jobWorkerOn, movedClock, newWorkStore } from "#harness/work-database";
import { nextTurn } from "#kernel/turns";
import type { Database, FeatureMigrations } from "#storage/database";
import { sql } from "#storage/sql";
import { type JobKind, JobLost } from "./job-kind.ts";
import { jobMigrations } from "./jobs.migrations.ts";
import { listWaitingJobs } from "./jobs.store.ts";
import { LEASE_MS } from "./work-session.ts";

const effects: FeatureMigrations = {
  feature: "effects",
  migrations: [{ name: "effects", statements: ["CREATE TABLE effects (name TEXT NOT NULL)"] }],
};
const migrations = [jobMigrations, effects];

const effectsIn = async ({ database }: JobWorker): Promise<string[]> =>
  (await database.reader.all<{ name: string }>(sql`SELECT e.name FROM effects e ORDER BY e.name`)).map(({ name }) => name);

onEachDatabase("jobs", (kind) => {
  const newWorker = async (kinds: readonly JobKind<JobWorker>[]) => jobWorkerOn(await (await newWorkStore(kind, migrations)).open(), kinds);
  const schedule = ({ jobs, database }: JobWorker, of: string, key: string, dueMs: number, payload?: unknown) =>
    database.write((tx) => jobs.schedule(tx, { kind: of, key, dueMs, payload }));

  test("begin in the order of their times, then of kind and key, in any order of scheduling", async () => {
    const early: JobKind<JobWorker> = {
      kind: "early",
      run: async ({ ran }, key) => void ran.push({ kind: "early", key, payload: null, attempt: 1 }),
    };
    const worker = await newWorker([early]);
    // The test schedules more jobs than the server claims in one turn.
    const wanted = [1, 2, 3].flatMap((dueMs) =>
      ["early", "noted"].flatMap((of) => ["a", "b", "c", "d"].map((key) => ({ of, key: key + dueMs, dueMs }))),
    );
    for (const { of, key, dueMs } of wanted.toReversed()) await schedule(worker, of, key, dueMs);
    const names = wanted.map(({ of, key }) => `${of} ${key}`);
    expect((await listWaitingJobs(worker.database.reader, 20)).map((job) => `${job.kind} ${job.key}`)).toEqual(names.slice(0, 20));
    await worker.loop.runDue();
    expect(worker.ran.map((job) => `${job.kind} ${job.key}`)).toEqual(names);
  });

  test("that are replaced while they run begin again, whatever becomes of that run: payload, time and attempts", async () => {
    const seen: unknown[] = [];
    const replaced: JobKind<JobWorker> = {
      kind: "replaced",
      async run(worker, key, payload, { attempt }) {
        seen.push([payload, attempt]);
        if (payload === "first" && attempt === 1) throw new Error("once more");
        if (payload === "last") return;
        await schedule(worker, "replaced", key, worker.clock.ms + 5_000, payload === "first" ? "second" : "last");
        if (payload === "first") throw new Error("no longer wanted");
      },
    };
    const worker = await newWorker([replaced]);
    const dueTime = async () => (await worker.jobs.dueTimeOf(worker.database.reader, "replaced", "k")) ?? 0;
    await schedule(worker, "replaced", "k", 0, "first");
    await worker.loop.runDue();
    for (let run = 0; run < 3; run++) {
      worker.clock.ms = await dueTime();
      await worker.loop.runDue();
      if (run < 2) expect(await dueTime()).toBe(worker.clock.ms + 5_000);
    }
    expect(seen).toEqual([
      ["first", 1],
      ["first", 2],
      ["second", 1],
      ["last", 1],
    ]);
    expect(await dueTime()).toBe(0);
  });

  test("that are scheduled again while they run begin after that run, not beside it", async () => {
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const slow: JobKind<JobWorker> = {
      kind: "slow",
      async run(_worker, _key, payload) {
        seen.push(`${payload} begins`);
        if (payload === "first") await gate.promise;
        seen.push(`${payload} ends`);
      },
    };
    const worker = await newWorker([slow]);
    await schedule(worker, "slow", "k", 0, "first");
    worker.loop.start();
    while (seen.length === 0) await nextTurn();
    await schedule(worker, "slow", "k", 0, "second");
    // Another job is due at the same time; when this other job has run, the turn of the replaced job has come too.
    await schedule(worker, "noted", "other", 0);
    while (worker.ran.length === 0) await nextTurn();
    gate.resolve();
    await worker.loop.runDue();
    expect(seen).toEqual(["first begins", "first ends", "second begins", "second ends"]);
  });

  test("that are cancelled while they run cannot settle", async () => {
    const errors: unknown[] = [];
    const cancelled: JobKind<JobWorker> = {
      kind: "cancelled",
      async run({ database, jobs }, key, _payload, job) {
        await database.write((tx) => jobs.cancel(tx, "cancelled", key));
        await database
          .write(async (tx) => {
            await tx.run(sql`INSERT INTO effects (name) VALUES (${key})`);
            await job.settle(tx);
          })
          .catch((error) => errors.push(error));
      },
    };
    const worker = await newWorker([cancelled]);
    await schedule(worker, "cancelled", "k", 0);
    await worker.loop.runDue();
    expect(errors).toEqual([expect.any(JobLost)]);
    expect(await effectsIn(worker)).toEqual([]);
  });

  test("are settled only by a commit: a job whose transaction was undone runs again", async () => {
    const attempts: number[] = [];
    const undone: JobKind<JobWorker> = {
      kind: "undone",
      async run({ database }, key, _payload, job) {
        attempts.push(job.attempt);
        await database.write(async (tx) => {
          await tx.run(sql`INSERT INTO effects (name) VALUES (${key})`);
          await job.settle(tx);
          if (job.attempt === 1) throw new Error("undone");
        });
      },
    };
    const worker = await newWorker([undone]);
    await schedule(worker, "undone", "k", 0);
    await worker.loop.runDue();
    expect({ attempts, effects: await effectsIn(worker), failures: worker.failures.map(String) }).toEqual({
      attempts: [1],
      effects: [],
      failures: ["Error: undone"],
    });
    worker.clock.ms += 1_000;
    await worker.loop.runDue();
    expect({ attempts, effects: await effectsIn(worker) }).toEqual({ attempts: [1, 2], effects: ["k"] });
    expect(await worker.jobs.dueTimeOf(worker.database.reader, "undone", "k")).toBeUndefined();
  });
});

test("PostgreSQL: the jobs of a process are taken over when its lease is over, and not before; those of others stay with them", async () => {
  const store = await newWorkStore("postgres", [jobMigrations]);
  const startMs = 1_795_000_000_000;
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const hanging: JobKind<JobWorker> = {
    kind: "long",
    run(_worker, key) {
      begun.push(key);
      return new Promise((resolve) => ends.push(resolve));
    },
  };
  const finishing: JobKind<JobWorker> = {
    kind: "long",
    run: async ({ ran }, key) => void ran.push({ kind: "long", key, payload: null, attempt: 1 }),
  };
  const hold = async (key: string, realMs: number) => {
    const worker = jobWorkerOn(await store.open(), [hanging], movedClock(realMs));
    await worker.database.write((tx) => worker.jobs.schedule(tx, { kind: "long", key, dueMs: 0 }));
    const run = worker.loop.runDue();
    while (!begun.includes(key)) await Bun.sleep(1);
    return { run };
  };
  const runs = [await hold("of the older", startMs), await hold("of the younger", startMs + 1)];
  const real = movedClock(startMs + LEASE_MS);
  const next = jobWorkerOn(await store.open(), [finishing], real);
  await next.loop.runDue();
  expect(next.ran).toEqual([]);
  real.ms++;
  await next.loop.runDue();
  expect(next.ran.map(({ key }) => key)).toEqual(["of the older"]);
  for (const end of ends) end();
  await Promise.all(runs.map(({ run }) => run));
  await next.loop.runDue();
  expect(next.ran).toHaveLength(1);
  expect(await listWaitingJobs(next.database.reader, 10)).toEqual([]);
});

/** Makes the given number of write transactions fail, so that they store nothing. */
function failing(database: Database) {
  const write = database.write.bind(database);
  const state = { left: 0 };
  database.write = async (body) => {
    if (state.left === 0) return write(body);
    state.left--;
    throw new Error("out of reach");
  };
  return state;
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await nextTurn();
};

async function runOutage(isFailing: boolean) {
  const database = await (await newWorkStore("sqlite", [jobMigrations])).open();
  const outage = failing(database);
  const away: JobKind<JobWorker> = {
    kind: "away",
    async run() {
      outage.left = 2;
      if (isFailing) throw new Error("of the job");
    },
  };
  const worker = jobWorkerOn(database, [away]);
  await database.write((tx) => worker.jobs.schedule(tx, { kind: "away", key: "k", dueMs: 0 }));
  const stored = async () => worker.jobs.dueTimeOf(database.reader, "away", "k");
  return { database, outage, worker, stored };
}

test("a job's end is stored again each half second until it succeeds, and the job runs once", async () => {
  const { timeouts } = catchTimers();
  const { worker, stored, outage } = await runOutage(false);
  let hasEnded = false;
  const run = worker.loop.runDue().then(() => {
    hasEnded = true;
  });
  for (let tried = 1; tried <= 2; tried++) {
    await turns();
    expect({ timers: timeouts.map(({ ms }) => ms), failures: worker.failures.map(String) }).toEqual({
      timers: new Array<number>(tried).fill(500),
      failures: new Array<string>(tried).fill("Error: out of reach"),
    });
    expect([hasEnded, worker.jobs.isBusy(), outage.left]).toEqual([false, true, 2 - tried]);
    timeouts.at(-1)?.fire();
  }
  await run;
  expect([await stored(), worker.jobs.isBusy()]).toEqual([undefined, false]);
  expect(worker.failures).toHaveLength(2);
});

test("a failed job is postponed as soon as it can be, from the time at which it ran", async () => {
  const { timeouts } = catchTimers();
  const { worker, stored } = await runOutage(true);
  const beganMs = worker.clock.ms;
  const run = worker.loop.runDue();
  for (let tried = 1; tried <= 2; tried++) {
    await turns();
    worker.clock.ms += 10;
    timeouts.at(-1)?.fire();
  }
  await run;
  expect(((await stored()) ?? 0) - beganMs).toBeWithin(900, 1_001);
  expect(worker.failures.map(String)).toEqual(["Error: of the job", "Error: out of reach", "Error: out of reach"]);
});

test("the end of the program waits for no database: the next process runs the job again", async () => {
  const { timeouts } = catchTimers();
  const { worker, database, outage } = await runOutage(false);
  const run = worker.loop.runDue();
  await turns();
  const stopping = worker.loop.stop();
  timeouts.find(({ ms }) => ms === 500)?.fire();
  await Promise.all([run, stopping]).catch(() => {});
  outage.left = 0;
  const again: JobKind<JobWorker> = {
    kind: "away",
    run: async ({ ran }, key, payload, { attempt }) => void ran.push({ kind: "away", key, payload, attempt }),
  };
  const next = jobWorkerOn(database, [again]);
  await next.loop.runDue();
  expect(next.ran).toMatchObject([{ kind: "away", key: "k" }]);
  expect(await database.reader.all(sql`SELECT j.kind, j.key FROM jobs j`)).toEqual([]);
});
