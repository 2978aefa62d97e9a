import type { Migration } from "#storage/database";

export const pageMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE pages (id BIGINT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID",
      "CREATE TABLE page_people (page BIGINT NOT NULL, psid BIGINT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (page, psid)) WITHOUT ROWID",
      `CREATE TABLE page_roles (page BIGINT NOT NULL, user_id BIGINT NOT NULL, tasks TEXT NOT NULL, via_business INTEGER NOT NULL,
        PRIMARY KEY (page, user_id)) WITHOUT ROWID`,
      // This index finds the roles of a deleted user.
      "CREATE INDEX page_roles_by_user ON page_roles (user_id, page)",
    ],
  },
];
