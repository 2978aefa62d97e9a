import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";
import type { Token, TokenKind } from "./token.ts";

interface TokenRow extends Row {
  id: string;
  type: string;
  app: string;
  user_id: string | null;
  page: string | null;
  social_account: string | null;
  microblog_user: string | null;
  scopes: string;
  issued_at: number;
  expires_at: number;
  data_access_expires_at: number;
  revoked_at: number;
}

const tokenRows = sql`
  SELECT CAST(t.id AS TEXT) AS id, t.type, CAST(t.app AS TEXT) AS app, CAST(t.user_id AS TEXT) AS user_id, CAST(t.page AS TEXT) AS page,
    CAST(t.social_account AS TEXT) AS social_account, CAST(t.microblog_user AS TEXT) AS microblog_user, t.scopes, t.issued_at, t.expires_at,
    t.data_access_expires_at, t.revoked_at
  FROM tokens t`;

export async function findTokenByHash(reader: Reader, hash: string): Promise<Token | undefined> {
  const row = await reader.get<TokenRow>(append(tokenRows, "WHERE t.hash = ?", [hash]));
  return row === undefined ? undefined : tokenOf(row);
}

const byId = ordered("descending", "t.id");

export async function listTokens(reader: Reader, page: PageRequest): Promise<ListPage<Token>> {
  const found = await readPage<TokenRow>(reader, append(tokenRows, "WHERE t.id > 0 AND t.copy_of = 0"), byId, page);
  return { ...found, rows: found.rows.map(tokenOf) };
}

/** Stores a token. `copyOf` is the id of the original token if this token is a copy. Returns false if another token already has the same value. */
export async function insertToken(tx: Transaction, token: Token, hash: string, copyOf: NodeId | "0" = "0"): Promise<boolean> {
  const changed = await tx.run(sql`
    INSERT INTO tokens (hash, id, type, app, user_id, page, social_account, microblog_user, scopes, issued_at, expires_at, data_access_expires_at,
      revoked_at, copy_of)
    VALUES (${hash}, ${token.id}, ${token.type}, ${token.app}, ${token.user ?? null}, ${token.page ?? null}, ${token.social_account ?? null},
      ${token.microblog_user ?? null}, ${JSON.stringify(token.scopes)}, ${token.issued_at}, ${token.expires_at}, ${token.data_access_expires_at},
      ${token.revoked_at}, ${copyOf})
    ON CONFLICT DO NOTHING`);
  return changed === 1;
}

/** A valid token in the result of a query for all tokens of one node. */
export interface LiveToken {
  readonly type: "social_user" | "page";
  /** The person to whom a page token was issued. */
  readonly user: NodeId | undefined;
  readonly scopes: readonly string[];
}

/**
 * The valid tokens of one app for one social account or one page. The result has no token whose access to the person's data has expired at
 * `nowSeconds` (D-11).
 */
export async function listLiveTokens(
  reader: Reader,
  app: NodeId,
  type: LiveToken["type"],
  principal: NodeId,
  nowSeconds: number,
): Promise<LiveToken[]> {
  const live = sql`
    SELECT CAST(t.user_id AS TEXT) AS user_id, t.scopes FROM tokens t
    WHERE t.app = ${app} AND t.type = ${type} AND t.revoked_at = 0 AND (t.expires_at = 0 OR t.expires_at > ${nowSeconds})
      AND (t.data_access_expires_at = 0 OR t.data_access_expires_at > ${nowSeconds})`;
  const tail = type === "page" ? " AND t.page = ?" : " AND t.social_account = ?";
  const rows = await reader.all<{ user_id: string | null; scopes: string }>(append(live, tail, [principal]));
  return rows.map(({ user_id, scopes }) => ({ type, user: user_id === null ? undefined : nodeId(user_id), scopes: JSON.parse(scopes) }));
}

/** Finds a token by its id. The function does not find copies of tokens. */
export async function findTokenById(reader: Reader, id: string): Promise<Token | undefined> {
  const row = await reader.get<TokenRow>(append(tokenRows, "WHERE t.id = ? AND t.copy_of = 0", [id]));
  return row === undefined ? undefined : tokenOf(row);
}

/** The hash of a token's value. Throws if the token does not exist, because every caller passes the token of a request, which exists. */
export async function readTokenHash(reader: Reader, id: NodeId): Promise<string> {
  const row = await reader.get<{ hash: string }>(sql`SELECT t.hash FROM tokens t WHERE t.id = ${id}`);
  if (row === undefined) throw new Error(`there is no token ${id}`);
  return row.hash;
}

/** Deletes the expired copies of a token, and returns the hashes of the deleted copies. */
export async function deleteExpiredCopies(tx: Transaction, original: NodeId, nowSeconds: number): Promise<string[]> {
  const rows = await tx.all<{ hash: string }>(sql`
    DELETE FROM tokens WHERE copy_of = ${original} AND copy_of > 0 AND expires_at <= ${nowSeconds} RETURNING hash`);
  return rows.map(({ hash }) => hash);
}

