/** Opens the database that the option `--data` names, with the driver for this database. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Database, Databases, FeatureMigrations, Program } from "./database.ts";

export interface DatabaseOptions {
  /** The data folder, `:memory:`, or `postgres://…` (docs/operating/start.md). */
  readonly data: string;
  /** The world's name. A world of this name is the file `<folder>/<world>.sqlite` on SQLite, and the schema `plaza_<world>` on PostgreSQL. */
  readonly world: string;
  readonly migrations: readonly FeatureMigrations[];
}

/**
 * The allowed names of worlds. The name of a world becomes part of a file name and, after `plaza_`, of a schema name, which has 63 bytes at most. A
 * dot or slash is not allowed in the name of a world, because the path could then leave the folder.
 */
const WORLD = /^[A-Za-z0-9_-]{1,57}$/;

export const isPostgres = (data: string): boolean => /^postgres(ql)?:\/\//.test(data);

/**
 * Whether the folder has data of the world. For PostgreSQL the function always returns true, because only a query could find out whether the world
 * has data.
 */
export const hasData = (data: string, world: string): boolean => isPostgres(data) || existsSync(join(data, `${world}.sqlite`));

/** Throws `RangeError` if the text is not allowed as the name of a world. */
export function requireWorldName(world: string): void {
  if (!WORLD.test(world)) throw new RangeError(`not a valid world name: ${world}`);
}

/**
 * Opens one world's database. Throws `FolderInUse` (`sqlite/folder-lock.ts`), `UnknownMigration` and `MigrationFailed` (`migrator.ts`),
 * `databaseUnreachable`, and errors of the system or of PostgreSQL (a folder that cannot be written, a wrong password).
 */
export async function openDatabase({ data, world, migrations }: DatabaseOptions): Promise<Database> {
  requireWorldName(world);
  if (isPostgres(data)) {
    // The PostgreSQL driver is loaded only if it is used, because loading it would make every start on SQLite slower.
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres({ url: data, schema: `plaza_${world}`, migrations });
  }
  const { openSqlite } = await import("./sqlite/open.ts");
  return openSqlite({ folder: data, world, migrations });
}

/**
 * Copies all worlds of a folder to another folder, even while a server uses them. If a copy fails, the function throws the operating system's own
 * error.
 */
export async function backUpWorlds(folder: string, to: string): Promise<void> {
  const { copyWorlds } = await import("./sqlite/backup.ts");
  copyWorlds(folder, to);
}

/**
 * Checks whether a world's file is intact (D-343). Returns the problem of the file, or undefined if the file is intact. The check `size` compares the
 * file's size with the size in its header, and the check `content` reads the whole file.
 */
export async function problemOfWorldFile(file: string, by: "size" | "content"): Promise<string | undefined> {
  const { problemOfFile, problemOfSize } = await import("./sqlite/files/check-file.ts");
  return by === "size" ? problemOfSize(file) : problemOfFile(file);
}

/** Makes the databases of a folder, of a PostgreSQL server, or of several PostgreSQL servers. The function loads only the driver that is used. */
export async function databasesIn(data: string, migrations: readonly FeatureMigrations[], program: Program = {}): Promise<Databases> {
  const { databases = [] } = program;
  if (databases.length > 0) return new (await import("./postgres/clusters.ts")).PostgresClusters(databases, migrations, program);
  if (isPostgres(data)) return new (await import("./postgres/databases.ts")).PostgresDatabases(data, migrations, program);
  const [{ lookIn, openIn }, { placeOf }, { removeSqlite, worldsIn }, { DamagedFile }, { pendingInFile }] = await Promise.all([
    import("./sqlite/open.ts"),
    import("./sqlite/place.ts"),
    import("./sqlite/backup.ts"),
    import("./sqlite/files/check-file.ts"),
    import("./sqlite/empty-file.ts"),
  ]);
  const place = placeOf(data);
  let isAnyOpen = false;
  return {
    spread: [],
    async open(world) {
      requireWorldName(world);
      const database = await openIn(place, { world, migrations, ...program }).catch((error: unknown) => {
        // A damaged file of the first world is not reported as a problem, because with such a file the server does not start, and its error message
        // states the damage.
        if (isAnyOpen && error instanceof DamagedFile) program.health?.failed("file_damaged", error);
        throw error;
      });
      isAnyOpen = true;
      return database;
    },
    look(world, read) {
      requireWorldName(world);
      return lookIn(place, world, read);
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
    // Only one process uses a data folder, so no other process can be creating a world in it.
    making: (_world, make) => make(),
  };
}
