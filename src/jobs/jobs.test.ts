import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { type JobWorker, jobWorkerOn, movedClock, newWorkStore } from "#harness/work-database";
import type { Database, FeatureMigrations } from "#storage/database";
import { sql } from "#storage/sql";
import { type JobKind, JobLost } from "./job-kind.ts";
import { jobMigrations } from "./jobs.migrations.ts";

const effects: FeatureMigrations = {
  feature: "effects",
  migrations: [{ name: "effects", statements: ["CREATE TABLE effects (name TEXT NOT NULL, times INTEGER NOT NULL, PRIMARY KEY (name))"] }],
};
const migrations = [jobMigrations, effects];

const timesOf = async (database: Database, name: string): Promise<number> =>
  (await database.reader.get<{ times: number }>(sql`SELECT e.times FROM effects e WHERE e.name = ${name}`))?.times ?? 0;

onEachDatabase("jobs", (kind) => {
  const newWorker = async (kinds: readonly JobKind<JobWorker>[] = []) => jobWorkerOn(await (await newWorkStore(kind, migrations)).open(), kinds);
  const schedule = ({ jobs, database }: JobWorker, key: string, dueMs: number, payload?: unknown, of = "noted") =>
    database.write((tx) => jobs.schedule(tx, { kind: of, key, dueMs, payload }));

  test("a job runs once, when the world's clock has reached its time", async () => {
    const worker = await newWorker();
    await schedule(worker, "one", worker.clock.ms + 1_000, { a: [1, "ä𝄞"] });
    await worker.loop.runDue();
    expect(worker.ran).toEqual([]);
    worker.clock.ms += 1_000;
    await worker.loop.runDue();
    await worker.loop.runDue();
    expect(worker.ran).toEqual([{ kind: "noted", key: "one", payload: { a: [1, "ä𝄞"] }, attempt: 1 }]);
    expect(await worker.jobs.dueTimeOf(worker.database.reader, "noted", "one")).toBeUndefined();
  });

  test("a second job of the same kind and key replaces the first; a cancelled one never runs", async () => {
    const worker = await newWorker();
    await schedule(worker, "moved", worker.clock.ms, 1);
    await schedule(worker, "moved", worker.clock.ms + 5, 2);
    await schedule(worker, "gone", worker.clock.ms, 3);
    expect(await worker.database.write((tx) => worker.jobs.cancel(tx, "noted", "gone"))).toBe(true);
    expect(await worker.database.write((tx) => worker.jobs.cancel(tx, "noted", "gone"))).toBe(false);
    await worker.loop.runDue();
    expect(worker.ran).toEqual([]);
    worker.clock.ms += 5;
    await worker.loop.runDue();
    expect(worker.ran.map(({ payload }) => payload)).toEqual([2]);
  });

  test("a job whose cause was rolled back does not exist", async () => {
    const worker = await newWorker();
    const refused = worker.database.write(async (tx) => {
      await worker.jobs.schedule(tx, { kind: "noted", key: "k", dueMs: 0 });
      throw new Error("refused");
    });
    await expect(refused).rejects.toThrow("refused");
    await refused.catch(() => {});
    await worker.loop.runDue();
    expect(worker.ran).toEqual([]);
  });

  test("a kind that no feature declares is refused when it is scheduled", async () => {
    const worker = await newWorker();
    await expect(schedule(worker, "k", 0, null, "unknown")).rejects.toThrow("no feature declares a job of kind unknown");
  });

  test("work that a job makes due is done before runDue ends", async () => {
    const chain: JobKind<JobWorker> = {
      kind: "chain",
      async run({ jobs, database, clock, ran }, key, payload) {
        ran.push({ kind: "chain", key, payload, attempt: 1 });
        const left = payload as number;
        if (left > 0) await database.write((tx) => jobs.schedule(tx, { kind: "chain", key, dueMs: clock.ms, payload: left - 1 }));
      },
    };
    const worker = await newWorker([chain]);
    await schedule(worker, "k", worker.clock.ms, 3, "chain");
    await worker.loop.runDue();
    expect(worker.ran.map(({ payload }) => payload)).toEqual([3, 2, 1, 0]);
  });

  test("a job that throws is repeated later, each time with a longer wait, and its error is kept", async () => {
    const attempts: number[] = [];
    const flaky: JobKind<JobWorker> = {
      kind: "flaky",
      async run(_worker, _key, _payload, { attempt }) {
        attempts.push(attempt);
        if (attempt < 3) throw new Error(`attempt ${attempt} fails`);
      },
    };
    const worker = await newWorker([flaky]);
    await schedule(worker, "k", 0, null, "flaky");
    await worker.loop.runDue();
    expect(attempts).toEqual([1]);
    const first = (await worker.jobs.dueTimeOf(worker.database.reader, "flaky", "k")) ?? 0;
    expect(first - worker.clock.ms).toBeWithin(900, 1_001);
    worker.clock.ms = first;
    await worker.loop.runDue();
    const second = (await worker.jobs.dueTimeOf(worker.database.reader, "flaky", "k")) ?? 0;
    expect(second - worker.clock.ms).toBeWithin(4_500, 5_001);
    worker.clock.ms = second;
    await worker.loop.runDue();
    expect(attempts).toEqual([1, 2, 3]);
    expect(worker.failures.map(String)).toEqual(["Error: attempt 1 fails", "Error: attempt 2 fails"]);
    expect(await worker.jobs.dueTimeOf(worker.database.reader, "flaky", "k")).toBeUndefined();
  });

  test("a run's memory is the payload of the next run; a replaced run remembers nothing", async () => {
    const payloads: unknown[] = [];
    const counting: JobKind<JobWorker> = {
      kind: "counting",
      async run({ database, jobs }, key, payload, job) {
        payloads.push(payload);
        await database.write((tx) => job.remember(tx, { runs: payloads.length }));
        if (payloads.length === 1) throw new Error("once more");
        if (payloads.length > 2) return;
        await database.write((tx) => jobs.schedule(tx, { kind: "counting", key, dueMs: 0, payload: "replaced" }));
        await database.write((tx) => job.remember(tx, "lost"));
      },
    };
    const worker = await newWorker([counting]);
    await schedule(worker, "k", 0, "first", "counting");
    await worker.loop.runDue();
    worker.clock.ms += 3_600_000;
    await worker.loop.runDue();
    expect(payloads).toEqual(["first", { runs: 1 }, "replaced"]);
  });

  test("a job that is settled in its transaction and then throws has run, once", async () => {
    const counting: JobKind<JobWorker> = {
      kind: "counting",
      async run({ database }, key, _payload, job) {
        await database.write(async (tx) => {
          await job.settle(tx);
          await tx.run(sql`INSERT INTO effects (name, times) VALUES (${key}, 1) ON CONFLICT (name) DO UPDATE SET times = effects.times + 1`);
        });
        throw new Error("after the effect");
      },
    };
    const worker = await newWorker([counting]);
    await schedule(worker, "k", 0, null, "counting");
    await worker.loop.runDue();
    worker.clock.ms += 3_600_000;
    await worker.loop.runDue();
    expect(await timesOf(worker.database, "k")).toBe(1);
    // An error that a job throws after it has settled its effect does not count as a failure.
    expect(worker.failures).toEqual([]);
  });

  test("a run whose job was replaced meanwhile cannot settle, so its effect is undone; the new one runs", async () => {
    const lost: unknown[] = [];
    const replaced: JobKind<JobWorker> = {
      kind: "replaced",
      async run({ database, jobs, clock }, key, payload, job) {
        if (payload === 1) await database.write((tx) => jobs.schedule(tx, { kind: "replaced", key, dueMs: clock.ms, payload: 2 }));
        await database
          .write(async (tx) => {
            await tx.run(sql`INSERT INTO effects (name, times) VALUES (${`effect of ${payload}`}, 1)`);
            await job.settle(tx);
          })
          .catch((error) => {
            lost.push(error);
            throw error;
          });
      },
    };
    const worker = await newWorker([replaced]);
    await schedule(worker, "k", 0, 1, "replaced");
    await worker.loop.runDue();
    expect(lost).toHaveLength(1);
    expect(lost[0]).toBeInstanceOf(JobLost);
    expect(await timesOf(worker.database, "effect of 1")).toBe(0);
    expect(await timesOf(worker.database, "effect of 2")).toBe(1);
    expect(worker.failures).toEqual([]);
  });

  test("a slow job does not delay the others", async () => {
    let end = (): void => {};
    const long: JobKind<JobWorker> = { kind: "long", run: () => new Promise((resolve) => (end = resolve)) };
    const worker = await newWorker([long]);
    worker.loop.start();
    await schedule(worker, "k", 0, null, "long");
    await schedule(worker, "other", 0);
    while (worker.ran.length === 0) await Bun.sleep(1);
    expect(worker.ran.map(({ key }) => key)).toEqual(["other"]);
    end();
    await worker.jobs.settled();
  });

  test("jobs that wait for another server do not delay the others, however many they are", async () => {
    const gate = Promise.withResolvers<void>();
    const fetching: JobKind<JobWorker> = { kind: "fetching", run: (_worker, _key, _payload, job) => job.whileWaiting(() => gate.promise) };
    const worker = await newWorker([fetching]);
    worker.loop.start();
    for (let n = 0; n < 20; n++) await schedule(worker, `k${n}`, 0, null, "fetching");
    await schedule(worker, "other", 0);
    while (worker.ran.length === 0) await Bun.sleep(1);
    expect(worker.ran.map(({ key }) => key)).toEqual(["other"]);
    gate.resolve();
    await worker.jobs.settled();
  });

  test("a started loop runs a job by itself, at its time", async () => {
    const database = await (await newWorkStore(kind, migrations)).open();
    const real = { ms: 0, nowMs: () => Date.now() };
    const worker = jobWorkerOn(database, [], movedClock(), real);
    worker.loop.start();
    const lateMs: number[] = [];
    for (let n = 0; n < 3; n++) {
      const dueMs = Date.now() + 60;
      await schedule(worker, `k${n}`, dueMs);
      while (worker.ran.length <= n) await Bun.sleep(5);
      lateMs.push(Date.now() - dueMs);
      expect(lateMs[n]).toBeGreaterThanOrEqual(0);
    }
    // A busy machine may be late with one of the test's jobs, but a loop that looks for jobs only at an interval is late with all jobs.
    expect(Math.min(...lateMs)).toBeLessThan(1_000);
    await worker.loop.stop();
    await schedule(worker, "late", 0);
    await Bun.sleep(30);
    expect(worker.ran).toHaveLength(3);
  });

  test("a long move of the clock stops at each job's time", async () => {
    const at: number[] = [];
    const hourly: JobKind<JobWorker> = {
      kind: "hourly",
      async run({ jobs, database, clock }, key) {
        at.push(clock.ms);
        await database.write((tx) => jobs.schedule(tx, { kind: "hourly", key, dueMs: clock.ms + 3_600_000 }));
      },
    };
    const worker = await newWorker([hourly]);
    const start = worker.clock.ms;
    await schedule(worker, "k", start + 3_600_000, null, "hourly");
    const moves: number[] = [];
    await worker.loop.runUntil(start + 480 * 3_600_000, async (ms) => {
      moves.push(ms);
      worker.clock.ms = ms;
    });
    expect(at).toEqual(Array.from({ length: 480 }, (_, hour) => start + (hour + 1) * 3_600_000));
    expect(moves).toEqual(at);
  });

  test("any schedule runs each job at or after its time, in the order of times, each once", async () => {
    const worker = await newWorker();
    const start = worker.clock.ms;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.record({ key: fc.string({ unit: "grapheme", minLength: 1 }), waitMs: fc.nat(50) }), {
          selector: ({ key }) => key,
          maxLength: 12,
        }),
        async (given) => {
          const usable = given.filter(({ key }) => !key.includes("\u0000"));
          const base = worker.clock.ms;
          for (const { key, waitMs } of usable) await schedule(worker, key, base + waitMs, base + waitMs);
          worker.ran.length = 0;
          for (let passed = 0; passed <= 50; passed += 10) {
            worker.clock.ms = base + passed;
            await worker.loop.runDue();
            const due = usable.filter(({ waitMs }) => waitMs <= passed).map(({ key }) => key);
            // order: the test compares the order of the times below.
            expect(worker.ran.map(({ key }) => key).sort()).toEqual(due.sort());
            const times = worker.ran.map(({ payload }) => payload as number);
            expect(times).toEqual(times.toSorted((one, other) => one - other));
          }
        },
      ),
      { numRuns: 8 },
    );
    expect(worker.clock.ms).toBeGreaterThanOrEqual(start);
  });
});
