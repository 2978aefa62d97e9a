/**
 * Migrations: the part that both drivers share. A driver opens the transaction and takes the lock, so that two processes
 * that start at once do not migrate twice: PostgreSQL by an advisory lock, SQLite by the lock on its folder.
 *
 * Two releases side by side (D-346): a migration only adds (expand), or it takes away something that no program uses since an earlier migration (contract). A program
 * works on data with added things that it does not know, and refuses data from which something was taken that it uses.
 */
import type { FeatureMigrations, Migration, OnProgress } from "./database.ts";

/** `applied_time` is in Unix seconds, by the database's own clock. `contracts`: as in `Migration`, empty if it only adds. */
export const migrationsTable =
  "CREATE TABLE IF NOT EXISTS migrations (feature TEXT NOT NULL, name TEXT NOT NULL, applied_time BIGINT NOT NULL, contracts TEXT, PRIMARY KEY (feature, name)) WITHOUT ROWID";
/** For a table that an earlier program made. */
export const contractsColumn = "ALTER TABLE migrations ADD COLUMN contracts TEXT";

interface Applied {
  readonly feature: string;
  readonly name: string;
  /** Null: an earlier program wrote it, which did not say. */
  readonly contracts: string | null;
}

/** Another process that uses the data now. */
export interface LiveProcess {
  readonly version: string;
  /** The migrations that its program knows, `feature/name`. Undefined: it does not say. */
  readonly knows: readonly string[] | undefined;
}

export interface MigrationTarget {
  applied(): Promise<readonly Applied[]>;
  execute(statement: string): Promise<void>;
  /** A statement with one parameter. Resolves with the number of changed rows. */
  executeBatch(statement: string, rows: number): Promise<number>;
  /** Writes the row of a migration after it ran. */
  record(feature: string, name: string, contracts: string): Promise<void>;
  /** Makes durable what ran so far, and begins the next transaction. */
  commit(): Promise<void>;
  /** Without this one. */
  liveProcesses(): Promise<readonly LiveProcess[]>;
}

/** The data has a migration that this program does not know, and cannot work with. */
export class UnknownMigration extends Error {
  constructor(
    readonly feature: string,
    readonly migration: string,
  ) {
    super(
      `the data has the migration ${feature}/${migration}, which this program does not know: a newer version wrote it. Start that version, or a newer one`,
    );
    this.name = "UnknownMigration";
  }
}

/** A migration would change data that a live process of an older version uses. */
class OlderProcessRuns extends Error {
  constructor(migration: string, version: string) {
    super(
      `the migration ${migration} would change what a running process of version ${version} uses: end the processes of that version, and start again. A process that was killed counts for a minute`,
    );
    this.name = "OlderProcessRuns";
  }
}

/** A statement of a migration failed; `cause` is the driver's error. The statements since the last batch are rolled back. */
export class MigrationFailed extends Error {
  constructor(feature: string, migration: string, cause: unknown) {
    super(`the migration ${feature}/${migration} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "MigrationFailed";
  }
}

const keyOf = (feature: string, name: string): string => `${feature}/${name}`;

/** `feature/name` of each. */
export const keysOf = (features: readonly FeatureMigrations[]): string[] =>
  features.flatMap(({ feature, migrations }) => migrations.map(({ name }) => keyOf(feature, name)));

interface Pending {
  readonly feature: string;
  readonly migration: Migration;
}

/** The migrations that have not run on the data. Throws `UnknownMigration`. */
export function pendingOf(features: readonly FeatureMigrations[], applied: readonly Applied[]): Pending[] {
  const known = new Set<string>();
  for (const key of keysOf(features)) {
    if (known.has(key)) throw new Error(`two migrations are called ${key}`);
    known.add(key);
  }
  const ran = new Set<string>();
  for (const { feature, name, contracts } of applied) {
    const key = keyOf(feature, name);
    if (!known.has(key) && contracts !== "" && !(contracts !== null && known.has(contracts))) throw new UnknownMigration(feature, name);
    ran.add(key);
  }
  return features.flatMap(({ feature, migrations }) =>
    migrations.filter(({ name }) => !ran.has(keyOf(feature, name))).map((migration) => ({ feature, migration })),
  );
}

/** Throws `OlderProcessRuns`. */
function requireNoOlder(pending: readonly Pending[], processes: readonly LiveProcess[]): void {
  for (const { feature, migration } of pending) {
    const { name, contracts } = migration;
    const older = processes.find(({ knows }) => knows === undefined || (contracts !== undefined && !knows.includes(contracts)));
    if (older !== undefined) throw new OlderProcessRuns(keyOf(feature, name), older.version);
  }
}

/** A batch of this many rows takes milliseconds; later ones take as many as fit into the time. */
const FIRST_ROWS = 500;
const ROWS_MAX = 100_000;
/** Half of the second that a batch may take: rows differ. */
const BATCH_MS = 500;

/** Runs the missing migrations in the given order. The caller has opened a transaction and created the table. Returns how many ran. */
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

/** Each batch is durable before the next one, so a run that is ended goes on where it was. */
async function runBatches(target: MigrationTarget, batch: string, report: (rows: number) => void): Promise<void> {
  await target.commit();
  for (let [size, rows] = [FIRST_ROWS, 0]; ; ) {
    // The machine's clock: a batch must not lock rows for long.
    const begunMs = performance.now();
    const changed = await target.executeBatch(batch, size);
    await target.commit();
    if (changed === 0) return;
    rows += changed;
    report(rows);
    // The machine's clock, as when the batch began.
    const tookMs = Math.max(1, performance.now() - begunMs);
    size = Math.max(1, Math.min(ROWS_MAX, size * 2, Math.floor((size * BATCH_MS) / tookMs)));
  }
}
