import type { AppFacts } from "#auth/app-facts";
import { appFact } from "#auth/tokens";
import { nodeTable } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";

export const appMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE apps (
        id BIGINT PRIMARY KEY, name TEXT NOT NULL, secret_hash TEXT NOT NULL, sealed_secret TEXT NOT NULL, mode TEXT NOT NULL,
        created_time BIGINT NOT NULL, marketing_first_used_time BIGINT NOT NULL, auto_upgrade INTEGER NOT NULL,
        require_appsecret_proof INTEGER NOT NULL, allow_tokenless_events INTEGER NOT NULL, automatic_event_logging INTEGER NOT NULL,
        access_level TEXT NOT NULL, messaging_access INTEGER NOT NULL, event_name_limit INTEGER NOT NULL, event_schemas TEXT NOT NULL,
        migrations TEXT NOT NULL, redirect_uris TEXT NOT NULL, deauthorize_url TEXT, data_deletion_url TEXT
      ) WITHOUT ROWID`,
      `CREATE TABLE app_roles (app BIGINT NOT NULL, person BIGINT NOT NULL, role TEXT NOT NULL, is_microblog_user INTEGER NOT NULL,
        PRIMARY KEY (app, person, role)) WITHOUT ROWID`,
      // This index finds the roles of a deleted person.
      "CREATE INDEX app_roles_by_person ON app_roles (person)",
    ],
  },
];

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

const texts = ["name", "secret_hash", "sealed_secret", "mode", "created_time", "marketing_first_used_time", "access_level", "event_name_limit"];
const flags = ["auto_upgrade", "require_appsecret_proof", "allow_tokenless_events", "automatic_event_logging", "messaging_access"] as const;

export const appTable = nodeTable<AppRow>({
  table: "apps",
  nodeType: "app",
  columns: [...texts, ...flags, "event_schemas", "migrations", "redirect_uris", "deauthorize_url", "data_deletion_url"],
  fact: appFact,
});

export async function findApp(reader: Reader, id: string): Promise<AppFacts | undefined> {
  const row = await appTable.find(reader, id);
  return row === undefined ? undefined : recordOf(row);
}

export async function listApps(reader: Reader, page: PageRequest): Promise<ListPage<AppFacts>> {
  const found = await appTable.list(reader, page);
  return { ...found, rows: found.rows.map(recordOf) };
}

/**
 * Saves the secret of an app after it was sealed with the new key. If another transaction has replaced the secret since it was read, the function
 * does not change the stored secret.
 */
export async function resealSecret(tx: Transaction, { id, sealed_secret }: AppFacts, sealed: string): Promise<void> {
  await tx.run(sql`UPDATE apps SET sealed_secret = ${sealed} WHERE id = ${id} AND sealed_secret = ${sealed_secret}`);
  tx.invalidate(appFact, id);
}

/** Returns the number of sealed secrets that do not begin with `prefix`. The text `prefix` must contain no wildcard of LIKE (`%` or `_`). */
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
  if (!(await appTable.remove(tx, id))) return false;
  await deleteRoles(tx, id);
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
  ...(Object.fromEntries(flags.map((flag) => [flag, row[flag] === 1])) as Pick<AppFacts, (typeof flags)[number]>),
  id: nodeId(row.id),
  mode: row.mode as AppFacts["mode"],
  access_level: row.access_level as AppFacts["access_level"],
  event_schemas: JSON.parse(row.event_schemas),
  migrations: JSON.parse(row.migrations),
  redirect_uris: JSON.parse(row.redirect_uris),
  deauthorize_url: row.deauthorize_url ?? undefined,
  data_deletion_url: row.data_deletion_url ?? undefined,
});

export const rowOf = (app: AppFacts): AppRow => ({
  ...app,
  ...(Object.fromEntries(flags.map((flag) => [flag, app[flag] ? 1 : 0])) as Pick<AppRow, (typeof flags)[number]>),
  event_schemas: JSON.stringify(app.event_schemas),
  migrations: JSON.stringify(app.migrations),
  redirect_uris: JSON.stringify(app.redirect_uris),
  deauthorize_url: app.deauthorize_url ?? null,
  data_deletion_url: app.data_deletion_url ?? null,
});
