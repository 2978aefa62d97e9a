/** Tests commits that fail because the connection broke: the database has stored some of these commits all the same, and not the others. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { startReceiver, valuesAt } from "#harness/receiver";
import { fixtureMigrations, newFeatures, openWebhooks } from "#harness/webhooks";
import { type JobWorker, jobWorkerOn, newWorkStore } from "#harness/work-database";
import type { JobKind } from "#jobs/job-kind";
import { jobMigrations } from "#jobs/jobs.migrations";
import { databaseUnreachable } from "#kernel/errors";
import type { Database } from "#storage/database";
import { sql } from "#storage/sql";
import { TimeOrderedIds } from "#system";
import { Callbacks } from "../callbacks/callbacks.ts";
import { retentionJob } from "../callbacks/health-jobs.ts";
import { listDeliveries } from "../history/list.store.ts";
import type { Claimed } from "./claims.ts";
import { ResultWriter } from "./results.ts";

/**
 * Makes some write transactions fail after their commit, as if the database's answer was lost. The writes are given by their numbers, counted from
 * this call on.
 */
function losing(database: Database, lost: (write: number) => boolean): void {
  const write = database.write.bind(database);
  let writes = 0;
  database.write = async (body) => {
    const result = await write(body);
    if (lost(writes++)) throw databaseUnreachable();
    return result;
  };
}

const sessionsIn = async ({ reader }: Database): Promise<number> => (await reader.all(sql`SELECT s.fence FROM work_sessions s`)).length;

/** Rolls some write transactions back after their function has run, as if the database had refused their commit. */
function undoing(database: Database, isUndone: (write: number) => boolean): void {
  const write = database.write.bind(database);
  let writes = 0;
  database.write = (body) => {
    const isThisUndone = isUndone(writes++);
    return write(async (tx) => {
      const result = await body(tx);
      if (isThisUndone) throw databaseUnreachable();
      return result;
    });
  };
}

test("deliveries that were claimed by a commit whose response is lost are still sent once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 6 }), async (broken, events) => {
      const receiver = startReceiver();
      receiver.response = () => new Response("ok");
      const database = await (await newWorkStore("postgres", fixtureMigrations)).open();
      const fixture = openWebhooks(database, { features: newFeatures(receiver.url) });
      for (let n = 0; n < events; n++) await fixture.emit(String(4_001 + (n % 3)), { n });
      losing(database, (write) => broken.includes(write));
      for (let tries = 0; tries < 20; tries++) await fixture.loop.runDue().catch(() => {});
      const { rows } = await listDeliveries(database.reader, {}, { limit: 20 });
      expect(rows.map(({ status }) => status)).toEqual(rows.map(() => 2));
      expect(receiver.posts.flatMap(({ values }) => values)).toHaveLength(events);
    }),
    { numRuns: 12 },
  );
});

test("so are jobs", async () => {
  const database = await (await newWorkStore("postgres", [jobMigrations])).open();
  const worker = jobWorkerOn(database);
  await database.write((tx) => worker.jobs.schedule(tx, { kind: "noted", key: "k", dueMs: 0 }));
  losing(database, (write) => write === 0);
  await expect(worker.loop.runDue()).rejects.toMatchObject({ errorName: "databaseUnreachable" });
  expect(worker.ran).toHaveLength(0);
  await worker.loop.runDue();
  expect(worker.ran.map(({ key }) => key)).toEqual(["k"]);
});

test("a job that runs meanwhile is not given back with those of that commit", async () => {
  const database = await (await newWorkStore("postgres", [jobMigrations])).open();
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let runs = 0;
  const slow: JobKind<JobWorker> = {
    kind: "slow",
    async run() {
      runs++;
      begun.resolve();
      await end.promise;
    },
  };
  const { jobs, loop, ran } = jobWorkerOn(database, [slow]);
  const schedule = (kind: string) => database.write((tx) => jobs.schedule(tx, { kind, key: "k", dueMs: 0 }));
  await schedule("slow");
  loop.start();
  await begun.promise;
  await schedule("noted");
  let lost = 0;
  losing(database, (write) => write === 0 && ++lost === 1);
  while (ran.length === 0) {
    loop.wake();
    await Bun.sleep(5);
  }
  end.resolve();
  await loop.runDue();
  expect({ lost, runs, ran: ran.map(({ kind }) => kind), left: await jobs.dueTimeOf(database.reader, "slow", "k") }).toEqual({
    ...{ lost: 1, runs: 1, ran: ["noted"], left: undefined },
  });
});

