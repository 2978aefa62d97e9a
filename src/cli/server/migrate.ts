/** `plaza migrate`: migrates the data of an earlier version before the servers of this version start (D-347). */
import { readConfigOfCommand } from "#config/config-file";
import { settings } from "#features";
import { migrationsOf } from "#graph/worlds/open-world";
import { buildRegistry } from "#main";
import { version } from "#package.json";
import type { Databases, MigrationProgress } from "#storage/database";
import { databasesIn } from "#storage/open";
import { monotonicMs } from "#system";
import type { Given } from "../control-client.ts";
import { exitCodeOf } from "../process-end.ts";
import { printable, say } from "../terminal/output.ts";

/** The first world. The database of the first world has the declarations of all processes of a server, so this database is opened first. */
const FIRST = "default";
const LINE_EVERY_MS = 1_000;

/** Migrates the data of all worlds. Resolves with the exit code. */
export function migrateData(given: Given): Promise<number> {
  return exitCodeOf(async () => {
    const config = await readConfigOfCommand(given, settings);
    const report = new ProgressLines();
    const databases = await databasesIn(config.data, migrationsOf(buildRegistry()), {
      ...{ version, databases: config.databases },
      onProgress: (progress) => given.json !== true && report.show(progress),
    });
    const pending = await pendingWorlds(databases);
    const count = pending.reduce((sum, { migrations }) => sum + migrations.length, 0);
    const isRun = count > 0 && given.dry_run !== true;
    const tell = given.json === true ? () => {} : say;
    for (const { world, migrations } of pending) for (const migration of migrations) tell(printable(`${world}: ${migration}`));
    if (isRun) {
      await run(databases, pending, report);
    }
    tell(count === 0 ? "nothing to migrate" : isRun ? `${count} run` : `${count} to run; nothing was changed`);
    if (given.json === true) say(JSON.stringify({ worlds: pending, run: isRun ? count : 0 }));
    return 0;
  });
}

interface PendingWorld {
  readonly world: string;
  /** The database of the option `--databases` that stores the world. */
  readonly database?: string;
  readonly migrations: readonly string[];
}

async function pendingWorlds(databases: Databases): Promise<PendingWorld[]> {
  const found: PendingWorld[] = [];
  for (const database of databases.spread.length === 0 ? [undefined] : databases.spread.map(({ name }) => name)) {
    for (const world of await databases.names(database)) {
      const migrations = (await databases.pending(world, database)) ?? [];
      if (migrations.length > 0) found.push({ world, ...(database === undefined ? {} : { database }), migrations });
    }
  }
  return found;
}

/** Migrates the database of each world by opening it. */
async function run(databases: Databases, pending: readonly PendingWorld[], report: ProgressLines): Promise<void> {
  report.world = FIRST;
  const first = await databases.open(FIRST);
  try {
    for (const { world, database } of pending) {
      if (world === FIRST) continue;
      report.world = world;
      await (await databases.open(world, database)).close();
    }
  } finally {
    await first.close();
  }
}

class ProgressLines {
  world = FIRST;
  #lastMs = Number.NEGATIVE_INFINITY;
  #last = "";

  /** Prints a line for each migration, and one line a second while the migration runs. */
  show({ migration, done, total, rows }: MigrationProgress): void {
    const nowMs = monotonicMs();
    if (migration === this.#last && nowMs - this.#lastMs < LINE_EVERY_MS) return;
    [this.#last, this.#lastMs] = [migration, nowMs];
    say(printable(`${this.world}: ${done + 1} of ${total}, ${migration}${rows === 0 ? "" : `, ${rows} rows`}`));
  }
}
