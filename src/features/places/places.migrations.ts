import type { Migration } from "#storage/database";

export const placeMigrations: readonly Migration[] = [
  { name: "tables", statements: ["CREATE TABLE places (id BIGINT PRIMARY KEY, name TEXT NOT NULL, location TEXT) WITHOUT ROWID"] },
];