onEachDatabase("a commit that was rolled back", (kind) => {
  test("claims and ends nothing: each delivery is sent once, and its end is stored by a later one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 6 }), async (undone, events) => {
        const receiver = startReceiver();
        const database = await (await newWorkStore(kind, fixtureMigrations)).open();
        const fixture = openWebhooks(database, { features: newFeatures(receiver.url) });
        for (let n = 0; n < events; n++) await fixture.emit(String(4_001 + (n % 3)), { n });
        undoing(database, (write) => undone.includes(write));
        for (let tries = 0; tries < 20; tries++) await fixture.loop.runDue().catch(() => {});
        const { rows } = await listDeliveries(database.reader, {}, { limit: 20 });
        const ends = rows.map(({ status, attempts }) => ({ status, attempts: JSON.parse(attempts).length }));
        expect(ends).toEqual(rows.map(() => ({ status: 2, attempts: 1 })));
        expect(rows.length).toBeGreaterThan(0);
        expect(valuesAt(receiver)).toHaveLength(events);
        // The first commit that the database keeps also stores the retention job and the session.
        expect(await fixture.webhooks.deps.jobs.dueTimeOf(database.reader, retentionJob, "world")).toBeNumber();
        expect(await sessionsIn(database)).toBe(1);
      }),
      { numRuns: kind === "sqlite" ? 25 : 8 },
    );
  }, 60_000);

  test("runs no job, and a job whose end was rolled back ends later", async () => {
    for (const undone of [0, 1]) {
      const worker = jobWorkerOn(await (await newWorkStore(kind, [jobMigrations])).open());
      const { database, jobs, loop } = worker;
      await database.write((tx) => jobs.schedule(tx, { kind: "noted", key: "k", dueMs: 0 }));
      undoing(database, (write) => write === undone);
      for (let tries = 0; tries < 3; tries++) await loop.runDue().catch(() => {});
      expect({ undone, ran: worker.ran.map(({ key }) => key), left: await jobs.dueTimeOf(database.reader, "noted", "k") }).toEqual({
        undone,
        ran: ["k"],
        left: undefined,
      });
      expect(await sessionsIn(database)).toBe(1);
    }
  });

  test("a result that arrives when the last one has just been stored is stored without another request", async () => {
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    const { webhooks, clock } = openWebhooks(database, { features: newFeatures() });
    const resultOf = (id: string) => {
      const event = { id, object: "page", field: "feed", entity: id, phone: null, time_ms: 0, payload: "{}", traceparent: null, tracestate: null };
      const row = { ...event, event: id, app: "1001", callback: "7", members: 0, first_attempt_ms: 0, tries: 0, attempts: "[]" };
      const claimed: Claimed = { row, members: [], isRetry: false, isProbe: false, fence: 1, firstMs: 0 };
      return { claimed, outcome: { kind: "back" }, wasSent: false, atMs: 0 } as const;
    };
    const stored: string[] = [];
    let last: Promise<void> | undefined;
    const writer: ResultWriter = new ResultWriter({
      ...{ clock, database, jobs: webhooks.deps.jobs, callbacks: new Callbacks(database, new TimeOrderedIds(() => 1)), hasLog: false },
      onStored({ claimed }) {
        stored.push(claimed.row.id);
        if (stored.length > 1) return;
        // The test adds a result after the code has looked at the waiting results for the last time, and before the code has stored all results.
        queueMicrotask(() => {
          writer.add(resultOf("2"));
          last = writer.flush();
        });
      },
      onHealth() {},
    });
    writer.add(resultOf("1"));
    await writer.flush();
    await last;
    expect({ stored, isEmpty: writer.isEmpty }).toEqual({ stored: ["1", "2"], isEmpty: true });
  });
});
