import type { AppFacts } from "#auth/app-facts";
import { appFact } from "#auth/tokens";
import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { allWithIds } from "#storage/id-lists";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, placeholders, type Row, sql } from "#storage/sql";

export interface RoleRow extends Row {
  person: string;
  role: string;
  is_microblog_user: number;
}

export interface AppRow extends Row {
  id: string;
  name: string;
  secret_hash: string;
  sealed_secret: string;
  mode: string;
  created_time: number;
  marketing_first_used_time: number;
  auto_upgrade: number;
  require_appsecret_proof: number;
  allow_tokenless_events: number;
  automatic_event_logging: number;
  access_level: string;
  messaging_access: number;
  event_name_limit: number;
  event_schemas: string;
  migrations: string;
  redirect_uris: string;
  deauthorize_url: string | null;
  data_deletion_url: string | null;
}

/** The columns of an app without the id. The columns of the second list hold 0 or 1. */
const columns = [
  "name",
  "secret_hash",
  "sealed_secret",
  "mode",
  "created_time",
  "marketing_first_used_time",
  "access_level",
  "event_name_limit",
] as const;
const flags = ["auto_upgrade", "require_appsecret_proof", "allow_tokenless_events", "automatic_event_logging", "messaging_access"] as const;
const all = [...columns, ...flags, "event_schemas", "migrations", "redirect_uris", "deauthorize_url", "data_deletion_url"];

const select = append(sql`SELECT CAST(a.id AS TEXT) AS id,`, `${all.map((column) => `a.${column}`).join(", ")} FROM apps a`);
const saved = `(id, ${all.join(", ")}) VALUES ${placeholders(all.length + 1)}
  ON CONFLICT (id) DO UPDATE SET ${all.map((column) => `${column} = excluded.${column}`).join(", ")}`;

export async function findApp(reader: Reader, id: string): Promise<AppFacts | undefined> {
  const row = await findAppRow(reader, id);
  return row === undefined ? undefined : recordOf(row);
}

export const findAppRow = (reader: Reader, id: string): Promise<AppRow | undefined> => reader.get<AppRow>(append(select, "WHERE a.id = ?", [id]));

const appNames = sql`SELECT CAST(a.id AS TEXT) AS id, a.name FROM apps a WHERE a.id > 0`;

/** Returns the names of the apps that exist, by the apps' ids. */
export async function findAppNames(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await allWithIds<Pick<AppRow, "id" | "name">>(reader, appNames, "a.id", ids);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

const byId = ordered("ascending", "a.id");

export async function listApps(reader: Reader, page: PageRequest): Promise<ListPage<AppFacts>> {
  const found = await readPage<AppRow>(reader, append(select, "WHERE a.id > 0"), byId, page);
  return { ...found, rows: found.rows.map(recordOf) };
}

export async function insertApp(tx: Transaction, app: AppFacts): Promise<boolean> {
  if (!(await insertNode(tx, { id: app.id, type: "app", owner: app.id }))) return false;
  await saveApp(tx, app);
  return true;
}

export async function saveApp(tx: Transaction, app: AppFacts): Promise<void> {
  const texts = [JSON.stringify(app.event_schemas), JSON.stringify(app.migrations), JSON.stringify(app.redirect_uris)];
  const callbacks = [app.deauthorize_url ?? null, app.data_deletion_url ?? null];
  const values = [app.id, ...columns.map((column) => app[column]), ...flags.map((column) => (app[column] ? 1 : 0)), ...texts, ...callbacks];
  await tx.runOne(append(sql`INSERT INTO apps`, saved, values));
  tx.invalidate(appFact, app.id);
}

/** Saves the secret of an app, sealed with the new key, unless somebody has replaced the secret since it was read. */
export async function resealSecret(tx: Transaction, { id, sealed_secret }: AppFacts, sealed: string): Promise<void> {
  await tx.run(sql`UPDATE apps SET sealed_secret = ${sealed} WHERE id = ${id} AND sealed_secret = ${sealed_secret}`);
  tx.invalidate(appFact, id);
}

/** Returns the number of sealed secrets that do not begin with `prefix`. `prefix` must contain no wildcard of LIKE. */
export async function countSealedOtherwise(reader: Reader, prefix: string): Promise<number> {
  const row = await reader.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM apps a WHERE a.sealed_secret NOT LIKE ${`${prefix}%`}`);
  return row?.n ?? 0;
}

export async function recordMarketingUse(tx: Transaction, app: NodeId, now: number): Promise<void> {
  await tx.run(sql`UPDATE apps SET marketing_first_used_time = ${now} WHERE id = ${app} AND marketing_first_used_time = 0`);
  tx.invalidate(appFact, app);
}

export async function saveMigrations(tx: Transaction, app: NodeId, migrations: Readonly<Record<string, boolean>>): Promise<void> {
  await tx.runOne(sql`UPDATE apps SET migrations = ${JSON.stringify(migrations)} WHERE id = ${app}`);
  tx.invalidate(appFact, app);
}

export async function deleteApp(tx: Transaction, id: NodeId): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM apps WHERE id = ${id}`)) === 0) return false;
  await deleteRoles(tx, id);
  await deleteNode(tx, id);
  tx.invalidate(appFact, id);
  return true;
}

export async function insertRole(tx: Transaction, app: NodeId, role: RoleRow): Promise<void> {
  await tx.run(sql`
    INSERT INTO app_roles (app, person, role, is_microblog_user) VALUES (${app}, ${role.person}, ${role.role}, ${role.is_microblog_user})
    ON CONFLICT DO NOTHING`);
}

export async function deleteRoles(tx: Transaction, app: NodeId): Promise<void> {
  await tx.run(sql`DELETE FROM app_roles WHERE app = ${app}`);
}

/** Deletes the roles of a removed user or microblog user on all apps. */
export async function deleteRolesOfPerson(tx: Transaction, person: NodeId): Promise<void> {
  await tx.run(sql`DELETE FROM app_roles WHERE person = ${person}`);
}

export function listRoles(reader: Reader, app: NodeId): Promise<RoleRow[]> {
  return reader.all<RoleRow>(
    sql`SELECT CAST(r.person AS TEXT) AS person, r.role, r.is_microblog_user FROM app_roles r WHERE r.app = ${app} ORDER BY r.person, r.role`,
  );
}

export async function rolesOf(reader: Reader, app: NodeId, person: NodeId): Promise<string[]> {
  const rows = await reader.all<{ role: string }>(sql`SELECT r.role FROM app_roles r WHERE r.app = ${app} AND r.person = ${person}`);
  return rows.map(({ role }) => role);
}

const recordOf = (row: AppRow): AppFacts => ({
  ...row,
  id: nodeId(row.id),
  mode: row.mode as AppFacts["mode"],
  auto_upgrade: row.auto_upgrade === 1,
  require_appsecret_proof: row.require_appsecret_proof === 1,
  allow_tokenless_events: row.allow_tokenless_events === 1,
  automatic_event_logging: row.automatic_event_logging === 1,
  access_level: row.access_level as AppFacts["access_level"],
  messaging_access: row.messaging_access === 1,
  event_schemas: JSON.parse(row.event_schemas),
  migrations: JSON.parse(row.migrations),
  redirect_uris: JSON.parse(row.redirect_uris),
  deauthorize_url: row.deauthorize_url ?? undefined,
  data_deletion_url: row.data_deletion_url ?? undefined,
});
