/** The databases of a server, one for each world, where `--data` has them. */
import type { Database, FeatureMigrations } from "./database.ts";
import { isPostgres, openDatabase, requireWorldName } from "./open.ts";

export interface Databases {
  /** Made if it is missing. Errors: those of `openDatabase`. */
  open(world: string): Promise<Database>;
  /** Deletes what is stored of the world, if anything is. Nothing has it open. */
  remove(world: string): Promise<void>;
}

export const databasesIn = (data: string, migrations: readonly FeatureMigrations[]): Databases => ({
  open: (world) => openDatabase({ data, world, migrations }),
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
