/** The databases of a server, one for each world, where `--data` has them. */
import type { Databases, FeatureMigrations } from "./database.ts";
import { isPostgres, openDatabase, requireWorldName } from "./open.ts";

/** Each driver is loaded only where it is used. */
export async function databasesIn(data: string, migrations: readonly FeatureMigrations[]): Promise<Databases> {
  if (isPostgres(data)) return new (await import("./postgres/databases.ts")).PostgresDatabases(data, migrations);
  if (data === ":memory:") return new (await import("./sqlite/databases-in-memory.ts")).DatabasesInMemory(migrations);
  const { removeSqlite } = await import("./sqlite/remove.ts");
  return {
    open: (world) => openDatabase({ data, world, migrations }),
    rest: (_world, database) => database.close(),
    async remove(world) {
      requireWorldName(world);
      removeSqlite(data, world);
    },
    // A folder is in use by one process.
    making: (_world, make) => make(),
  };
}
