/** Opens the database that `--data` names, with its driver. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Database, Databases, FeatureMigrations, Program } from "./database.ts";

export interface DatabaseOptions {
  /** A folder, `:memory:`, or `postgres://…` (docs/operating/start.md). */
  readonly data: string;
  /** The world's name: a file `<folder>/<world>.sqlite`, or the schema `plaza_<world>`. */
  readonly world: string;
  readonly migrations: readonly FeatureMigrations[];
}

/** The name of a file and, after `plaza_`, of a schema (63 bytes at most). A dot or slash could lead out of the folder. */
const WORLD = /^[A-Za-z0-9_-]{1,57}$/;

export const isPostgres = (data: string): boolean => /^postgres(ql)?:\/\//.test(data);

/** Whether a folder has data of the world. For PostgreSQL the answer is always yes, because only the server knows. */
export const hasData = (data: string, world: string): boolean => isPostgres(data) || existsSync(join(data, `${world}.sqlite`));

/** Throws `RangeError`. */
export function requireWorldName(world: string): void {
  if (!WORLD.test(world)) throw new RangeError(`not a valid world name: ${world}`);
}

/**
 * Errors: `FolderInUse` (`sqlite/folder-lock.ts`), `UnknownMigration` and `MigrationFailed` (`migrator.ts`),
 * `databaseUnreachable`, and the system's or PostgreSQL's own (a folder that cannot be written, a wrong password).
 */
export async function openDatabase({ data, world, migrations }: DatabaseOptions): Promise<Database> {
  requireWorldName(world);
  if (isPostgres(data)) {
    // Loaded only if used, because the driver would lengthen every start on SQLite.
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres({ url: data, schema: `plaza_${world}`, migrations });
  }
  const { openSqlite } = await import("./sqlite/open.ts");
  return openSqlite({ folder: data, world, migrations });
}

/** Copies all worlds of a folder to another folder, even while a server uses them. Errors: the system's own. */
export async function backUpWorlds(folder: string, to: string): Promise<void> {
  const { copyWorlds } = await import("./sqlite/backup.ts");
  copyWorlds(folder, to);
}

/**
 * Whether a file of a world is whole (D-343): `size` compares it with the size in its header, `content` reads all of it. Undefined if nothing is wrong.
 */
export async function problemOfWorldFile(file: string, by: "size" | "content"): Promise<string | undefined> {
  const { problemOfFile, problemOfSize } = await import("./sqlite/files/check-file.ts");
  return by === "size" ? problemOfSize(file) : problemOfFile(file);
}

/** Loads only the driver that is used. */
export async function databasesIn(data: string, migrations: readonly FeatureMigrations[], program: Program = {}): Promise<Databases> {
  if (isPostgres(data)) return new (await import("./postgres/databases.ts")).PostgresDatabases(data, migrations, program);
  const [{ openIn }, { placeOf }, { removeSqlite, worldsIn }, { DamagedFile }, { pendingInFile }] = await Promise.all([
    import("./sqlite/open.ts"),
    import("./sqlite/place.ts"),
    import("./sqlite/backup.ts"),
    import("./sqlite/files/check-file.ts"),
    import("./sqlite/empty-file.ts"),
  ]);
  const place = placeOf(data);
  let isAnyOpen = false;
  return {
    async open(world) {
      requireWorldName(world);
      const database = await openIn(place, { world, migrations, ...program }).catch((error: unknown) => {
        // Without the first world the server does not start, and says why.
        if (isAnyOpen && error instanceof DamagedFile) program.health?.failed("file_damaged", error);
        throw error;
      });
      isAnyOpen = true;
      return database;
    },
    names: async () => worldsIn(place.folder),
    async pending(world) {
      requireWorldName(world);
      return pendingInFile(place.folder, world, migrations);
    },
    async remove(world) {
      requireWorldName(world);
      removeSqlite(place.folder, world);
    },
    // Only one process uses a folder.
    making: (_world, make) => make(),
  };
}
