import type { FeatureMigrations } from "#storage/database";

export const graphMigrations: FeatureMigrations = {
  feature: "graph",
  migrations: [
    {
      name: "nodes",
      statements: ["CREATE TABLE nodes (id BIGINT PRIMARY KEY, type TEXT NOT NULL, owner BIGINT NOT NULL) WITHOUT ROWID"],
    },
    { name: "settings", statements: ["CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"] },
  ],
};
