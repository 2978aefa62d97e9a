import type { Migration } from "#storage/database";

export const migrationIntentMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE solutions (id BIGINT PRIMARY KEY, name TEXT NOT NULL, owner_app BIGINT NOT NULL) WITHOUT ROWID",
      `CREATE TABLE migration_intents (waba BIGINT NOT NULL, id BIGINT NOT NULL, destination_waba BIGINT, solution BIGINT, status TEXT NOT NULL,
        PRIMARY KEY (waba, id)) WITHOUT ROWID`,
      // These indexes find the solutions and intents of a deleted account, solution or app.
      "CREATE INDEX solutions_by_owner_app ON solutions (owner_app)",
      "CREATE INDEX migration_intents_by_destination ON migration_intents (destination_waba) WHERE destination_waba IS NOT NULL",
      "CREATE INDEX migration_intents_by_solution ON migration_intents (solution) WHERE solution IS NOT NULL",
    ],
  },
];
