import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

export interface UserRow extends Row {
  id: string;
  name: string;
}

export async function insertUser(tx: Transaction, id: NodeId, name: string): Promise<boolean> {
  if (!(await insertNode(tx, { id, type: "user", owner: id }))) return false;
  await tx.runOne(sql`INSERT INTO users (id, name) VALUES (${id}, ${name})`);
  return true;
}

const select = sql`SELECT CAST(t.id AS TEXT) AS id, t.name FROM users t`;

export const findUser = (reader: Reader, id: string): Promise<UserRow | undefined> => reader.get<UserRow>(append(select, "WHERE t.id = ?", [id]));

const byId = ordered("ascending", "t.id");

export const listUsers = (reader: Reader, page: PageRequest): Promise<ListPage<UserRow>> =>
  readPage<UserRow>(reader, append(select, "WHERE t.id > 0"), byId, page);

export async function renameUser(tx: Transaction, id: string, name: string): Promise<void> {
  await tx.runOne(sql`UPDATE users SET name = ${name} WHERE id = ${id}`);
}

export async function deleteUser(tx: Transaction, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM users WHERE id = ${id}`)) === 0) return false;
  await deleteNode(tx, nodeId(id));
  return true;
}
