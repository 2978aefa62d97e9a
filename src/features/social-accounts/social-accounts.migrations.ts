import type { Migration } from "#storage/database";

export const socialAccountMigrations: readonly Migration[] = [
  {
    name: "social_accounts",
    statements: [
      `CREATE TABLE social_accounts (
        id BIGINT PRIMARY KEY, username TEXT NOT NULL, social_scoped_id BIGINT, page BIGINT, user_id BIGINT, is_professional INTEGER NOT NULL,
        app_connections TEXT NOT NULL
      ) WITHOUT ROWID`,
    ],
  },
];
