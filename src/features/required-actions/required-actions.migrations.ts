import type { Migration } from "#storage/database";

export const requiredActionMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE required_actions (
        app BIGINT NOT NULL, id BIGINT NOT NULL, title TEXT NOT NULL, description TEXT, due_date BIGINT, status TEXT NOT NULL,
        status_time BIGINT NOT NULL, PRIMARY KEY (app, id)
      ) WITHOUT ROWID`,
    ],
  },
];
