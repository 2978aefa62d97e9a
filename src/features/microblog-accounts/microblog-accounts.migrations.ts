import type { Migration } from "#storage/database";

export const microblogAccountMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE microblog_users (id BIGINT PRIMARY KEY, username TEXT NOT NULL, user_id BIGINT) WITHOUT ROWID",
      // This index finds the microblog accounts of a deleted user.
      "CREATE INDEX microblog_users_by_user ON microblog_users (user_id) WHERE user_id IS NOT NULL",
    ],
  },
];
