import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import { allWithIds } from "#storage/id-lists";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
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

/** The columns of an account that responses show. */
export interface ShownAccount extends Row {
  id: string;
  username: string;
}

interface AccountRow extends Row {
  id: string;
  username: string;
  social_scoped_id: string | null;
  page: string | null;
  user_id: string | null;
  is_professional: number;
  app_connections: string;
}

const select = sql`
  SELECT CAST(a.id AS TEXT) AS id, a.username, CAST(a.social_scoped_id AS TEXT) AS social_scoped_id, CAST(a.page AS TEXT) AS page,
    CAST(a.user_id AS TEXT) AS user_id, a.is_professional, a.app_connections
  FROM social_accounts a`;

export async function findSocialAccount(reader: Reader, id: string): Promise<SocialAccountFacts | undefined> {
  const row = await reader.get<AccountRow>(append(select, "WHERE a.id = ?", [id]));
  return row === undefined ? undefined : accountOf(row);
}

const usernames = sql`SELECT CAST(a.id AS TEXT) AS id, a.username FROM social_accounts a WHERE a.id > 0`;

/** Returns a map from the ids of accounts to their usernames. The map leaves out the ids of missing accounts. */
export async function findUsernames(reader: Reader, accounts: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await allWithIds<{ id: string; username: string }>(reader, usernames, "a.id", accounts);
  return new Map(rows.map(({ id, username }) => [id, username]));
}

const byId = ordered("ascending", "a.id");

export async function listSocialAccounts(reader: Reader, page: PageRequest): Promise<ListPage<SocialAccountFacts>> {
  const found = await readPage<AccountRow>(reader, append(select, "WHERE a.id > 0"), byId, page);
  return { ...found, rows: found.rows.map(accountOf) };
}

export async function listAccountsOfPage(reader: Reader, page: NodeId): Promise<SocialAccountFacts[]> {
  const rows = await reader.all<AccountRow>(append(select, "WHERE a.page = ? ORDER BY a.id", [page]));
  return rows.map(accountOf);
}

/** Stores a new account. Returns false if the account's id or its social-scoped id is used already. */
export async function insertSocialAccount(tx: Transaction, account: SocialAccountFacts): Promise<boolean> {
  if (!(await insertNode(tx, { id: account.id, type: "social_account", owner: account.id }))) return false;
  const scoped = account.social_scoped_id;
  if (scoped !== undefined && !(await insertNode(tx, { id: scoped, type: "social_scoped_account", owner: account.id }))) return false;
  await tx.runOne(sql`
    INSERT INTO social_accounts (id, username, social_scoped_id, page, user_id, is_professional, app_connections)
    VALUES (${account.id}, ${account.username}, ${scoped ?? null}, ${account.page ?? null}, ${account.user ?? null},
      ${account.professional ? 1 : 0}, ${JSON.stringify(account.app_connections)})`);
  return true;
}

export async function deleteSocialAccount(tx: Transaction, id: NodeId): Promise<boolean> {
  const account = await findSocialAccount(tx, id);
  if (account === undefined) return false;
  await tx.runOne(sql`DELETE FROM social_accounts WHERE id = ${id}`);
  await deleteNode(tx, id);
  if (account.social_scoped_id !== undefined) await deleteNode(tx, account.social_scoped_id);
  tx.invalidate(socialAccountFact, id);
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
  const connected = await tx.all<AccountRow>(append(select, "WHERE a.app_connections LIKE ?", [`%"${holder}"%`]));
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
