import type { Migration } from "#storage/database";

export const customLabelMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE labels (page BIGINT NOT NULL, id BIGINT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (page, id)) WITHOUT ROWID",
      // The names of labels have a table of their own instead of an index on `labels`, because SQLite prefers a scan of the page's labels to an index
      // that starts with the page.
      `CREATE TABLE label_names (page BIGINT NOT NULL, name_folded TEXT NOT NULL, label BIGINT NOT NULL, name TEXT NOT NULL,
        PRIMARY KEY (page, name_folded, label)) WITHOUT ROWID`,
      // D-40: the number of labels of a page is stored, because each creation checks the limit.
      "CREATE TABLE label_counts (page BIGINT PRIMARY KEY, labels INTEGER NOT NULL) WITHOUT ROWID",
      "CREATE TABLE label_users (page BIGINT NOT NULL, psid BIGINT NOT NULL, label BIGINT NOT NULL, PRIMARY KEY (page, psid, label)) WITHOUT ROWID",
      "CREATE INDEX label_users_by_label ON label_users (label, psid)",
    ],
  },
];
