import type { Migration } from "#storage/database";

export const selfMessagingMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      // D-406: a thread is a ring of places, so a new message replaces the oldest one and a thread never grows.
      `CREATE TABLE self_messages (account BIGINT NOT NULL, place INTEGER NOT NULL, n BIGINT NOT NULL, mid TEXT NOT NULL, time_ms BIGINT NOT NULL,
        app BIGINT, text TEXT NOT NULL, payload TEXT, PRIMARY KEY (account, place)) WITHOUT ROWID`,
      "CREATE TABLE self_threads (account BIGINT PRIMARY KEY, messages BIGINT NOT NULL) WITHOUT ROWID",
    ],
  },
];
