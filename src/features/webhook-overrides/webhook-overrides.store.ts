import { type NodeId, nodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import { allWithKeys } from "#storage/id-lists";
import { sql } from "#storage/sql";

export const webhookOverrideMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      // If `phone_number` is 0, the row has the override of the account itself. The number 0 is used because a column of the primary key cannot be
      // null.
      `CREATE TABLE webhook_overrides (account BIGINT NOT NULL, app BIGINT NOT NULL, phone_number BIGINT NOT NULL, override_callback_uri TEXT NOT NULL,
        PRIMARY KEY (account, app, phone_number)) WITHOUT ROWID`,
      "CREATE INDEX webhook_overrides_by_app ON webhook_overrides (app, account)",
    ],
  },
];

/**
 * The ports through which other code reads and writes overrides. An override belongs to an app and an account, or to an app and one of the account's
 * numbers (D-57). If the parameter `number` is undefined, the functions of these ports use the override of the account itself.
 */
interface OverridePort {
  find(reader: Reader, account: NodeId, app: NodeId, number: NodeId | undefined): Promise<string | undefined>;
  /** Returns for each app the override that is set for the app on its account, or undefined. */
  ofApps(reader: Reader, apps: readonly { readonly account: string; readonly app: string }[]): Promise<readonly (string | undefined)[]>;
  /** Returns for each phone number the app's override for the number, and the app's override for the number's account. */
  ofNumbers(
    reader: Reader,
    app: NodeId,
    numbers: readonly { readonly account: string; readonly id: string }[],
  ): Promise<readonly { readonly phone_number: string | undefined; readonly account: string | undefined }[]>;
  listOfNumber(reader: Reader, account: NodeId, number: NodeId): Promise<readonly { app: NodeId; override_callback_uri: string }[]>;
}

interface OverrideWritesPort {
  /** Stores the address of an override. The caller must have verified the override's address. */
  save(tx: Transaction, account: NodeId, app: NodeId, number: NodeId | undefined, uri: string): Promise<void>;
  remove(tx: Transaction, account: NodeId, app: NodeId, number: NodeId | undefined): Promise<void>;
  /** Removes all overrides of the app for the account and for the account's numbers. */
  removeAll(tx: Transaction, account: NodeId, app: NodeId): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    account_override: OverridePort;
    account_override_writes: OverrideWritesPort;
  }
}

/** The value of `phone_number` in the row of an account's own override. */
const ACCOUNT_ITSELF = "0";

/**
 * The cached fact with the overrides of an account and of its phone numbers, which the routing of webhooks reads. The cache finds this fact by the
 * account's id.
 */
const webhookOverrideFact = "webhook_override";

const keyOf = (number: NodeId | undefined): string => number ?? ACCOUNT_ITSELF;

export async function findOverride(reader: Reader, account: NodeId, app: NodeId, number: NodeId | undefined): Promise<string | undefined> {
  const row = await reader.get<{ override_callback_uri: string }>(sql`
    SELECT o.override_callback_uri FROM webhook_overrides o
    WHERE o.account = ${account} AND o.app = ${app} AND o.phone_number = ${keyOf(number)}`);
  return row?.override_callback_uri;
}

/** Returns for each app the override that is set for the app on its account, or undefined. */
export async function findOverridesOfApps(
  reader: Reader,
  apps: readonly { readonly account: string; readonly app: string }[],
): Promise<(string | undefined)[]> {
  const rows = await allWithKeys<{ account: string; app: string; override_callback_uri: string }>(
    reader,
    apps.map(({ account, app }) => [account, app]),
    `SELECT CAST(o.account AS TEXT) AS account, CAST(o.app AS TEXT) AS app, o.override_callback_uri
     FROM wanted w JOIN webhook_overrides o ON o.account = w.one AND o.app = w.other WHERE o.phone_number = ?`,
    [ACCOUNT_ITSELF],
  );
  const found = new Map(rows.map((row) => [`${row.account} ${row.app}`, row.override_callback_uri]));
  return apps.map(({ account, app }) => found.get(`${account} ${app}`));
}

interface OverridesOfNumber {
  readonly phone_number: string | undefined;
  readonly account: string | undefined;
}

/** Returns for each phone number the app's override for the number, and the app's override for the number's account. */
export async function findOverridesOfNumbers(
  reader: Reader,
  app: NodeId,
  numbers: readonly { readonly account: string; readonly id: string }[],
): Promise<OverridesOfNumber[]> {
  const rows = await allWithKeys<{ account: string; phone_number: string; override_callback_uri: string }>(
    reader,
    numbers.flatMap(({ account, id }) => [[account, id] as const, [account, ACCOUNT_ITSELF] as const]),
    `SELECT CAST(o.account AS TEXT) AS account, CAST(o.phone_number AS TEXT) AS phone_number, o.override_callback_uri
     FROM wanted w JOIN webhook_overrides o ON o.account = w.one AND o.phone_number = w.other WHERE o.app = ?`,
    [app],
  );
  const found = new Map(rows.map((row) => [`${row.account} ${row.phone_number}`, row.override_callback_uri]));
  return numbers.map(({ account, id }) => ({ phone_number: found.get(`${account} ${id}`), account: found.get(`${account} ${ACCOUNT_ITSELF}`) }));
}

export async function listOverridesOfNumber(
  reader: Reader,
  account: NodeId,
  number: NodeId,
): Promise<{ app: NodeId; override_callback_uri: string }[]> {
  const rows = await reader.all<{ app: string; override_callback_uri: string }>(sql`
    SELECT CAST(o.app AS TEXT) AS app, o.override_callback_uri FROM webhook_overrides o
    WHERE o.account = ${account} AND o.phone_number = ${number} ORDER BY o.app`);
  return rows.map(({ app, override_callback_uri }) => ({ app: nodeId(app), override_callback_uri }));
}

export async function saveOverride(tx: Transaction, account: NodeId, app: NodeId, number: NodeId | undefined, uri: string): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO webhook_overrides (account, app, phone_number, override_callback_uri) VALUES (${account}, ${app}, ${keyOf(number)}, ${uri})
    ON CONFLICT (account, app, phone_number) DO UPDATE SET override_callback_uri = excluded.override_callback_uri`);
  tx.invalidate(webhookOverrideFact, account);
}

export async function deleteOverride(tx: Transaction, account: NodeId, app: NodeId, number: NodeId | undefined): Promise<void> {
  await tx.run(sql`DELETE FROM webhook_overrides WHERE account = ${account} AND app = ${app} AND phone_number = ${keyOf(number)}`);
  tx.invalidate(webhookOverrideFact, account);
}

export async function deleteOverridesOfApp(tx: Transaction, account: NodeId, app: NodeId): Promise<void> {
  await tx.run(sql`DELETE FROM webhook_overrides WHERE account = ${account} AND app = ${app}`);
  tx.invalidate(webhookOverrideFact, account);
}

/** Deletes the overrides of a removed account or app. */
export async function deleteOverridesOfOwner(tx: Transaction, owner: NodeId): Promise<void> {
  const accounts = await tx.all<{ account: string }>(
    sql`SELECT DISTINCT CAST(o.account AS TEXT) AS account FROM webhook_overrides o WHERE o.app = ${owner}`,
  );
  await tx.run(sql`DELETE FROM webhook_overrides WHERE account = ${owner}`);
  await tx.run(sql`DELETE FROM webhook_overrides WHERE app = ${owner}`);
  for (const account of [owner, ...accounts.map((row) => row.account)]) tx.invalidate(webhookOverrideFact, account);
}
