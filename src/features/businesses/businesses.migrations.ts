import type { Migration } from "#storage/database";

export const businessMigrations: readonly Migration[] = [
  { name: "businesses", statements: ["CREATE TABLE businesses (id BIGINT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID"] },
];
