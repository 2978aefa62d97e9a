/** A database with some migrations and a clock that the test moves, for tests of jobs and webhooks without the graph. */
import type { JobKind } from "#jobs/job-kind";
import { Jobs } from "#jobs/jobs";
import { WorkLoop } from "#jobs/work-loop";
import type { Database, FeatureMigrations } from "#storage/database";
import { openDatabase } from "#storage/open";
import { afterThisTest } from "./cleanup.ts";
import type { DatabaseKind } from "./databases.ts";
import { sharedPostgres } from "./postgres-cluster.ts";

let count = 0;
export interface WorkStore {
  /**
   * Opens the database. On PostgreSQL, each call of this function stands for another process; on SQLite (`:memory:`), a test calls the function once.
   */
  open(): Promise<Database>;
}

export async function newWorkStore(kind: DatabaseKind, migrations: readonly FeatureMigrations[]): Promise<WorkStore> {
  const world = `work${process.pid}_${++count}`;
  const data = kind === "postgres" ? (await sharedPostgres()).url : ":memory:";
  return {
    async open() {
      const database = await openDatabase({ data, world, migrations });
      afterThisTest(() => database.close());
      return database;
    },
  };
}

export interface MovedClock {
  ms: number;
  nowMs(): number;
}

/** A clock that stands still until the test moves it. */
export const movedClock = (ms = 1_795_000_000_000): MovedClock => ({
  ms,
  nowMs() {
    return this.ms;
  },
});

interface Ran {
  readonly kind: string;
  readonly key: string;
  readonly payload: unknown;
  readonly attempt: number;
}

export interface JobWorker {
  readonly database: Database;
  readonly clock: ReturnType<typeof movedClock>;
  readonly loop: WorkLoop;
  readonly jobs: Jobs<JobWorker>;
  readonly ran: Ran[];
  readonly failures: unknown[];
}

/**
 * A fake process that works on the jobs of `database`. A job of the kind `noted` does nothing except record that it ran. `stored` is the clock
 * setting that another process has stored and this process does not know yet.
 */
export function jobWorkerOn(
  database: Database,
  kinds: readonly JobKind<JobWorker>[] = [],
  real = movedClock(),
  clock = movedClock(),
  stored = clock,
): JobWorker {
  const ran: Ran[] = [];
  const failures: unknown[] = [];
  const loop = new WorkLoop({
    ...{ database, clock, storedNowMs: async () => stored.nowMs(), realNowMs: () => real.ms },
    onError: (error) => failures.push(error),
  });
  const noted: JobKind<JobWorker> = {
    kind: "noted",
    run: async (_world, key, payload, { attempt }) => void ran.push({ kind: "noted", key, payload, attempt }),
  };
  const worker: JobWorker = {
    database,
    clock,
    loop,
    ran,
    failures,
    jobs: new Jobs<JobWorker>({
      database,
      loop,
      kinds: [noted, ...kinds],
      world: () => worker,
      onFailure: (_kind, _key, error) => failures.push(error),
    }),
  };
  afterThisTest(() => loop.stop());
  return worker;
}
