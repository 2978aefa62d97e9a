import { expect, test } from "bun:test";
import fc from "fast-check";
import { afterThisTest } from "#harness/cleanup";
import { movedClock, newWorkStore, onBothDatabases } from "#harness/work-database";
import type { Database, FeatureMigrations } from "#storage/database";
import { sql } from "#storage/sql";
import { type JobKind, JobLost } from "./job-kind.ts";
import { jobMigrations } from "./jobs.migrations.ts";
import { Jobs } from "./jobs.ts";
import { WorkLoop } from "./work-loop.ts";
import { LEASE_MS } from "./work-session.ts";

const effects: FeatureMigrations = {
  feature: "effects",
  migrations: [{ name: "effects", statements: ["CREATE TABLE effects (name TEXT NOT NULL, times INTEGER NOT NULL, PRIMARY KEY (name))"] }],
};
const migrations = [jobMigrations, effects];

interface Ran {
  readonly kind: string;
  readonly key: string;
  readonly payload: unknown;
  readonly attempt: number;
}

interface Plant {
  readonly database: Database;
  readonly clock: ReturnType<typeof movedClock>;
  readonly loop: WorkLoop;
  readonly jobs: Jobs<Plant>;
  readonly ran: Ran[];
  readonly failures: unknown[];
}

/** One process that works on `database`. */
function plantOn(database: Database, kinds: readonly JobKind<Plant>[] = [], real = movedClock(), clock = movedClock()): Plant {
  const ran: Ran[] = [];
  const failures: unknown[] = [];
  const loop = new WorkLoop({ database, clock, realNowMs: () => real.ms, onError: (error) => failures.push(error) });
  const noted: JobKind<Plant> = {
    kind: "noted",
    run: async (_world, key, payload, { attempt }) => void ran.push({ kind: "noted", key, payload, attempt }),
  };
  const plant: Plant = {
    database,
    clock,
    loop,
    ran,
    failures,
    jobs: new Jobs<Plant>({ database, loop, kinds: [noted, ...kinds], world: () => plant, onFailure: (_kind, _key, error) => failures.push(error) }),
  };
  afterThisTest(() => loop.stop());
  return plant;
}

const timesOf = async (database: Database, name: string): Promise<number> =>
  (await database.reader.get<{ times: number }>(sql`SELECT e.times FROM effects e WHERE e.name = ${name}`))?.times ?? 0;

