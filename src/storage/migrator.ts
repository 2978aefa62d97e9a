/**
 * Runs migrations for both database drivers. The driver opens the transaction and takes a lock, so that two processes that start at the same time do
 * not both migrate: on PostgreSQL an advisory lock, on SQLite the lock on the data folder.
 *
 * Two releases can run side by side (D-346): a migration either only adds something (expand), or removes something that no program has used since an
 * earlier migration (contract). A program works on data with additions that it does not know, and refuses data that lacks something that it uses.
 */
import type { FeatureMigrations, Migration, OnProgress } from "./database.ts";

/**
 * The table of the migrations that have run. `applied_time` is in Unix seconds, by the database's own clock. `contracts` is the field of `Migration`,
 * or empty if the migration only adds something.
 */
export const migrationsTable =
  "CREATE TABLE IF NOT EXISTS migrations (feature TEXT NOT NULL, name TEXT NOT NULL, applied_time BIGINT NOT NULL, contracts TEXT, PRIMARY KEY (feature, name)) WITHOUT ROWID";

export interface Applied {
  readonly feature: string;
  readonly name: string;
  readonly contracts: string;
}

/** Another process that is using the data. */
export interface LiveProcess {
  readonly version: string;
  /** The migrations that the program of that process contains, each as `feature/name`. */
  readonly knows: readonly string[];
}

export interface MigrationTarget {
  applied(): Promise<readonly Applied[]>;
  execute(statement: string): Promise<void>;
  /** Runs a statement whose one parameter is `rows`. Resolves with the number of changed rows. */
  executeBatch(statement: string, rows: number): Promise<number>;
  /** After a migration has run, inserts its row into the table of migrations. */
  record(feature: string, name: string, contracts: string): Promise<void>;
  /** Commits the statements that have run so far, and begins the next transaction. */
  commit(): Promise<void>;
  /** Lists the other processes that use the data. */
  liveProcesses(): Promise<readonly LiveProcess[]>;
}

/** The error for data that has a migration that this program does not know, if the migration may have removed something that the program uses. */
export class UnknownMigration extends Error {
  constructor(
    readonly feature: string,
    readonly migration: string,
  ) {
    super(`a newer version of Plaza changed the data: this version does not know the migration ${feature}/${migration}. Start the newer version`);
    this.name = "UnknownMigration";
  }
}

/** The error for a migration that would change data that a live process of an older version uses. */
class OlderProcessRuns extends Error {
  constructor(migration: string, version: string) {
    super(
      `the migration ${migration} would change data that a running process of version ${version} uses: end the processes of that version, and start Plaza again. A killed process counts as running for one more minute`,
    );
    this.name = "OlderProcessRuns";
  }
}

/**
 * The error for a statement of a migration that failed; `cause` is the driver's error. After this error the statements since the last committed batch
 * are rolled back.
 */
export class MigrationFailed extends Error {
  constructor(feature: string, migration: string, cause: unknown) {
    super(`the migration ${feature}/${migration} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "MigrationFailed";
  }
}

const keyOf = (feature: string, name: string): string => `${feature}/${name}`;

/** Returns the `feature/name` of each migration. */
export const keysOf = (features: readonly FeatureMigrations[]): string[] =>
  features.flatMap(({ feature, migrations }) => migrations.map(({ name }) => keyOf(feature, name)));

interface Pending {
  readonly feature: string;
  readonly migration: Migration;
}

/** Lists the migrations that have not run on the data yet. Throws `UnknownMigration`. */
export function pendingOf(features: readonly FeatureMigrations[], applied: readonly Applied[]): Pending[] {
  const known = new Set<string>();
  for (const key of keysOf(features)) {
    if (known.has(key)) throw new Error(`two migrations are called ${key}`);
    known.add(key);
  }
  const ran = new Set<string>();
  for (const { feature, name, contracts } of applied) {
    const key = keyOf(feature, name);
    if (!known.has(key) && contracts !== "" && !known.has(contracts)) throw new UnknownMigration(feature, name);
    ran.add(key);
  }
  return features.flatMap(({ feature, migrations }) =>
    migrations.filter(({ name }) => !ran.has(keyOf(feature, name))).map((migration) => ({ feature, migration })),
  );
}

/** Throws `OlderProcessRuns` if one of the other processes may use something that one of the pending migrations removes. */
function requireNoOlder(pending: readonly Pending[], processes: readonly LiveProcess[]): void {
  for (const { feature, migration } of pending) {
    const { name, contracts } = migration;
    const older = processes.find(({ knows }) => contracts !== undefined && !knows.includes(contracts));
    if (older !== undefined) throw new OlderProcessRuns(keyOf(feature, name), older.version);
  }
}

/**
 * The number of rows in a migration's first batch, which takes milliseconds. Each later batch of a migration has as many rows as fit into `BATCH_MS`.
 */
const FIRST_ROWS = 500;
const ROWS_MAX = 100_000;
/**
 * The planned duration of one batch of a migration. A batch may take a second, but it is planned for half a second, because some rows take longer
 * than others.
 */
const BATCH_MS = 500;

/**
 * Runs the missing migrations in the given order, and returns how many ran. Before this call the caller must open a transaction and create the table
 * of migrations.
 */
export async function migrate(target: MigrationTarget, features: readonly FeatureMigrations[], onProgress: OnProgress = () => {}): Promise<number> {
  const pending = pendingOf(features, await target.applied());
  if (pending.length > 0) requireNoOlder(pending, await target.liveProcesses());
  for (const [done, { feature, migration }] of pending.entries()) {
    const { name, statements, batch, contracts = "" } = migration;
    const report = (rows: number): void => onProgress({ migration: keyOf(feature, name), done, total: pending.length, rows });
    try {
      report(0);
      for (const statement of statements) await target.execute(statement);
      if (batch !== undefined) await runBatches(target, batch, report);
    } catch (cause) {
      throw new MigrationFailed(feature, name, cause);
    }
    await target.record(feature, name, contracts);
  }
  return pending.length;
}

/**
 * Runs the batches of a migration. Each batch of a migration is durable before the next batch begins, so an interrupted migration continues after its
 * last batch.
 */
async function runBatches(target: MigrationTarget, batch: string, report: (rows: number) => void): Promise<void> {
  await target.commit();
  for (let [size, rows] = [FIRST_ROWS, 0]; ; ) {
    // The duration is real time from the machine's clock, because a batch must not lock rows for long.
    const begunMs = performance.now();
    const changed = await target.executeBatch(batch, size);
    await target.commit();
    if (changed === 0) return;
    rows += changed;
    report(rows);
    // The end of the duration is real time from the machine's clock, as the start of the batch is.
    const tookMs = Math.max(1, performance.now() - begunMs);
    size = Math.max(1, Math.min(ROWS_MAX, size * 2, Math.floor((size * BATCH_MS) / tookMs)));
  }
}
