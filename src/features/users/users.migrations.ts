import type { Migration } from "#storage/database";

export const userMigrations: readonly Migration[] = [
  { name: "tables", statements: ["CREATE TABLE users (id BIGINT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID"] },
];
