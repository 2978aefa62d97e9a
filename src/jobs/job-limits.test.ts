/**
 * Checks the limits on the number of jobs that run and wait together, and the delays of a job that fails, each just below and just above the limit.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { type JobWorker, jobWorkerOn, newWorkStore } from "#harness/work-database";
import { sql } from "#storage/sql";
import type { JobKind } from "./job-kind.ts";
import { jobMigrations } from "./jobs.migrations.ts";

onEachDatabase("jobs", (kind) => {
  const newWorker = async (kinds: readonly JobKind<JobWorker>[]) => jobWorkerOn(await (await newWorkStore(kind, [jobMigrations])).open(), kinds);
  const scheduleMany = ({ jobs, database }: JobWorker, of: string, count: number) =>
    database.write(async (tx) => {
      for (let n = 0; n < count; n++) await jobs.schedule(tx, { kind: of, key: `k${String(n).padStart(3, "0")}`, dueMs: 0 });
    });

  test("run eight at a time, the earliest first; when one ends the next begins", async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const long: JobKind<JobWorker> = {
      kind: "long",
      run(_worker, key) {
        begun.push(key);
        return new Promise((resolve) => ends.push(resolve));
      },
    };
    const worker = await newWorker([long]);
    await scheduleMany(worker, "long", 12);
    worker.loop.start();
    for (const wanted of [8, 9, 10, 11, 12]) {
      while (begun.length < wanted) await Bun.sleep(1);
      // If the server could begin one more job, it would begin this job in the current turn.
      worker.loop.wake();
      while (worker.loop.idle === undefined && !worker.jobs.isBusy()) await Bun.sleep(1);
      await Bun.sleep(5);
      expect(begun).toHaveLength(wanted);
      ends.shift()?.();
    }
    expect(begun).toEqual(Array.from({ length: 12 }, (_, n) => `k${String(n).padStart(3, "0")}`));
    for (const end of ends) end();
    await worker.jobs.settled();
  });

  test("that wait for another server make room for others, 64 of them and not one more", async () => {
    const gate = Promise.withResolvers<void>();
    let waiting = 0;
    const fetching: JobKind<JobWorker> = {
      kind: "fetching",
      async run(_worker, _key, _payload, job) {
        waiting++;
        await job.whileWaiting(() => gate.promise);
      },
    };
    const worker = await newWorker([fetching]);
    await scheduleMany(worker, "fetching", 80);
    worker.loop.start();
    while (waiting < 72) await Bun.sleep(1);
    worker.loop.wake();
    await Bun.sleep(20);
    expect(waiting).toBe(72);
    gate.resolve();
    while (waiting < 80) await Bun.sleep(1);
    await worker.jobs.settled();
  });

  test("that fail repeatedly wait 1, 5, 30, 120, 600 and then always 3600 seconds, or up to a tenth less", async () => {
    const failing: JobKind<JobWorker> = {
      kind: "failing",
      async run() {
        throw new Error("no".repeat(400));
      },
    };
    const worker = await newWorker([failing]);
    await scheduleMany(worker, "failing", 1);
    for (const [at, waitMs] of [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000, 3_600_000, 3_600_000].entries()) {
      await worker.loop.runDue();
      const dueMs = (await worker.jobs.dueTimeOf(worker.database.reader, "failing", "k000")) ?? 0;
      expect(dueMs - worker.clock.ms).toBeWithin(waitMs * 0.9, waitMs + 1);
      expect(worker.failures).toHaveLength(at + 1);
      worker.clock.ms = dueMs;
    }
    const row = await worker.database.reader.get<{ last_error: string }>(sql`SELECT j.last_error FROM jobs j`);
    expect(row?.last_error).toBe("no".repeat(250));
  });

  test("due at a fraction of a millisecond run in the next whole one", async () => {
    const worker = await newWorker([]);
    await worker.database.write((tx) => worker.jobs.schedule(tx, { kind: "noted", key: "k", dueMs: worker.clock.ms + 0.1 }));
    await worker.loop.runDue();
    expect(worker.ran).toEqual([]);
    worker.clock.ms++;
    await worker.loop.runDue();
    expect(worker.ran).toHaveLength(1);
  });

  test("of which two kinds have one name are refused at the start", async () => {
    const one: JobKind<JobWorker> = { kind: "noted", run: async () => {} };
    await expect(newWorker([one])).rejects.toThrow("two job kinds have the same name");
  });
});
