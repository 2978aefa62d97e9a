/**
 * Migrations: the part that both drivers share. A driver opens the transaction and takes the lock, so that two processes
 * that start at once do not migrate twice: PostgreSQL by an advisory lock, SQLite by the lock on its folder.
 */
import type { FeatureMigrations } from "./database.ts";

/** `applied_time` is in Unix seconds, by the database's own clock. */
export const migrationsTable =
  "CREATE TABLE IF NOT EXISTS migrations (feature TEXT NOT NULL, name TEXT NOT NULL, applied_time BIGINT NOT NULL, PRIMARY KEY (feature, name)) WITHOUT ROWID";

export interface MigrationTarget {
  applied(): Promise<readonly { readonly feature: string; readonly name: string }[]>;
  execute(statement: string): Promise<void>;
  /** Writes the row of a migration after it ran. */
  record(feature: string, name: string): Promise<void>;
}

/** The data has a migration that this program does not know, because a newer program wrote it. */
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

/** A statement of a migration failed; `cause` is the driver's error. The whole run is rolled back. */
export class MigrationFailed extends Error {
  constructor(feature: string, migration: string, cause: unknown) {
    super(`the migration ${feature}/${migration} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "MigrationFailed";
  }
}

const keyOf = (feature: string, name: string): string => `${feature}/${name}`;

/** Runs the missing migrations in the given order. The caller has opened a transaction and created the table. Returns how many ran. */
export async function migrate(target: MigrationTarget, features: readonly FeatureMigrations[]): Promise<number> {
  const known = new Set<string>();
  for (const { feature, migrations } of features) {
    for (const { name } of migrations) {
      const key = keyOf(feature, name);
      if (known.has(key)) throw new Error(`two migrations are called ${key}`);
      known.add(key);
    }
  }
  const applied = new Set<string>();
  for (const { feature, name } of await target.applied()) {
    if (!known.has(keyOf(feature, name))) throw new UnknownMigration(feature, name);
    applied.add(keyOf(feature, name));
  }
  let count = 0;
  for (const { feature, migrations } of features) {
    for (const { name, statements } of migrations) {
      if (applied.has(keyOf(feature, name))) continue;
      try {
        for (const statement of statements) await target.execute(statement);
      } catch (cause) {
        throw new MigrationFailed(feature, name, cause);
      }
      await target.record(feature, name);
      count++;
    }
  }
  return count;
}
