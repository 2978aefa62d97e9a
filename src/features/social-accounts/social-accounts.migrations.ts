import type { Migration } from "#storage/database";

export const socialAccountMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE social_accounts (
        id BIGINT PRIMARY KEY, username TEXT NOT NULL, social_scoped_id BIGINT, page BIGINT, user_id BIGINT, is_professional INTEGER NOT NULL,
        app_connections TEXT NOT NULL
      ) WITHOUT ROWID`,
      // These indexes find the accounts of a deleted page or user.
      "CREATE INDEX social_accounts_by_page ON social_accounts (page) WHERE page IS NOT NULL",
      "CREATE INDEX social_accounts_by_user ON social_accounts (user_id) WHERE user_id IS NOT NULL",
    ],
  },
];
