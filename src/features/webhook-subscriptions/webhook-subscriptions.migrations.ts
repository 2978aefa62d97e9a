import type { Migration } from "#storage/database";

export const webhookSubscriptionMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      // The row with the object '*' has the callback for objects without a callback of their own. Only a world file sets this row, and it has no
      // fields.
      `CREATE TABLE webhook_subscriptions (
        app BIGINT NOT NULL, object TEXT NOT NULL, callback_url TEXT, sealed_verify_token TEXT, is_verified INTEGER NOT NULL, fields TEXT NOT NULL,
        PRIMARY KEY (app, object)
      ) WITHOUT ROWID`,
      "CREATE TABLE page_subscribed_apps (page BIGINT NOT NULL, app BIGINT NOT NULL, subscribed_fields TEXT NOT NULL, PRIMARY KEY (page, app)) WITHOUT ROWID",
      "CREATE INDEX page_subscribed_apps_by_app ON page_subscribed_apps (app, page)",
      "CREATE TABLE retired_app_secrets (app BIGINT PRIMARY KEY, sealed_secret TEXT NOT NULL, until_ms BIGINT NOT NULL) WITHOUT ROWID",
    ],
  },
];
