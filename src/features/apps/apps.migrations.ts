import type { Migration } from "#storage/database";

export const appMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE apps (
        id BIGINT PRIMARY KEY, name TEXT NOT NULL, secret_hash TEXT NOT NULL, sealed_secret TEXT NOT NULL, mode TEXT NOT NULL,
        created_time BIGINT NOT NULL, marketing_first_used_time BIGINT NOT NULL, auto_upgrade INTEGER NOT NULL,
        require_appsecret_proof INTEGER NOT NULL, allow_tokenless_events INTEGER NOT NULL, automatic_event_logging INTEGER NOT NULL,
        access_level TEXT NOT NULL, messaging_access INTEGER NOT NULL, event_name_limit INTEGER NOT NULL, event_schemas TEXT NOT NULL,
        migrations TEXT NOT NULL, redirect_uris TEXT NOT NULL, deauthorize_url TEXT, data_deletion_url TEXT
      ) WITHOUT ROWID`,
      `CREATE TABLE app_roles (app BIGINT NOT NULL, person BIGINT NOT NULL, role TEXT NOT NULL, is_microblog_user INTEGER NOT NULL,
        PRIMARY KEY (app, person, role)) WITHOUT ROWID`,
      // This index finds the roles of a deleted person.
      "CREATE INDEX app_roles_by_person ON app_roles (person)",
    ],
  },
];
