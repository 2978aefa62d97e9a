import type { Migration } from "#storage/database";

export const personaMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE personas (page BIGINT NOT NULL, id BIGINT NOT NULL, name TEXT NOT NULL, profile_picture_url TEXT NOT NULL,
        PRIMARY KEY (page, id)) WITHOUT ROWID`,
    ],
  },
];
