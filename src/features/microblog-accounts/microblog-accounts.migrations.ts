import type { Migration } from "#storage/database";

export const microblogAccountMigrations: readonly Migration[] = [
  {
    name: "microblog_users",
    statements: ["CREATE TABLE microblog_users (id BIGINT PRIMARY KEY, username TEXT NOT NULL, user_id BIGINT) WITHOUT ROWID"],
  },
];