onBothDatabases("jobs", (kind) => {
  const newPlant = async (kinds: readonly JobKind<Plant>[] = []) => plantOn(await (await newWorkStore(kind, migrations)).open(), kinds);
  const schedule = ({ jobs, database }: Plant, key: string, dueMs: number, payload?: unknown, of = "noted") =>
    database.write((tx) => jobs.schedule(tx, { kind: of, key, dueMs, payload }));

  test("a job runs when the world's clock has reached its time, and once", async () => {
    const plant = await newPlant();
    await schedule(plant, "one", plant.clock.ms + 1_000, { a: [1, "ä𝄞"] });
    await plant.loop.runDue();
    expect(plant.ran).toEqual([]);
    plant.clock.ms += 1_000;
    await plant.loop.runDue();
    await plant.loop.runDue();
    expect(plant.ran).toEqual([{ kind: "noted", key: "one", payload: { a: [1, "ä𝄞"] }, attempt: 1 }]);
    expect(await plant.jobs.dueTimeOf(plant.database.reader, "noted", "one")).toBeUndefined();
  });

  test("a second job of the same kind and key replaces the first; a cancelled one never runs", async () => {
    const plant = await newPlant();
    await schedule(plant, "moved", plant.clock.ms, 1);
    await schedule(plant, "moved", plant.clock.ms + 5, 2);
    await schedule(plant, "gone", plant.clock.ms, 3);
    expect(await plant.database.write((tx) => plant.jobs.cancel(tx, "noted", "gone"))).toBe(true);
    expect(await plant.database.write((tx) => plant.jobs.cancel(tx, "noted", "gone"))).toBe(false);
    await plant.loop.runDue();
    expect(plant.ran).toEqual([]);
    plant.clock.ms += 5;
    await plant.loop.runDue();
    expect(plant.ran.map(({ payload }) => payload)).toEqual([2]);
  });

  test("a job whose cause was rolled back does not exist", async () => {
    const plant = await newPlant();
    const refused = plant.database.write(async (tx) => {
      await plant.jobs.schedule(tx, { kind: "noted", key: "k", dueMs: 0 });
      throw new Error("refused");
    });
    await expect(refused).rejects.toThrow("refused");
    await refused.catch(() => {});
    await plant.loop.runDue();
    expect(plant.ran).toEqual([]);
  });

  test("a kind that no feature declares is refused where it is scheduled", async () => {
    const plant = await newPlant();
    await expect(schedule(plant, "k", 0, null, "unknown")).rejects.toThrow("no feature declares a job of kind unknown");
  });

  test("what a job makes due is done as well before runDue ends", async () => {
    const chain: JobKind<Plant> = {
      kind: "chain",
      async run({ jobs, database, clock, ran }, key, payload) {
        ran.push({ kind: "chain", key, payload, attempt: 1 });
        const left = payload as number;
        if (left > 0) await database.write((tx) => jobs.schedule(tx, { kind: "chain", key, dueMs: clock.ms, payload: left - 1 }));
      },
    };
    const plant = await newPlant([chain]);
    await schedule(plant, "k", plant.clock.ms, 3, "chain");
    await plant.loop.runDue();
    expect(plant.ran.map(({ payload }) => payload)).toEqual([3, 2, 1, 0]);
  });

  test("a job that throws comes again later, each time with a longer wait, and its error is kept", async () => {
    const attempts: number[] = [];
    const flaky: JobKind<Plant> = {
      kind: "flaky",
      async run(_plant, _key, _payload, { attempt }) {
        attempts.push(attempt);
        if (attempt < 3) throw new Error(`attempt ${attempt} fails`);
      },
    };
    const plant = await newPlant([flaky]);
    await schedule(plant, "k", 0, null, "flaky");
    await plant.loop.runDue();
    expect(attempts).toEqual([1]);
    const first = (await plant.jobs.dueTimeOf(plant.database.reader, "flaky", "k")) ?? 0;
    expect(first - plant.clock.ms).toBeWithin(900, 1_001);
    plant.clock.ms = first;
    await plant.loop.runDue();
    const second = (await plant.jobs.dueTimeOf(plant.database.reader, "flaky", "k")) ?? 0;
    expect(second - plant.clock.ms).toBeWithin(4_500, 5_001);
    plant.clock.ms = second;
    await plant.loop.runDue();
    expect(attempts).toEqual([1, 2, 3]);
    expect(plant.failures.map(String)).toEqual(["Error: attempt 1 fails", "Error: attempt 2 fails"]);
    expect(await plant.jobs.dueTimeOf(plant.database.reader, "flaky", "k")).toBeUndefined();
  });

  test("a job that is settled in its transaction and then throws has happened, once", async () => {
    const counting: JobKind<Plant> = {
      kind: "counting",
      async run({ database }, key, _payload, job) {
        await database.write(async (tx) => {
          await job.settle(tx);
          await tx.run(sql`INSERT INTO effects (name, times) VALUES (${key}, 1) ON CONFLICT (name) DO UPDATE SET times = effects.times + 1`);
        });
        throw new Error("after the effect");
      },
    };
    const plant = await newPlant([counting]);
    await schedule(plant, "k", 0, null, "counting");
    await plant.loop.runDue();
    plant.clock.ms += 3_600_000;
    await plant.loop.runDue();
    expect(await timesOf(plant.database, "k")).toBe(1);
  });

  test("a run whose job was replaced meanwhile cannot settle, so its effect is undone; the new one runs", async () => {
    const lost: unknown[] = [];
    const replaced: JobKind<Plant> = {
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
    const plant = await newPlant([replaced]);
    await schedule(plant, "k", 0, 1, "replaced");
    await plant.loop.runDue();
    expect(lost).toHaveLength(1);
    expect(lost[0]).toBeInstanceOf(JobLost);
    expect([await timesOf(plant.database, "effect of 1"), await timesOf(plant.database, "effect of 2")]).toEqual([0, 1]);
    expect(plant.failures).toEqual([]);
  });

  test("a job that takes long does not hold up the others", async () => {
    let end = (): void => {};
    const long: JobKind<Plant> = { kind: "long", run: () => new Promise((resolve) => (end = resolve)) };
    const plant = await newPlant([long]);
    plant.loop.start();
    await schedule(plant, "k", 0, null, "long");
    await schedule(plant, "other", 0);
    while (plant.ran.length === 0) await Bun.sleep(1);
    expect(plant.ran.map(({ key }) => key)).toEqual(["other"]);
    end();
    await plant.jobs.settled();
  });

  test("a started loop runs a job without being asked, at its time", async () => {
    const database = await (await newWorkStore(kind, migrations)).open();
    const real = { ms: 0, nowMs: () => Date.now() };
    const plant = plantOn(database, [], movedClock(), real);
    plant.loop.start();
    const dueMs = Date.now() + 60;
    await schedule(plant, "k", dueMs);
    while (plant.ran.length === 0) await Bun.sleep(5);
    expect(Date.now() - dueMs).toBeWithin(0, 1_000);
    await plant.loop.stop();
    await schedule(plant, "late", 0);
    await Bun.sleep(30);
    expect(plant.ran).toHaveLength(1);
  });

  test("a long move of the clock passes by each job at its time", async () => {
    const at: number[] = [];
    const hourly: JobKind<Plant> = {
      kind: "hourly",
      async run({ jobs, database, clock }, key) {
        at.push(clock.ms);
        await database.write((tx) => jobs.schedule(tx, { kind: "hourly", key, dueMs: clock.ms + 3_600_000 }));
      },
    };
    const plant = await newPlant([hourly]);
    const start = plant.clock.ms;
    await schedule(plant, "k", start + 3_600_000, null, "hourly");
    const moves: number[] = [];
    await plant.loop.runUntil(start + 10 * 3_600_000, async (ms) => {
      moves.push(ms);
      plant.clock.ms = ms;
    });
    expect(at).toEqual(Array.from({ length: 10 }, (_, hour) => start + (hour + 1) * 3_600_000));
    expect(moves.at(-1)).toBe(start + 10 * 3_600_000);
    expect(moves.length).toBeLessThan(15);
  });

  test("any schedule runs each job at or after its time, in the order of times, each once", async () => {
    const plant = await newPlant();
    const start = plant.clock.ms;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.record({ key: fc.string({ unit: "grapheme", minLength: 1 }), waitMs: fc.nat(50) }), {
          selector: ({ key }) => key,
          maxLength: 12,
        }),
        async (given) => {
          const usable = given.filter(({ key }) => !key.includes("\u0000"));
          const base = plant.clock.ms;
          for (const { key, waitMs } of usable) await schedule(plant, key, base + waitMs, base + waitMs);
          plant.ran.length = 0;
          for (let passed = 0; passed <= 50; passed += 10) {
            plant.clock.ms = base + passed;
            await plant.loop.runDue();
            const due = usable.filter(({ waitMs }) => waitMs <= passed).map(({ key }) => key);
            expect(plant.ran.map(({ key }) => key).sort()).toEqual(due.sort());
          }
        },
      ),
      { numRuns: 8 },
    );
    expect(plant.clock.ms).toBeGreaterThanOrEqual(start);
  });
});