/** Revokes a token and its copies, and returns the hashes of the revoked tokens. Returns an empty list if no token has that id. */
export async function markTokenRevoked(tx: Transaction, id: string, revokedAt: number): Promise<string[]> {
  const rows = await tx.all<{ hash: string }>(sql`
    SELECT t.hash FROM tokens t WHERE t.id = ${id} UNION ALL SELECT t.hash FROM tokens t WHERE t.copy_of = ${id} AND t.copy_of > 0`);
  await tx.run(sql`UPDATE tokens SET revoked_at = ${revokedAt} WHERE id = ${id} AND revoked_at = 0`);
  await tx.run(sql`UPDATE tokens SET revoked_at = ${revokedAt} WHERE copy_of = ${id} AND copy_of > 0 AND revoked_at = 0`);
  return rows.map(({ hash }) => hash);
}

export async function markRevokedByHash(tx: Transaction, hash: string, revokedAt: number): Promise<void> {
  await tx.run(sql`UPDATE tokens SET revoked_at = ${revokedAt} WHERE hash = ${hash} AND revoked_at = 0`);
}

export async function deleteTokenByHash(tx: Transaction, hash: string): Promise<void> {
  await tx.run(sql`DELETE FROM tokens WHERE hash = ${hash}`);
}

/** Revokes the tokens of a page that were issued to a person, and returns the hashes of the revoked tokens. */
export async function revokePageTokens(tx: Transaction, page: NodeId, user: NodeId, revokedAt: number): Promise<string[]> {
  const rows = await tx.all<{ hash: string }>(sql`
    UPDATE tokens SET revoked_at = ${revokedAt} WHERE page = ${page} AND user_id = ${user} AND revoked_at = 0 RETURNING hash`);
  return rows.map(({ hash }) => hash);
}

/**
 * Revokes the page tokens of a person who is removed, and removes the person's id from the rows of these tokens. Returns the hashes of the revoked
 * tokens.
 */
export async function revokePageTokensOf(tx: Transaction, user: NodeId, revokedAt: number): Promise<string[]> {
  const rows = await tx.all<{ hash: string }>(sql`
    UPDATE tokens SET user_id = NULL, revoked_at = CASE WHEN revoked_at = 0 THEN ${revokedAt} ELSE revoked_at END
    WHERE type = 'page' AND user_id = ${user} RETURNING hash`);
  return rows.map(({ hash }) => hash);
}

/** D-384: removes a scope from the app's tokens for a person. Returns the hashes of the changed tokens. */
export async function removeScope(tx: Transaction, app: NodeId, user: NodeId, scope: string): Promise<string[]> {
  const rows = await tx.all<{ hash: string; scopes: string }>(sql`
    SELECT t.hash, t.scopes FROM tokens t WHERE t.app = ${app} AND t.user_id = ${user} AND t.revoked_at = 0`);
  const changed = rows.map(({ hash, scopes }) => ({ hash, before: JSON.parse(scopes) as string[] })).filter(({ before }) => before.includes(scope));
  for (const { hash, before } of changed)
    await tx.run(sql`UPDATE tokens SET scopes = ${JSON.stringify(before.filter((one) => one !== scope))} WHERE hash = ${hash}`);
  return changed.map(({ hash }) => hash);
}

/** Whether the app has a token for a person that has not been revoked. */
export const hasTokenOfPerson = async (reader: Reader, app: NodeId, user: NodeId): Promise<boolean> =>
  (await reader.get(sql`SELECT 1 AS one FROM tokens t WHERE t.app = ${app} AND t.user_id = ${user} AND t.revoked_at = 0 LIMIT 1`)) !== undefined;

/** D-385: revokes the app's tokens for a person, and returns the hashes of the revoked tokens. */
export async function endTokensOfPerson(tx: Transaction, app: NodeId, user: NodeId, revokedAt: number): Promise<string[]> {
  const rows = await tx.all<{ hash: string }>(sql`
    UPDATE tokens SET revoked_at = ${revokedAt} WHERE app = ${app} AND user_id = ${user} AND revoked_at = 0 RETURNING hash`);
  return rows.map(({ hash }) => hash);
}

/**
 * Deletes the tokens that belong to the app with this id, were issued for the person with this id, or act as the node with this id. Returns the
 * hashes of the deleted tokens. The SQL statement that deletes a node's tokens has no index of its own, because nodes are rarely deleted.
 */
export async function deleteTokensNaming(tx: Transaction, id: NodeId): Promise<string[]> {
  const rows = await tx.all<{ hash: string }>(sql`
    DELETE FROM tokens WHERE app = ${id} OR user_id = ${id} OR page = ${id} OR social_account = ${id} OR microblog_user = ${id} RETURNING hash`);
  return rows.map(({ hash }) => hash);
}

function tokenOf(row: TokenRow): Token {
  const optional = (value: string | null) => (value === null ? undefined : nodeId(value));
  return {
    id: nodeId(row.id),
    type: row.type as TokenKind,
    app: nodeId(row.app),
    user: optional(row.user_id),
    page: optional(row.page),
    social_account: optional(row.social_account),
    microblog_user: optional(row.microblog_user),
    scopes: JSON.parse(row.scopes),
    issued_at: row.issued_at,
    expires_at: row.expires_at,
    data_access_expires_at: row.data_access_expires_at,
    revoked_at: row.revoked_at,
  };
}
