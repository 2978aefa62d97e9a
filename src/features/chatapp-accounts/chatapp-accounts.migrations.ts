import type { Migration } from "#storage/database";

export const chatappAccountMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE chatapp_accounts (id BIGINT PRIMARY KEY, name TEXT NOT NULL, business BIGINT) WITHOUT ROWID",
      // This index finds the accounts of a deleted business.
      "CREATE INDEX chatapp_accounts_by_business ON chatapp_accounts (business)",
      "CREATE TABLE chatapp_subscribed_apps (account BIGINT NOT NULL, app BIGINT NOT NULL, PRIMARY KEY (account, app)) WITHOUT ROWID",
      "CREATE INDEX chatapp_subscribed_apps_by_app ON chatapp_subscribed_apps (app, account)",
      `CREATE TABLE phone_numbers (account BIGINT NOT NULL, id BIGINT NOT NULL, display_phone_number TEXT NOT NULL, verified_name TEXT NOT NULL,
        PRIMARY KEY (account, id)) WITHOUT ROWID`,
    ],
  },
];