onBothDatabases("jobs of a process that ended", (kind) => {
  test("are run by the next one: at once on SQLite, when the lease is over on PostgreSQL", async () => {
    const store = await newWorkStore(kind, migrations);
    const database = await store.open();
    let end = (): void => {};
    const hanging: JobKind<Plant> = { kind: "hanging", run: () => new Promise((resolve) => (end = resolve)) };
    // Nothing that it does from now on reaches the database: as good as dead.
    const dead = plantOn(database, [hanging]);
    afterThisTest(async () => end());
    await database.write((tx) => dead.jobs.schedule(tx, { kind: "hanging", key: "k", dueMs: 0 }));
    dead.loop.start();
    while ((await dead.jobs.dueTimeOf(database.reader, "hanging", "k")) !== undefined && !(await isClaimed(database))) await Bun.sleep(1);

    const seen: number[] = [];
    const finishing: JobKind<Plant> = { kind: "hanging", run: async (_plant, _key, _payload, { attempt }) => void seen.push(attempt) };
    const real = movedClock();
    const next = plantOn(kind === "postgres" ? await store.open() : database, [finishing], real);
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
  const store = await newWorkStore("postgres", migrations);
  const [one, other] = [plantOn(await store.open()), plantOn(await store.open())];
  const keys = Array.from({ length: 200 }, (_, at) => `job ${String(at).padStart(3, "0")}`);
  await one.database.write(async (tx) => {
    for (const key of keys) await one.jobs.schedule(tx, { kind: "noted", key, dueMs: 0 });
  });
  await Promise.all([one.loop.runDue(), other.loop.runDue()]);
  expect([...one.ran, ...other.ran].map(({ key }) => key).sort()).toEqual(keys);
  expect(one.ran.length).toBeGreaterThan(0);
  expect(other.ran.length).toBeGreaterThan(0);
});
