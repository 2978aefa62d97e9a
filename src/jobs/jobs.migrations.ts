import type { FeatureMigrations } from "#storage/database";

export const jobMigrations: FeatureMigrations = {
  feature: "jobs",
  migrations: [
    {
      name: "tables",
      statements: [
        "CREATE TABLE work_sessions (fence BIGINT PRIMARY KEY, lease_until_ms BIGINT NOT NULL) WITHOUT ROWID",
        // `fence` is the fence of the session that runs the job. The fence 0 means that no session runs the job.
        `CREATE TABLE jobs (
          kind TEXT NOT NULL, key TEXT NOT NULL, share TEXT NOT NULL, due_ms BIGINT NOT NULL, payload TEXT NOT NULL, attempts INTEGER NOT NULL,
          fence BIGINT NOT NULL, last_error TEXT, PRIMARY KEY (kind, key)
        ) WITHOUT ROWID`,
        "CREATE INDEX jobs_waiting ON jobs (due_ms, kind, key) WHERE fence = 0",
        "CREATE INDEX jobs_running ON jobs (fence) WHERE fence > 0",
      ],
    },
  ],
};
