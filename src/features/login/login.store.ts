import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";

/** The permissions that a person gave in the dialog, for one exchange of a code. Times are in Unix seconds. */
export interface Grant {
  readonly app: NodeId;
  readonly person: NodeId;
  /** Whether the person is a social account and not a user. */
  readonly is_account: boolean;
  readonly redirect_uri: string;
  readonly scopes: readonly string[];
  /** The S256 challenge of the request; empty if the request had none. */
  readonly challenge: string;
  readonly expires_at: number;
}

export interface StoredCode extends Grant {
  /** 0: the code has not been exchanged. */
  readonly used_at: number;
}

interface CodeRow extends Row {
  app: string;
  person: string;
  is_account: number;
  redirect_uri: string;
  scopes: string;
  challenge: string;
  expires_at: number;
  used_at: number;
}

export async function insertCode(tx: Transaction, hash: string, grant: Grant): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO login_codes (hash, app, person, is_account, redirect_uri, scopes, challenge, expires_at, used_at)
    VALUES (${hash}, ${grant.app}, ${grant.person}, ${grant.is_account ? 1 : 0}, ${grant.redirect_uri}, ${JSON.stringify(grant.scopes)},
      ${grant.challenge}, ${grant.expires_at}, 0)`);
}

export async function findCode(reader: Reader, hash: string): Promise<StoredCode | undefined> {
  const row = await reader.get<CodeRow>(sql`
    SELECT CAST(c.app AS TEXT) AS app, CAST(c.person AS TEXT) AS person, c.is_account, c.redirect_uri, c.scopes, c.challenge, c.expires_at, c.used_at
    FROM login_codes c WHERE c.hash = ${hash}`);
  if (row === undefined) return undefined;
  return { ...row, app: nodeId(row.app), person: nodeId(row.person), is_account: row.is_account === 1, scopes: JSON.parse(row.scopes) };
}

/** Marks a code as exchanged. Returns false if it was exchanged before. */
export const useCode = async (tx: Transaction, hash: string, nowSeconds: number): Promise<boolean> =>
  (await tx.run(sql`UPDATE login_codes SET used_at = ${Math.max(1, nowSeconds)} WHERE hash = ${hash} AND used_at = 0`)) === 1;

/** Deletes codes that ended before this time, with the list of their tokens. The tokens themselves stay. */
export async function deleteOldCodes(tx: Transaction, before: number): Promise<void> {
  await tx.run(sql`DELETE FROM login_tokens WHERE code IN (SELECT c.hash FROM login_codes c WHERE c.expires_at < ${before})`);
  await tx.run(sql`DELETE FROM login_codes WHERE expires_at < ${before}`);
}

/** Records that a token came from a code. */
export async function recordToken(tx: Transaction, token: NodeId, code: string): Promise<void> {
  await tx.run(sql`INSERT INTO login_tokens (token, code) VALUES (${token}, ${code}) ON CONFLICT DO NOTHING`);
}

/** The hash of the code that a token came from. */
export const findCodeOf = async (reader: Reader, token: NodeId): Promise<string | undefined> =>
  (await reader.get<{ code: string }>(sql`SELECT t.code FROM login_tokens t WHERE t.token = ${token}`))?.code;

export async function listTokensOf(reader: Reader, code: string): Promise<NodeId[]> {
  const rows = await reader.all<{ token: string }>(sql`SELECT CAST(t.token AS TEXT) AS token FROM login_tokens t WHERE t.code = ${code}`);
  return rows.map(({ token }) => nodeId(token));
}

export interface Permission {
  readonly permission: string;
  readonly status: "granted" | "declined";
}

/** The most permissions of one person for one app that are kept: more than any platform has. */
const PERMISSIONS_MAX = 500;

export async function listPermissions(reader: Reader, app: NodeId, person: NodeId): Promise<Permission[]> {
  const rows = await reader.all<{ permission: string; status: string }>(sql`
    SELECT p.permission, p.status FROM login_permissions p WHERE p.app = ${app} AND p.person = ${person} ORDER BY p.permission
    LIMIT ${PERMISSIONS_MAX}`);
  return rows.map(({ permission, status }) => ({ permission, status: status === "granted" ? "granted" : "declined" }));
}

export async function savePermission(tx: Transaction, app: NodeId, person: NodeId, { permission, status }: Permission): Promise<void> {
  await tx.run(sql`
    INSERT INTO login_permissions (app, person, permission, status) VALUES (${app}, ${person}, ${permission}, ${status})
    ON CONFLICT (app, person, permission) DO UPDATE SET status = excluded.status`);
}

export async function deletePermissions(tx: Transaction, app: NodeId, person: NodeId): Promise<void> {
  await tx.run(sql`DELETE FROM login_permissions WHERE app = ${app} AND person = ${person}`);
}

/** Deletes all that is stored for a removed app, user or account. */
export async function forgetOwner(tx: Transaction, owner: NodeId): Promise<void> {
  await tx.run(sql`
    DELETE FROM login_tokens WHERE code IN (SELECT c.hash FROM login_codes c WHERE c.app = ${owner} OR c.person = ${owner})`);
  await tx.run(sql`DELETE FROM login_codes WHERE app = ${owner} OR person = ${owner}`);
  await tx.run(sql`DELETE FROM login_permissions WHERE app = ${owner} OR person = ${owner}`);
}
