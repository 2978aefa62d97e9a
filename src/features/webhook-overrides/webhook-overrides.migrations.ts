import type { Migration } from "#storage/database";

export const webhookOverrideMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      // The row with `phone_number` 0 has the override of the account itself, because a column of the primary key cannot be null.
      `CREATE TABLE webhook_overrides (account BIGINT NOT NULL, app BIGINT NOT NULL, phone_number BIGINT NOT NULL, override_callback_uri TEXT NOT NULL,
        PRIMARY KEY (account, app, phone_number)) WITHOUT ROWID`,
      "CREATE INDEX webhook_overrides_by_app ON webhook_overrides (app, account)",
    ],
  },
];
