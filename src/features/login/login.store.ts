import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { allWithIds } from "#storage/id-lists";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { type Row, type Sql, sql } from "#storage/sql";

/**
 * The permissions that a person granted in the login dialog, and that the app gets when it exchanges a code. Times in this file are in Unix seconds.
 */
export interface Grant {
  readonly app: NodeId;
  readonly person: NodeId;
  /** Whether the person is a social account and not a user. */
  readonly is_account: boolean;
  readonly redirect_uri: string;
  readonly scopes: readonly string[];
  /** The S256 code challenge of the request; empty if the request had no challenge. */
  readonly challenge: string;
  readonly expires_at: number;
}

export interface StoredCode extends Grant {
  /** The time of the exchange; 0 if the code has not been exchanged. */
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

/** Marks a code as exchanged. Returns false if the code was exchanged before. */
export const useCode = async (tx: Transaction, hash: string, nowSeconds: number): Promise<boolean> =>
  (await tx.run(sql`UPDATE login_codes SET used_at = ${Math.max(1, nowSeconds)} WHERE hash = ${hash} AND used_at = 0`)) === 1;

/**
 * Deletes the codes that expired before a given time, and the rows that link tokens to the deleted codes. The tokens that came from a deleted code
 * stay valid.
 */
export async function deleteOldCodes(tx: Transaction, before: number): Promise<void> {
  await tx.run(sql`DELETE FROM login_tokens WHERE code IN (SELECT c.hash FROM login_codes c WHERE c.expires_at < ${before})`);
  await tx.run(sql`DELETE FROM login_codes WHERE expires_at < ${before}`);
}

/** Records that a token came from a code. */
export async function recordToken(tx: Transaction, token: NodeId, code: string): Promise<void> {
  await tx.run(sql`INSERT INTO login_tokens (token, code) VALUES (${token}, ${code}) ON CONFLICT DO NOTHING`);
}

/** Returns the hash of the code that a token came from. */
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

/** The greatest number of permissions in a list of one person's permissions for one app: more than any platform has. */
const PERMISSIONS_MAX = 500;

export async function listPermissions(reader: Reader, app: NodeId, person: NodeId): Promise<Permission[]> {
  const rows = await reader.all<{ permission: string; status: string }>(sql`
    SELECT p.permission, p.status FROM login_permissions p WHERE p.app = ${app} AND p.person = ${person} ORDER BY p.permission
    LIMIT ${PERMISSIONS_MAX}`);
  return rows.map(({ permission, status }) => ({ permission, status: status === "granted" ? "granted" : "declined" }));
}

export const hasPermissions = async (reader: Reader, app: NodeId, person: NodeId): Promise<boolean> =>
  (await reader.get(sql`SELECT 1 AS one FROM login_permissions p WHERE p.app = ${app} AND p.person = ${person} LIMIT 1`)) !== undefined;

const declinedRows = (app: NodeId): Sql => sql`
  SELECT CAST(p.person AS TEXT) AS person, p.permission FROM login_permissions p WHERE p.app = ${app} AND p.status = 'declined'`;

/** Returns the permissions that each of the given people declined, by the ids of the people. */
export async function findDeclined(reader: Reader, app: NodeId, people: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const { person, permission } of await allWithIds<{ person: string; permission: string }>(reader, declinedRows(app), "p.person", people))
    found.set(person, [...(found.get(person) ?? []), permission]);
  return found;
}

export async function savePermission(tx: Transaction, app: NodeId, person: NodeId, { permission, status }: Permission): Promise<void> {
  await tx.run(sql`
    INSERT INTO login_permissions (app, person, permission, status) VALUES (${app}, ${person}, ${permission}, ${status})
    ON CONFLICT (app, person, permission) DO UPDATE SET status = excluded.status`);
}

export async function deletePermissions(tx: Transaction, app: NodeId, person: NodeId): Promise<void> {
  await tx.run(sql`DELETE FROM login_permissions WHERE app = ${app} AND person = ${person}`);
}

/** D-387: an app's answer to the request of a person to delete her data. */
interface DeletionAnswer {
  app: string;
  person: string;
  /** The time of the confirmation in Unix seconds; 0 if the app has not confirmed the request. */
  confirmed_at: number;
  /**
   * The address of the page on which the app shows the progress of the deletion, and the person's code for that page. The address and the code are
   * empty if the app has not confirmed the request.
   */
  url: string;
  confirmation_code: string;
  /** The reason why the app has not confirmed the request; empty if the app has confirmed the request, or if Plaza has not sent the request yet. */
  problem: string;
}

/** The latest request of a person to an app to delete data, with the app's answer. */
export interface DeletionRow extends DeletionAnswer, Row {
  /** The time of the person's request in Unix seconds. */
  requested_at: number;
}

/** Stores a person's request to delete data. An earlier request of the same person to the same app is overwritten. */
export async function insertDeletion(tx: Transaction, app: NodeId, person: NodeId, requestedAt: number): Promise<void> {
  await tx.run(sql`
    INSERT INTO login_deletions (app, person, requested_at, confirmed_at, url, confirmation_code, problem)
    VALUES (${app}, ${person}, ${requestedAt}, 0, '', '', '')
    ON CONFLICT (app, person) DO UPDATE SET requested_at = excluded.requested_at, confirmed_at = 0, url = '', confirmation_code = '', problem = ''`);
}

/** Stores the app's answer to a request to delete data, or the reason why the app has not answered. */
export async function answerDeletion(tx: Transaction, { app, person, confirmed_at, url, confirmation_code, problem }: DeletionAnswer): Promise<void> {
  await tx.run(sql`
    UPDATE login_deletions SET confirmed_at = ${confirmed_at}, url = ${url}, confirmation_code = ${confirmation_code}, problem = ${problem}
    WHERE app = ${app} AND person = ${person}`);
}

const deletionRows = sql`
  SELECT CAST(d.app AS TEXT) AS app, CAST(d.person AS TEXT) AS person, d.requested_at, d.confirmed_at, d.url, d.confirmation_code, d.problem
  FROM login_deletions d WHERE d.app > 0`;

export const listDeletions = (reader: Reader, page: PageRequest): Promise<ListPage<DeletionRow>> =>
  readPage<DeletionRow>(reader, deletionRows, ordered("ascending", "d.app", "d.person"), page);

/** D-390: marks an answer of the sign-in page as used. Returns false if the same answer was used before. */
export async function useSignIn(tx: Transaction, hash: string, expiresAt: number, nowSeconds: number): Promise<boolean> {
  await tx.run(sql`DELETE FROM login_sign_ins WHERE expires_at < ${nowSeconds}`);
  return (await tx.run(sql`INSERT INTO login_sign_ins (hash, expires_at) VALUES (${hash}, ${expiresAt}) ON CONFLICT DO NOTHING`)) === 1;
}

/** Deletes all codes, permissions and requests of an app, user or social account that was deleted. */
export async function forgetOwner(tx: Transaction, owner: NodeId): Promise<void> {
  await tx.run(sql`
    DELETE FROM login_tokens WHERE code IN (SELECT c.hash FROM login_codes c WHERE c.app = ${owner} OR c.person = ${owner})`);
  await tx.run(sql`DELETE FROM login_codes WHERE app = ${owner} OR person = ${owner}`);
  await tx.run(sql`DELETE FROM login_permissions WHERE app = ${owner} OR person = ${owner}`);
  await tx.run(sql`DELETE FROM login_deletions WHERE app = ${owner} OR person = ${owner}`);
}
