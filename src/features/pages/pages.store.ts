import { type PageRole, pageRoleFact, pageRoleKey } from "#auth/page-policies";
import { deleteNode, insertNode, nodeTable } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import { withIds } from "#storage/id-lists";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

export const pageMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE pages (id BIGINT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID",
      "CREATE TABLE page_people (page BIGINT NOT NULL, psid BIGINT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (page, psid)) WITHOUT ROWID",
      `CREATE TABLE page_roles (page BIGINT NOT NULL, user_id BIGINT NOT NULL, tasks TEXT NOT NULL, via_business INTEGER NOT NULL,
        PRIMARY KEY (page, user_id)) WITHOUT ROWID`,
      // This index finds the roles of a deleted user.
      "CREATE INDEX page_roles_by_user ON page_roles (user_id, page)",
    ],
  },
];

export interface PageRow extends Row {
  id: string;
  name: string;
}

export interface PersonRow extends Row {
  psid: string;
  name: string;
}

interface RoleRow extends Row {
  user_id: string;
  tasks: string;
  via_business: number;
}

export interface UserRole extends PageRole {
  readonly user: string;
}

export const pageTable = nodeTable<PageRow>({ table: "pages", nodeType: "page", columns: ["name"] });

const byPageOfUser = { columns: ["r.page"], direction: "ascending", keyOf: ({ id }: PageRow) => [id] } as const;

export const listPagesOfUser = (reader: Reader, user: NodeId, page: PageRequest): Promise<ListPage<PageRow & { tasks: string }>> =>
  readPage<PageRow & { tasks: string }>(
    reader,
    append(sql`SELECT CAST(r.page AS TEXT) AS id, p.name, r.tasks FROM page_roles r JOIN pages p ON p.id = r.page`, "WHERE r.user_id = ?", [user]),
    byPageOfUser,
    page,
  );

export async function deletePage(tx: Transaction, id: NodeId): Promise<boolean> {
  if (!(await pageTable.remove(tx, id))) return false;
  for (const { psid } of await listPeople(tx, id)) await deletePerson(tx, id, psid);
  for (const { user } of await listRoles(tx, id)) await deleteRole(tx, id, user);
  return true;
}

/** Stores a person who writes to the page. Returns false, and stores nothing, if the page-scoped id is used already. */
export async function insertPerson(tx: Transaction, page: NodeId, psid: NodeId, name: string): Promise<boolean> {
  if (!(await insertNode(tx, { id: psid, type: "page_person", owner: page }))) return false;
  await tx.runOne(sql`INSERT INTO page_people (page, psid, name) VALUES (${page}, ${psid}, ${name})`);
  return true;
}

export async function renamePerson(tx: Transaction, page: NodeId, psid: string, name: string): Promise<void> {
  await tx.runOne(sql`UPDATE page_people SET name = ${name} WHERE page = ${page} AND psid = ${psid}`);
}

export async function deletePerson(tx: Transaction, page: NodeId, psid: string): Promise<void> {
  await tx.run(sql`DELETE FROM page_people WHERE page = ${page} AND psid = ${psid}`);
  await deleteNode(tx, nodeId(psid));
}

export async function hasPerson(reader: Reader, page: NodeId, psid: NodeId): Promise<boolean> {
  return (await reader.get(sql`SELECT 1 AS one FROM page_people p WHERE p.page = ${page} AND p.psid = ${psid}`)) !== undefined;
}

export function listPeople(reader: Reader, page: NodeId): Promise<PersonRow[]> {
  return reader.all<PersonRow>(sql`SELECT CAST(p.psid AS TEXT) AS psid, p.name FROM page_people p WHERE p.page = ${page} ORDER BY p.psid`);
}

export async function saveRole(tx: Transaction, page: NodeId, role: UserRole): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO page_roles (page, user_id, tasks, via_business)
    VALUES (${page}, ${role.user}, ${JSON.stringify(role.tasks)}, ${role.via_business ? 1 : 0})
    ON CONFLICT (page, user_id) DO UPDATE SET tasks = excluded.tasks, via_business = excluded.via_business`);
  tx.invalidate(pageRoleFact, pageRoleKey(page, role.user));
}

export async function deleteRole(tx: Transaction, page: NodeId, user: string): Promise<void> {
  await tx.run(sql`DELETE FROM page_roles WHERE page = ${page} AND user_id = ${user}`);
  tx.invalidate(pageRoleFact, pageRoleKey(page, user));
}

/** Deletes the roles of a removed user on all pages. */
export async function deleteRolesOfUser(tx: Transaction, user: NodeId): Promise<void> {
  const own = await tx.all<{ page: string }>(sql`SELECT CAST(r.page AS TEXT) AS page FROM page_roles r WHERE r.user_id = ${user}`);
  for (const { page } of own) await deleteRole(tx, nodeId(page), user);
}

export async function listRoles(reader: Reader, page: NodeId): Promise<UserRole[]> {
  const rows = await reader.all<RoleRow>(
    sql`SELECT CAST(r.user_id AS TEXT) AS user_id, r.tasks, r.via_business FROM page_roles r WHERE r.page = ${page} ORDER BY r.user_id`,
  );
  return rows.map(roleOf);
}

export async function findRole(reader: Reader, page: NodeId, user: NodeId): Promise<UserRole | undefined> {
  const row = await reader.get<RoleRow>(
    sql`SELECT CAST(r.user_id AS TEXT) AS user_id, r.tasks, r.via_business FROM page_roles r WHERE r.page = ${page} AND r.user_id = ${user}`,
  );
  return row === undefined ? undefined : roleOf(row);
}

export async function hasRoleOnAny(reader: Reader, pages: readonly NodeId[], user: NodeId): Promise<boolean> {
  return (await reader.get(withIds(sql`SELECT 1 AS one FROM page_roles r WHERE r.user_id = ${user}`, "r.page", pages))) !== undefined;
}

const roleOf = (row: RoleRow): UserRole => ({ user: row.user_id, tasks: JSON.parse(row.tasks), via_business: row.via_business === 1 });
