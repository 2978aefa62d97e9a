import type { Migration } from "#storage/database";

export const loginMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      // D-382: only the SHA-256 of a code is stored. The column `person` has the id of a user, or of a social account if the login was at the host of
      // the alternate flow.
      `CREATE TABLE login_codes (
        hash TEXT PRIMARY KEY, app BIGINT NOT NULL, person BIGINT NOT NULL, is_account INTEGER NOT NULL, redirect_uri TEXT NOT NULL,
        scopes TEXT NOT NULL, challenge TEXT NOT NULL, expires_at BIGINT NOT NULL, used_at BIGINT NOT NULL
      ) WITHOUT ROWID`,
      "CREATE INDEX login_codes_by_expiry ON login_codes (expires_at)",
      // This table has the tokens that came from each code. If a code is sent again, Plaza revokes the tokens that the code was exchanged for.
      "CREATE TABLE login_tokens (token BIGINT PRIMARY KEY, code TEXT NOT NULL) WITHOUT ROWID",
      "CREATE INDEX login_tokens_by_code ON login_tokens (code)",
      // The column `status` of a permission has the value `granted` or `declined`.
      `CREATE TABLE login_permissions (app BIGINT NOT NULL, person BIGINT NOT NULL, permission TEXT NOT NULL, status TEXT NOT NULL,
        PRIMARY KEY (app, person, permission)) WITHOUT ROWID`,
      // This index finds the permissions of a deleted person.
      "CREATE INDEX login_permissions_by_person ON login_permissions (person)",
      // D-387: this table has each person's latest request to an app to delete data, and the app's answer. The column `problem` says why the app has
      // not confirmed the request.
      `CREATE TABLE login_deletions (
        app BIGINT NOT NULL, person BIGINT NOT NULL, requested_at BIGINT NOT NULL, confirmed_at BIGINT NOT NULL, url TEXT NOT NULL,
        confirmation_code TEXT NOT NULL, problem TEXT NOT NULL, PRIMARY KEY (app, person)) WITHOUT ROWID`,
      "CREATE INDEX login_deletions_by_person ON login_deletions (person)",
      // D-390: this table has the used answers of the sign-in page until they expire, so that no answer is used twice.
      "CREATE TABLE login_sign_ins (hash TEXT PRIMARY KEY, expires_at BIGINT NOT NULL) WITHOUT ROWID",
      "CREATE INDEX login_sign_ins_by_expiry ON login_sign_ins (expires_at)",
    ],
  },
];
