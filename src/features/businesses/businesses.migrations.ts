import type { Migration } from "#storage/database";

export const businessMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE businesses (id BIGINT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID",
      "CREATE TABLE business_people (business BIGINT NOT NULL, user_id BIGINT NOT NULL, PRIMARY KEY (business, user_id)) WITHOUT ROWID",
      // This index finds the businesses of a deleted user.
      "CREATE INDEX business_people_by_user ON business_people (user_id, business)",
    ],
  },
];
