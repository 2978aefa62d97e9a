import type { Migration } from "#storage/database";

export const customLabelMigrations: readonly Migration[] = [
  {
    name: "labels",
    statements: [
      "CREATE TABLE labels (page BIGINT NOT NULL, id BIGINT NOT NULL, name TEXT NOT NULL, name_folded TEXT NOT NULL, PRIMARY KEY (page, id)) WITHOUT ROWID",
      "CREATE INDEX labels_by_name ON labels (page, name_folded)",
      // D-40: labels of a page are limited, and a limit that each creation needs is kept, not counted.
      "CREATE TABLE label_counts (page BIGINT PRIMARY KEY, labels INTEGER NOT NULL) WITHOUT ROWID",
      "CREATE TABLE label_users (page BIGINT NOT NULL, label BIGINT NOT NULL, psid BIGINT NOT NULL, PRIMARY KEY (page, label, psid)) WITHOUT ROWID",
      "CREATE INDEX label_users_by_psid ON label_users (page, psid, label)",
    ],
  },
];
