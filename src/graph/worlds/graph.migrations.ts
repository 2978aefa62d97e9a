import type { FeatureMigrations } from "#storage/database";

export const graphMigrations: FeatureMigrations = {
  feature: "graph",
  serverTables: ["worlds", "open_worlds"],
  migrations: [
    {
      name: "tables",
      statements: [
        "CREATE TABLE nodes (id BIGINT PRIMARY KEY, type TEXT NOT NULL, owner BIGINT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE person_erasures (id BIGINT PRIMARY KEY, started_ms BIGINT NOT NULL, ended_ms BIGINT, erased TEXT NOT NULL) WITHOUT ROWID",
        // D-358: log entries of requests that one process passes to another.
        "CREATE TABLE passed_requests (trace_id TEXT PRIMARY KEY, entry TEXT NOT NULL) WITHOUT ROWID",
        // The list of a server's worlds. Only the first world of a server uses the table with the list of worlds.
        "CREATE TABLE worlds (name TEXT PRIMARY KEY, made_ms BIGINT NOT NULL, wake_ms BIGINT, database TEXT, moving_to TEXT) WITHOUT ROWID",
        "CREATE INDEX worlds_by_database ON worlds (database)",
        "CREATE INDEX worlds_moving ON worlds (moving_to) WHERE moving_to IS NOT NULL",
        "CREATE INDEX worlds_by_wake ON worlds (wake_ms) WHERE wake_ms IS NOT NULL",
        "CREATE TABLE open_worlds (name TEXT NOT NULL, process TEXT NOT NULL, until_ms BIGINT NOT NULL, PRIMARY KEY (name, process)) WITHOUT ROWID",
      ],
    },
  ],
};
