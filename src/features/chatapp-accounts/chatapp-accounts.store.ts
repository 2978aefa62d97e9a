import { nodeTable, ownedNodeTable } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";
import { chatappSubscriptionFact, chatappSubscriptionKey } from "./chatapp-accounts.api.ts";

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

export interface AccountRow extends Row {
  id: string;
  name: string;
  business: string | null;
}

export interface NumberRow extends Row {
  account: string;
  id: string;
  display_phone_number: string;
  verified_name: string;
}

export interface SubscribedAppRow extends Row {
  account: string;
  app: string;
}

export const accountTable = nodeTable<AccountRow>({
  table: "chatapp_accounts",
  nodeType: "chatapp_account",
  ids: ["business"],
  columns: ["name"],
});

export const numberTable = ownedNodeTable<NumberRow>({
  table: "phone_numbers",
  nodeType: "phone_number",
  owner: "account",
  columns: ["display_phone_number", "verified_name"],
});

export async function businessOf(reader: Reader, account: NodeId): Promise<NodeId | undefined> {
  const business = (await accountTable.find(reader, account))?.business;
  return business === undefined || business === null ? undefined : nodeId(business);
}

/** Removes a deleted business from the accounts that belong to it, without deleting the accounts. */
export async function forgetBusiness(tx: Transaction, business: NodeId): Promise<void> {
  await tx.run(sql`UPDATE chatapp_accounts SET business = NULL WHERE business = ${business}`);
}

export async function deleteAccount(tx: Transaction, id: NodeId): Promise<boolean> {
  if (!(await accountTable.remove(tx, id))) return false;
  for (const app of await listSubscribedApps(tx, id)) await unsubscribeApp(tx, id, app);
  await numberTable.removeAllOf(tx, id);
  return true;
}

/**
 * Locks an account. Transactions lock the account to set an override (D-57), or to remove the account, number or subscription that an override needs.
 * The lock prevents an override from being set while its account, number or subscription is removed.
 */
export const lockAccount = (tx: Transaction, account: string): Promise<void> => tx.lock("chatapp_account", account);

export async function isSubscribed(reader: Reader, account: NodeId, app: NodeId): Promise<boolean> {
  const found = await reader.get(sql`SELECT 1 AS one FROM chatapp_subscribed_apps s WHERE s.account = ${account} AND s.app = ${app}`);
  return found !== undefined;
}

/** Subscribes an app to the account's webhooks. If the app is already subscribed, nothing changes. */
export async function subscribeApp(tx: Transaction, account: NodeId, app: string): Promise<void> {
  await tx.run(sql`INSERT INTO chatapp_subscribed_apps (account, app) VALUES (${account}, ${app}) ON CONFLICT DO NOTHING`);
}

/** Ends the subscription of an app to the account's webhooks. If the app is not subscribed, nothing changes. */
export async function unsubscribeApp(tx: Transaction, account: NodeId, app: string): Promise<void> {
  await tx.run(sql`DELETE FROM chatapp_subscribed_apps WHERE account = ${account} AND app = ${app}`);
  tx.invalidate(chatappSubscriptionFact, chatappSubscriptionKey(account, app));
}

export async function listSubscribedApps(reader: Reader, account: NodeId): Promise<NodeId[]> {
  const rows = await reader.all<{ app: string }>(
    sql`SELECT CAST(s.app AS TEXT) AS app FROM chatapp_subscribed_apps s WHERE s.account = ${account} ORDER BY s.app`,
  );
  return rows.map(({ app }) => nodeId(app));
}

const appsNewestFirst = ordered("descending", "s.app");

export function pageSubscribedApps(reader: Reader, account: NodeId, page: PageRequest): Promise<ListPage<SubscribedAppRow>> {
  return readPage<SubscribedAppRow>(
    reader,
    sql`SELECT CAST(s.account AS TEXT) AS account, CAST(s.app AS TEXT) AS app FROM chatapp_subscribed_apps s WHERE s.account = ${account}`,
    appsNewestFirst,
    page,
  );
}

export async function unsubscribeEverywhere(tx: Transaction, app: NodeId): Promise<void> {
  const accounts = await tx.all<{ account: string }>(
    sql`SELECT CAST(s.account AS TEXT) AS account FROM chatapp_subscribed_apps s WHERE s.app = ${app}`,
  );
  for (const { account } of accounts) await unsubscribeApp(tx, nodeId(account), app);
}
