import type { Migration } from "#storage/database";

export const migrationIntentMigrations: readonly Migration[] = [
  {
    name: "migration_intents",
    statements: [
      "CREATE TABLE solutions (id BIGINT PRIMARY KEY, name TEXT NOT NULL, owner_app BIGINT NOT NULL) WITHOUT ROWID",
      `CREATE TABLE migration_intents (waba BIGINT NOT NULL, id BIGINT NOT NULL, destination_waba BIGINT, solution BIGINT, status TEXT NOT NULL,
        PRIMARY KEY (waba, id)) WITHOUT ROWID`,
    ],
  },
];
