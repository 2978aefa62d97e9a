import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";
import { chatappSubscriptionFact, chatappSubscriptionKey } from "./chatapp-accounts.api.ts";

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

const selectAccounts = sql`SELECT CAST(a.id AS TEXT) AS id, a.name, CAST(a.business AS TEXT) AS business FROM chatapp_accounts a`;

export const findAccount = (reader: Reader, id: string): Promise<AccountRow | undefined> =>
  reader.get<AccountRow>(append(selectAccounts, "WHERE a.id = ?", [id]));

export async function businessOf(reader: Reader, account: NodeId): Promise<NodeId | undefined> {
  const business = (await findAccount(reader, account))?.business;
  return business === undefined || business === null ? undefined : nodeId(business);
}

const accountsById = ordered("ascending", "a.id");

export const listAccounts = (reader: Reader, page: PageRequest): Promise<ListPage<AccountRow>> =>
  readPage<AccountRow>(reader, append(selectAccounts, "WHERE a.id > 0"), accountsById, page);

/** Stores a new account. Returns false, and stores nothing, if the account's id is used already. */
export async function insertAccount(tx: Transaction, { id, name, business }: AccountRow): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(id), type: "chatapp_account", owner: nodeId(id) }))) return false;
  await tx.runOne(sql`INSERT INTO chatapp_accounts (id, name, business) VALUES (${id}, ${name}, ${business})`);
  return true;
}

export async function updateAccount(tx: Transaction, { id, name, business }: AccountRow): Promise<void> {
  await tx.runOne(sql`UPDATE chatapp_accounts SET name = ${name}, business = ${business} WHERE id = ${id}`);
}

/** Removes a deleted business from its accounts; the accounts stay. */
export async function forgetBusiness(tx: Transaction, business: NodeId): Promise<void> {
  await tx.run(sql`UPDATE chatapp_accounts SET business = NULL WHERE business = ${business}`);
}

export async function deleteAccount(tx: Transaction, id: NodeId): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM chatapp_accounts WHERE id = ${id}`)) === 0) return false;
  for (const app of await listSubscribedApps(tx, id)) await unsubscribeApp(tx, id, app);
  const numbers = await tx.all<{ id: string }>(sql`SELECT CAST(n.id AS TEXT) AS id FROM phone_numbers n WHERE n.account = ${id}`);
  for (const number of numbers) await deleteNumber(tx, id, number.id);
  await deleteNode(tx, id);
  return true;
}

/**
 * Locks an account. Setting an override (D-57) takes this lock, and so does removing the account, number or subscription that the override belongs
 * to. So no override is left without its account, number or subscription.
 */
export const lockAccount = (tx: Transaction, account: string): Promise<void> => tx.lock("chatapp_account", account);

export async function isSubscribed(reader: Reader, account: NodeId, app: NodeId): Promise<boolean> {
  const found = await reader.get(sql`SELECT 1 AS one FROM chatapp_subscribed_apps s WHERE s.account = ${account} AND s.app = ${app}`);
  return found !== undefined;
}

/** Subscribes an app to the account's webhooks. Subscribing a second time changes nothing. */
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

const selectNumbers = sql`
  SELECT CAST(n.account AS TEXT) AS account, CAST(n.id AS TEXT) AS id, n.display_phone_number, n.verified_name FROM phone_numbers n`;

export const findNumber = (reader: Reader, account: NodeId, id: string): Promise<NumberRow | undefined> =>
  reader.get<NumberRow>(append(selectNumbers, "WHERE n.account = ? AND n.id = ?", [account, id]));

const newestFirst = ordered("descending", "n.id");

export const listNumbersOfAccount = (reader: Reader, account: NodeId, page: PageRequest): Promise<ListPage<NumberRow>> =>
  readPage<NumberRow>(reader, append(selectNumbers, "WHERE n.account = ?", [account]), newestFirst, page);

const numbersByAccount = ordered("ascending", "n.account", "n.id");

/** Lists all phone numbers, ordered by account, for the control API. */
export const listAllNumbers = (reader: Reader, page: PageRequest): Promise<ListPage<NumberRow>> =>
  readPage<NumberRow>(reader, append(selectNumbers, "WHERE n.account > 0"), numbersByAccount, page);

/** Stores a new number. Returns false, and stores nothing, if the number's id is used already. */
export async function insertNumber(tx: Transaction, number: NumberRow): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(number.id), type: "phone_number", owner: nodeId(number.account) }))) return false;
  await tx.runOne(sql`
    INSERT INTO phone_numbers (account, id, display_phone_number, verified_name)
    VALUES (${number.account}, ${number.id}, ${number.display_phone_number}, ${number.verified_name})`);
  return true;
}

export async function updateNumber(tx: Transaction, number: NumberRow): Promise<void> {
  await tx.runOne(sql`
    UPDATE phone_numbers SET display_phone_number = ${number.display_phone_number}, verified_name = ${number.verified_name}
    WHERE account = ${number.account} AND id = ${number.id}`);
}

export async function deleteNumber(tx: Transaction, account: NodeId, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM phone_numbers WHERE account = ${account} AND id = ${id}`)) === 0) return false;
  await deleteNode(tx, nodeId(id));
  return true;
}

export async function unsubscribeEverywhere(tx: Transaction, app: NodeId): Promise<void> {
  const accounts = await tx.all<{ account: string }>(
    sql`SELECT CAST(s.account AS TEXT) AS account FROM chatapp_subscribed_apps s WHERE s.app = ${app}`,
  );
  for (const { account } of accounts) await unsubscribeApp(tx, nodeId(account), app);
}
