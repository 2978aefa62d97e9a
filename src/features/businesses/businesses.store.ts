import { deleteNode, insertNode } from "#graph/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";

export interface BusinessRow extends Row {
  id: string;
  name: string;
}

export async function insertBusiness(tx: Transaction, id: NodeId, name: string): Promise<boolean> {
  if (!(await insertNode(tx, { id, type: "business", owner: id }))) return false;
  await tx.run(sql`INSERT INTO businesses (id, name) VALUES (${id}, ${name})`);
  return true;
}

export function findBusiness(reader: Reader, id: string): Promise<BusinessRow | undefined> {
  return reader.get<BusinessRow>(sql`SELECT CAST(t.id AS TEXT) AS id, t.name FROM businesses t WHERE t.id = ${id}`);
}

const byId = { columns: ["t.id"], direction: "ascending", keyOf: (row: BusinessRow) => [row.id] } as const;

export function listBusinesses(reader: Reader, page: PageRequest): Promise<ListPage<BusinessRow>> {
  return readPage<BusinessRow>(reader, sql`SELECT CAST(t.id AS TEXT) AS id, t.name FROM businesses t WHERE t.id > 0`, byId, page);
}

export async function renameBusiness(tx: Transaction, id: string, name: string): Promise<void> {
  await tx.run(sql`UPDATE businesses SET name = ${name} WHERE id = ${id}`);
}

export async function deleteBusiness(tx: Transaction, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM businesses WHERE id = ${id}`)) === 0) return false;
  await deleteNode(tx, nodeId(id));
  return true;
}
