import type { FeatureMigrations } from "#storage/database";

export const authMigrations: FeatureMigrations = {
  feature: "auth",
  serverTables: ["control_keys", "control_audit"],
  migrations: [
    {
      name: "tables",
      statements: [
        // `copy_of` (D-270) is 0, or the id of the token of which this row is a copy.
        `CREATE TABLE tokens (
          hash TEXT PRIMARY KEY, id BIGINT NOT NULL, type TEXT NOT NULL, app BIGINT NOT NULL, user_id BIGINT, page BIGINT,
          social_account BIGINT, microblog_user BIGINT, scopes TEXT NOT NULL, issued_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
          data_access_expires_at BIGINT NOT NULL, revoked_at BIGINT NOT NULL, copy_of BIGINT NOT NULL
        ) WITHOUT ROWID`,
        "CREATE UNIQUE INDEX tokens_by_id ON tokens (id)",
        // This index finds the apps that have a token of an account, because the account's webhooks go to these apps (D-52).
        "CREATE INDEX tokens_by_social_account ON tokens (social_account, app) WHERE social_account IS NOT NULL",
        "CREATE INDEX tokens_by_page ON tokens (page, app) WHERE page IS NOT NULL",
        // D-384: a person can remove a permission from all tokens of an app.
        "CREATE INDEX tokens_by_user ON tokens (user_id, app) WHERE user_id IS NOT NULL",
        "CREATE INDEX tokens_by_original ON tokens (copy_of) WHERE copy_of > 0",
        // `world` is the name of the world to which the key is bound, or empty.
        `CREATE TABLE control_keys (
          hash TEXT PRIMARY KEY, id BIGINT NOT NULL, name TEXT NOT NULL, access TEXT NOT NULL, world TEXT NOT NULL, created_ms BIGINT NOT NULL,
          expires_ms BIGINT NOT NULL
        ) WITHOUT ROWID`,
        "CREATE UNIQUE INDEX control_keys_by_id ON control_keys (id)",
        // The column `id` grows with time. `status` 0 means that the request has not ended, or that its process ended before the request did.
        `CREATE TABLE control_audit (
          id TEXT PRIMARY KEY, time_ms BIGINT NOT NULL, key_id BIGINT NOT NULL, key_name TEXT NOT NULL, operation TEXT NOT NULL,
          method TEXT NOT NULL, route TEXT NOT NULL, world TEXT NOT NULL, status INTEGER NOT NULL
        ) WITHOUT ROWID`,
        "CREATE INDEX control_audit_by_time ON control_audit (time_ms)",
        "CREATE INDEX control_keys_by_world ON control_keys (world) WHERE world > ''",
      ],
    },
  ],
};
