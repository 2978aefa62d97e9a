/** Measures how the server records activity and reads it, in one process: the feature's store is compared to bare upserts, and reads at two sizes. */
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addToSums, listDays, sumUntil } from "#feature/microblog-insights/insight-sums.store";
import { microblogInsights } from "#features/microblog-insights";
import { nodeId } from "#kernel/ids";
import { openSqlite } from "#storage/sqlite/open";
import type { Bench } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";

const FEW = 10_000;
/** The number of activities. Each activity changes six sums, and the sum for the second of the activity is always a new row. */
const MANY = 1_000_000;
/** The number of activities in one transaction, as for a world file or for many requests that are committed together. */
const PER_TRANSACTION = 1_000;
const DAYS = 60;
const METRICS = ["views", "likes", "replies", "reposts"] as const;

const DAY_SECONDS = 86_400;
const FIRST_DAY = 20_000;

/**
 * The number of targets, chosen so that each target has one activity for each day and metric. With this number of targets, a read of a target returns
 * the same number of rows at both sizes of the data.
 */
const targetsOf = (count: number): number => Math.min(1_000, Math.floor(count / DAYS / METRICS.length));

/** Returns the activity with number `i`. The activities are spread over 60 days in random order, each at a different second of its day. */
function activity(i: number, targets: number) {
  const cycle = targets * METRICS.length * DAYS;
  const at = (i * 7_919) % cycle;
  return {
    target: String(7_000_000 + (Math.floor(at / DAYS / METRICS.length) % targets)),
    metric: METRICS[Math.floor(at / DAYS) % METRICS.length] as string,
    start: (FIRST_DAY + (at % DAYS)) * DAY_SECONDS + ((i * 4_001) % DAY_SECONDS),
  };
}

type Store = Awaited<ReturnType<typeof openSqlite>>;

async function record(store: Store, from: number, count: number, targets: number): Promise<number> {
  const startMs = performance.now();
  for (let at = from; at < from + count; at += PER_TRANSACTION) {
    await store.write(async (tx) => {
      for (let i = at; i < at + PER_TRANSACTION; i++) {
        await addToSums(tx, { ...activity(i, targets), label: "", value: 1 });
      }
    });
  }
  return count / ((performance.now() - startMs) / 1000);
}

/** The floor, which increments the same rows as the feature's store, and does nothing else. */
function floorOf(folder: string): (from: number, count: number) => number {
  const database = new Database(join(folder, "floor.sqlite"));
  for (const pragma of ["journal_mode = WAL", "synchronous = FULL"]) database.run(`PRAGMA ${pragma}`);
  database.run(
    "CREATE TABLE sums (target BIGINT, metric TEXT, span INTEGER, start BIGINT, label TEXT, value BIGINT, PRIMARY KEY (target, metric, span, start, label)) WITHOUT ROWID",
  );
  const rows = [1, 60, 3_600, 86_400, 2_764_800, 88_473_600].map((span) => `(?1, ?2, ${span}, ?3 - ?3 % ${span}, '', 1)`).join(", ");
  const add = database.prepare(`INSERT INTO sums VALUES ${rows} ON CONFLICT DO UPDATE SET value = value + 1`);
  return (from, count) => {
    const startMs = performance.now();
    for (let at = from; at < from + count; at += PER_TRANSACTION) {
      database.run("BEGIN IMMEDIATE");
      for (let i = at; i < at + PER_TRANSACTION; i++) {
        const { target, metric, start } = activity(i, targetsOf(MANY));
        add.run(target, metric, start);
      }
      database.run("COMMIT");
    }
    return count / ((performance.now() - startMs) / 1000);
  };
}

/** Measures the microseconds of the two queries of a read: a month of one metric, and the metric's value at one moment. */
async function timeReads(store: Store, targets: number): Promise<number> {
  const READS = 5_000;
  const startMs = performance.now();
  for (let i = 0; i < READS; i++) {
    const target = nodeId(String(7_000_000 + (i % targets)));
    await listDays(store.reader, target, "views", FIRST_DAY * DAY_SECONDS, (FIRST_DAY + 31) * DAY_SECONDS);
    await sumUntil(store.reader, target, "views", (FIRST_DAY + DAYS) * DAY_SECONDS);
  }
  return ((performance.now() - startMs) / READS) * 1000;
}

export const bench: Bench = {
  summary: `Records ${MANY.toLocaleString("en")} activities, each at a different second, ${PER_TRANSACTION.toLocaleString("en")} in each commit, and compares how long this takes with how long plain upserts take. Then compares the time of reads with that of reads when only ${FEW.toLocaleString("en")} activities are recorded.`,
  async run({ rounds }) {
    const folder = mkdtempSync(join(tmpdir(), "plaza-bench-"));
    const migrations = [{ feature: "microblog-insights", migrations: microblogInsights.migrations }];
    const few = await openSqlite({ folder: join(folder, "few"), migrations });
    const many = await openSqlite({ folder: join(folder, "many"), migrations });
    const floor = floorOf(folder);
    try {
      await record(few, 0, FEW, targetsOf(FEW));
      const part = MANY / rounds / PER_TRANSACTION;
      const size = Math.ceil(part) * PER_TRANSACTION;
      const rates: { ours: number; bare: number }[] = [];
      for (let round = 0; round < rounds; round++) {
        const bare = floor(round * size, size);
        rates.push({ bare, ours: await record(many, round * size, size, targetsOf(MANY)) });
      }
      const reads: { few: number; many: number }[] = [];
      for (let round = 0; round < rounds; round++)
        reads.push({ few: await timeReads(few, targetsOf(FEW)), many: await timeReads(many, targetsOf(MANY)) });
      return {
        metrics: [
          { name: "recorded/s (Plaza divided by floor)", ...spreadOf(rates.map(({ ours, bare }) => ours / bare)), goal: { at_least: 0.5 } },
          { name: "time of a read (many divided by few)", ...spreadOf(reads.map((read) => read.many / read.few)), goal: { at_most: 1.3 } },
        ],
        absolute: [
          { name: "Plaza: recorded/s", unit: "/s", ...spreadOf(rates.map(({ ours }) => ours)) },
          { name: "floor: recorded/s", unit: "/s", ...spreadOf(rates.map(({ bare }) => bare)) },
          { name: "read with many recorded", unit: "µs", ...spreadOf(reads.map((read) => read.many)) },
        ],
      };
    } finally {
      await Promise.all([few.close(), many.close()]);
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
