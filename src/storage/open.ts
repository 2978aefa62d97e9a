/** Opens the database that `--data` names, with its driver. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Database, FeatureMigrations } from "./database.ts";

export interface DatabaseOptions {
  /** A folder, `:memory:`, or `postgres://…` (docs/operating.md: Start). */
  readonly data: string;
  /** The world's name: a file `<folder>/<world>.sqlite`, or the schema `plaza_<world>`. */
  readonly world: string;
  readonly migrations: readonly FeatureMigrations[];
}

/** Names a file and, with `plaza_` before it, a schema (63 bytes at most); a dot or slash would leave the folder. */
const WORLD = /^[A-Za-z0-9_-]{1,57}$/;

const isPostgres = (data: string): boolean => /^postgres(ql)?:\/\//.test(data);

/** Whether a folder has data of the world. Of PostgreSQL only the server knows. */
export const hasData = (data: string, world: string): boolean => isPostgres(data) || existsSync(join(data, `${world}.sqlite`));

/**
 * Errors: `FolderInUse` (`sqlite/folder-lock.ts`), `UnknownMigration` and `MigrationFailed` (`migrator.ts`),
 * `databaseUnreachable`, and the system's or PostgreSQL's own (a folder that cannot be written, a wrong password).
 */
export async function openDatabase({ data, world, migrations }: DatabaseOptions): Promise<Database> {
  if (!WORLD.test(world)) throw new RangeError(`not a world's name: ${world}`);
  if (isPostgres(data)) {
    // Loaded only if used, because the driver would lengthen every start on SQLite.
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres({ url: data, schema: `plaza_${world}`, migrations });
  }
  const { openSqlite } = await import("./sqlite/open.ts");
  return openSqlite({ folder: data, world, migrations });
}

/** Copies a world of a folder to a new file, also while a server uses it. Errors: the system's own. */
export async function backUpWorld(folder: string, world: string, to: string): Promise<void> {
  const { copyDatabase } = await import("./sqlite/backup.ts");
  copyDatabase(join(folder, `${world}.sqlite`), join(to, `${world}.sqlite`));
}
