import { deleteNode, insertNode, nodeTable } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";
import { type SocialAccountFacts, socialAccountFact } from "./social-accounts.api.ts";

export const socialAccountMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE social_accounts (
        id BIGINT PRIMARY KEY, username TEXT NOT NULL, social_scoped_id BIGINT, page BIGINT, user_id BIGINT, is_professional INTEGER NOT NULL,
        app_connections TEXT NOT NULL
      ) WITHOUT ROWID`,
      // These indexes find the accounts of a deleted page or user.
      "CREATE INDEX social_accounts_by_page ON social_accounts (page) WHERE page IS NOT NULL",
      "CREATE INDEX social_accounts_by_user ON social_accounts (user_id) WHERE user_id IS NOT NULL",
    ],
  },
];

interface AccountRow extends Row {
  id: string;
  username: string;
  social_scoped_id: string | null;
  page: string | null;
  user_id: string | null;
  is_professional: number;
  app_connections: string;
}

export const socialAccountTable = nodeTable<AccountRow>({
  table: "social_accounts",
  nodeType: "social_account",
  nameColumn: "username",
  ids: ["social_scoped_id", "page", "user_id"],
  columns: ["username", "is_professional", "app_connections"],
  fact: socialAccountFact,
});

export async function findSocialAccount(reader: Reader, id: string): Promise<SocialAccountFacts | undefined> {
  const row = await socialAccountTable.find(reader, id);
  return row === undefined ? undefined : accountOf(row);
}

export const findUsernames = socialAccountTable.findNames;

export async function listSocialAccounts(reader: Reader, page: PageRequest): Promise<ListPage<SocialAccountFacts>> {
  const found = await socialAccountTable.list(reader, page);
  return { ...found, rows: found.rows.map(accountOf) };
}

export async function listAccountsOfPage(reader: Reader, page: NodeId): Promise<SocialAccountFacts[]> {
  const rows = await reader.all<AccountRow>(append(socialAccountTable.select, "WHERE t.page = ? ORDER BY t.id", [page]));
  return rows.map(accountOf);
}

/** Stores a new account. Returns false if the account's id or its social-scoped id is used already. */
export async function insertSocialAccount(tx: Transaction, account: SocialAccountFacts): Promise<boolean> {
  const { social_scoped_id: scoped, page, user, professional, app_connections, ...shown } = account;
  const ids = { social_scoped_id: scoped ?? null, page: page ?? null, user_id: user ?? null };
  const flags = { is_professional: professional ? 1 : 0, app_connections: JSON.stringify(app_connections) };
  if (!(await socialAccountTable.insert(tx, { ...shown, ...ids, ...flags }))) return false;
  if (scoped === undefined || (await insertNode(tx, { id: scoped, type: "social_scoped_account", owner: account.id }))) return true;
  // The account does not stay, because a merge of a world file would take it for the stored one.
  await socialAccountTable.remove(tx, account.id);
  return false;
}

export async function deleteSocialAccount(tx: Transaction, id: NodeId): Promise<boolean> {
  const account = await findSocialAccount(tx, id);
  if (account === undefined) return false;
  await socialAccountTable.remove(tx, id);
  if (account.social_scoped_id !== undefined) await deleteNode(tx, account.social_scoped_id);
  return true;
}

/** Removes a deleted page, user or app from the social accounts that refer to it, without deleting the accounts. */
export async function forgetHolder(tx: Transaction, holder: NodeId): Promise<void> {
  const own = await tx.all<{ id: string }>(
    sql`SELECT CAST(a.id AS TEXT) AS id FROM social_accounts a WHERE a.page = ${holder} OR a.user_id = ${holder}`,
  );
  await tx.run(sql`UPDATE social_accounts SET page = NULL WHERE page = ${holder}`);
  await tx.run(sql`UPDATE social_accounts SET user_id = NULL WHERE user_id = ${holder}`);
  for (const { id } of own) tx.invalidate(socialAccountFact, id);
  const connected = await tx.all<AccountRow>(append(socialAccountTable.select, "WHERE t.app_connections LIKE ?", [`%"${holder}"%`]));
  for (const { id, app_connections } of connected.map(accountOf)) {
    const others = app_connections.filter((app) => app !== holder);
    await tx.runOne(sql`UPDATE social_accounts SET app_connections = ${JSON.stringify(others)} WHERE id = ${id}`);
    tx.invalidate(socialAccountFact, id);
  }
}

function accountOf(row: AccountRow): SocialAccountFacts {
  const optional = (value: string | null) => (value === null ? undefined : nodeId(value));
  return {
    id: nodeId(row.id),
    username: row.username,
    social_scoped_id: optional(row.social_scoped_id),
    page: optional(row.page),
    user: optional(row.user_id),
    professional: row.is_professional === 1,
    app_connections: JSON.parse(row.app_connections),
  };
}
