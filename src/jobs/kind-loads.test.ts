/** Checks the limits that a kind of job has for one process and for one owner of jobs. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { turns } from "#harness/http/lone-connection";
import { type JobWorker, jobWorkerOn, newWorkStore } from "#harness/work-database";
import { sql } from "#storage/sql";
import type { JobKind } from "./job-kind.ts";
import { jobMigrations } from "./jobs.migrations.ts";
import { KindLoads } from "./kind-loads.ts";

onEachDatabase("limits of kinds of jobs", (kind) => {
  const newWorker = async (kinds: readonly JobKind<JobWorker>[]) => jobWorkerOn(await (await newWorkStore(kind, [jobMigrations])).open(), kinds);
  const schedule = ({ jobs, database }: JobWorker, key: string, dueMs: number, payload?: unknown, of = "noted") =>
    database.write((tx) => jobs.schedule(tx, { kind: of, key, dueMs, payload }));

  test("jobs of a kind with a limit leave room for others, while they run, while they wait and afterwards", async () => {
    const gates = { waiting: Promise.withResolvers<void>(), running: Promise.withResolvers<void>() };
    const counts = { running: 0, runningMax: 0, waiting: 0, waitingMax: 0 };
    const limited: JobKind<JobWorker> = {
      kind: "limited",
      atOnceMax: { running: 2, waiting: 5 },
      async run(_worker, _key, _payload, job) {
        counts.waitingMax = Math.max(counts.waitingMax, ++counts.waiting);
        await job.whileWaiting(() => gates.waiting.promise);
        counts.waiting--;
        counts.runningMax = Math.max(counts.runningMax, ++counts.running);
        await gates.running.promise;
        counts.running--;
      },
    };
    const worker = await newWorker([limited]);
    worker.loop.start();
    for (let n = 0; n < 20; n++) await schedule(worker, `k${n}`, 0, null, "limited");
    await schedule(worker, "while they wait", 0);
    while (worker.ran.length < 1) await Bun.sleep(1);
    gates.waiting.resolve();
    while (counts.running < 2) await Bun.sleep(1);
    for (let n = 0; n < 6; n++) await schedule(worker, `while they run ${n}`, 0);
    while (worker.ran.length < 7) await Bun.sleep(1);
    expect(counts).toMatchObject({ running: 2, runningMax: 2 });
    gates.running.resolve();
    while ((await worker.database.reader.all(sql`SELECT j.key FROM jobs j`)).length > 0) await Bun.sleep(1);
    await worker.jobs.settled();
    expect(counts).toEqual({ running: 0, runningMax: 2, waiting: 0, waitingMax: 5 });
  });

  test("jobs of one share leave room for those of others, while they run and while they wait, and all of them run", async () => {
    const gates = { waiting: Promise.withResolvers<void>(), running: Promise.withResolvers<void>() };
    const [begun, others]: [string[], string[]] = [[], []];
    let atOnce = 0;
    let atOnceMax = 0;
    const shared: JobKind<JobWorker> = {
      kind: "shared",
      atOnceMax: { running: 4, waiting: 8, ofShare: 2 },
      async run(_worker, key, _payload, job) {
        const isOfMany = key.startsWith("of many");
        (isOfMany ? begun : others).push(key);
        if (!isOfMany) return;
        atOnceMax = Math.max(atOnceMax, ++atOnce);
        await job.whileWaiting(() => gates.waiting.promise);
        await gates.running.promise;
        atOnce--;
      },
    };
    const worker = await newWorker([shared]);
    await worker.database.write(async (tx) => {
      for (let n = 0; n < 100; n++) await worker.jobs.schedule(tx, { kind: "shared", key: `of many ${n}`, share: "many", dueMs: 0 });
    });
    const ofOther = (n: number, share: string): Promise<void> =>
      worker.database.write((tx) => worker.jobs.schedule(tx, { kind: "shared", key: `other ${n}`, share, dueMs: 1 }));
    worker.loop.start();
    await ofOther(1, "few");
    while (others.length < 1) await Bun.sleep(1);
    expect(begun).toHaveLength(2);
    gates.waiting.resolve();
    await ofOther(2, "few");
    await ofOther(3, "none");
    while (others.length < 3) await Bun.sleep(1);
    expect(begun).toHaveLength(2);
    gates.running.resolve();
    while ((await worker.database.reader.all(sql`SELECT j.key FROM jobs j`)).length > 0) await Bun.sleep(1);
    await worker.jobs.settled();
    expect(begun).toHaveLength(100);
    expect(atOnceMax).toBe(2);
  });
});

test("as many of a kind begin as may run and wait together: up to each limit, each share up to its own, and any number of other kinds", async () => {
  const loads = new KindLoads([{ kind: "limited", atOnceMax: { running: 4, waiting: 5, ofShare: 3 } }]);
  const rows = ["a", "a", "a", "a", "b", "b", "b"].map((share) => ({ kind: "limited", share }));
  const fitting = (limit = 100): string => loads.fitting(rows, limit).reduce((shares, { share }) => shares + share, "");
  expect([fitting(), fitting(2), fitting(0)]).toEqual(["aaab", "aa", ""]);
  const gate = Promise.withResolvers<void>();
  const waits = ["c", "d", "e"].map((share) => {
    loads.begin({ kind: "limited", share });
    return loads.whileWaiting("limited", () => gate.promise);
  });
  // Three jobs of the kind wait for another server, so two more jobs may begin.
  expect(fitting()).toBe("aa");
  expect(loads.full()).toEqual({ kinds: [], shares: [] });
  for (let n = 0; n < 2; n++) {
    loads.begin({ kind: "limited", share: "a" });
    waits.push(loads.whileWaiting("limited", () => gate.promise));
  }
  expect({ fitting: fitting(), full: loads.full().kinds }).toEqual({ fitting: "", full: ["limited"] });
  expect(loads.fitting([{ kind: "other", share: "a" }], 1)).toHaveLength(1);
  gate.resolve();
  await Promise.race(waits);
});

test("a job that waited for its turn precedes one that has not begun, even if several have", async () => {
  const loads = new KindLoads([{ kind: "limited", atOnceMax: { running: 2, waiting: 9 } }]);
  const row = { kind: "limited", share: "a" };
  const gate = Promise.withResolvers<void>();
  for (let n = 0; n < 2; n++) {
    loads.begin(row);
    void loads.whileWaiting("limited", () => gate.promise);
  }
  for (let n = 0; n < 2; n++) loads.begin(row);
  gate.resolve();
  await turns(10);
  loads.end(row);
  expect(loads.fitting([row], 1)).toEqual([]);
});

test("each end of a run lets exactly one more of its share begin", () => {
  const loads = new KindLoads([{ kind: "limited", atOnceMax: { running: 9, waiting: 9, ofShare: 3 } }]);
  const rows = Array.from({ length: 9 }, () => ({ kind: "limited", share: "a" }));
  const [row] = rows as [(typeof rows)[number]];
  for (let n = 0; n < 3; n++) loads.begin(row);
  const begins: number[] = [loads.fitting(rows, 9).length];
  for (let n = 0; n < 3; n++) {
    loads.end(row);
    begins.push(loads.fitting(rows, 9).length);
  }
  expect(begins).toEqual([0, 1, 2, 3]);
});
