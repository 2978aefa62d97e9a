/** The databases of a server, one for each world, where `--data` has them. */
import type { Database, FeatureMigrations } from "./database.ts";
import { isPostgres, openDatabase, requireWorldName } from "./open.ts";

export interface Databases {
  /** Made if it is missing. Errors: those of `openDatabase`. */
  open(world: string): Promise<Database>;
  /** Closes the database; the next `open` finds it as it was. */
  rest(world: string, database: Database): Promise<void>;
  /** Deletes what is stored of the world, if anything is. Nothing has it open. */
  remove(world: string): Promise<void>;
}

export async function databasesIn(data: string, migrations: readonly FeatureMigrations[]): Promise<Databases> {
  if (data !== ":memory:") return storedIn(data, migrations);
  const { DatabasesInMemory } = await import("./sqlite/databases-in-memory.ts");
  return new DatabasesInMemory(migrations);
}

const storedIn = (data: string, migrations: readonly FeatureMigrations[]): Databases => ({
  open: (world) => openDatabase({ data, world, migrations }),
  rest: (_world, database) => database.close(),
  async remove(world) {
    requireWorldName(world);
    if (isPostgres(data)) {
      const { dropPostgres } = await import("./postgres/drop.ts");
      await dropPostgres(data, `plaza_${world}`);
    } else {
      const { removeSqlite } = await import("./sqlite/remove.ts");
      removeSqlite(data, world);
    }
  },
});
