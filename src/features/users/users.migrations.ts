import type { Migration } from "#storage/database";

export const userMigrations: readonly Migration[] = [
  { name: "users", statements: ["CREATE TABLE users (id BIGINT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID"] },
];
