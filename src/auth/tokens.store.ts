import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";
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

export async function findTokenByHash(reader: Reader, hash: string): Promise<Token | undefined> {
  const row = await reader.get<TokenRow>(sql`
    SELECT CAST(t.id AS TEXT) AS id, t.type, CAST(t.app AS TEXT) AS app, CAST(t.user_id AS TEXT) AS user_id, CAST(t.page AS TEXT) AS page,
      CAST(t.social_account AS TEXT) AS social_account, CAST(t.microblog_user AS TEXT) AS microblog_user, t.scopes, t.issued_at, t.expires_at,
      t.data_access_expires_at, t.revoked_at
    FROM tokens t WHERE t.hash = ${hash}`);
  return row === undefined ? undefined : tokenOf(row);
}

const byId = { columns: ["t.id"], direction: "descending", keyOf: (row: TokenRow) => [row.id] } as const;

export async function listTokens(reader: Reader, page: PageRequest): Promise<ListPage<Token>> {
  const found = await readPage<TokenRow>(
    reader,
    sql`
    SELECT CAST(t.id AS TEXT) AS id, t.type, CAST(t.app AS TEXT) AS app, CAST(t.user_id AS TEXT) AS user_id, CAST(t.page AS TEXT) AS page,
      CAST(t.social_account AS TEXT) AS social_account, CAST(t.microblog_user AS TEXT) AS microblog_user, t.scopes, t.issued_at, t.expires_at,
      t.data_access_expires_at, t.revoked_at
    FROM tokens t WHERE t.id > 0`,
    byId,
    page,
  );
  return { ...found, rows: found.rows.map(tokenOf) };
}

export async function insertToken(tx: Transaction, token: Token, hash: string): Promise<boolean> {
  const changed = await tx.run(sql`
    INSERT INTO tokens (hash, id, type, app, user_id, page, social_account, microblog_user, scopes, issued_at, expires_at, data_access_expires_at, revoked_at)
    VALUES (${hash}, ${token.id}, ${token.type}, ${token.app}, ${token.user ?? null}, ${token.page ?? null}, ${token.social_account ?? null},
      ${token.microblog_user ?? null}, ${JSON.stringify(token.scopes)}, ${token.issued_at}, ${token.expires_at}, ${token.data_access_expires_at},
      ${token.revoked_at})
    ON CONFLICT DO NOTHING`);
  return changed === 1;
}

/** Answers the hash of the token that was revoked; undefined when there is none of that id. */
export async function markTokenRevoked(tx: Transaction, id: string, revokedAt: number): Promise<string | undefined> {
  const row = await tx.get<{ hash: string }>(sql`SELECT t.hash FROM tokens t WHERE t.id = ${id}`);
  if (row === undefined) return undefined;
  await tx.run(sql`UPDATE tokens SET revoked_at = ${revokedAt} WHERE id = ${id} AND revoked_at = 0`);
  return row.hash;
}

/** All that name a node as their app or whom they speak for. Answers their hashes. It is a rare thing, so there is no index for it. */
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
