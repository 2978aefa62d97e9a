import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";
import { businessPersonFact, businessPersonKey } from "./businesses.api.ts";

export interface BusinessRow extends Row {
  id: string;
  name: string;
}

export async function insertBusiness(tx: Transaction, id: NodeId, name: string): Promise<boolean> {
  if (!(await insertNode(tx, { id, type: "business", owner: id }))) return false;
  await tx.runOne(sql`INSERT INTO businesses (id, name) VALUES (${id}, ${name})`);
  return true;
}

const select = sql`SELECT CAST(t.id AS TEXT) AS id, t.name FROM businesses t`;

export const findBusiness = (reader: Reader, id: string): Promise<BusinessRow | undefined> =>
  reader.get<BusinessRow>(append(select, "WHERE t.id = ?", [id]));

const byId = ordered("ascending", "t.id");

export const listBusinesses = (reader: Reader, page: PageRequest): Promise<ListPage<BusinessRow>> =>
  readPage<BusinessRow>(reader, append(select, "WHERE t.id > 0"), byId, page);

export async function renameBusiness(tx: Transaction, id: string, name: string): Promise<void> {
  await tx.runOne(sql`UPDATE businesses SET name = ${name} WHERE id = ${id}`);
}

export async function deleteBusiness(tx: Transaction, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM businesses WHERE id = ${id}`)) === 0) return false;
  await savePeople(tx, id, []);
  await deleteNode(tx, nodeId(id));
  return true;
}

export async function hasPerson(reader: Reader, business: NodeId, user: NodeId): Promise<boolean> {
  return (await reader.get(sql`SELECT 1 AS one FROM business_people p WHERE p.business = ${business} AND p.user_id = ${user}`)) !== undefined;
}

export function listPeople(reader: Reader, business: string): Promise<{ user: string }[]> {
  return reader.all(sql`SELECT CAST(p.user_id AS TEXT) AS "user" FROM business_people p WHERE p.business = ${business} ORDER BY p.user_id`);
}

/** Replaces the people who work for the business. */
export async function savePeople(tx: Transaction, business: string, people: readonly { readonly user: string }[]): Promise<void> {
  for (const { user } of await listPeople(tx, business)) {
    if (!people.some((kept) => kept.user === user)) await deletePerson(tx, business, user);
  }
  for (const { user } of people)
    await tx.run(sql`INSERT INTO business_people (business, user_id) VALUES (${business}, ${user}) ON CONFLICT DO NOTHING`);
}

async function deletePerson(tx: Transaction, business: string, user: string): Promise<void> {
  await tx.run(sql`DELETE FROM business_people WHERE business = ${business} AND user_id = ${user}`);
  tx.invalidate(businessPersonFact, businessPersonKey(business, user));
}

/** Removes a deleted user from all businesses. */
export async function leaveBusinesses(tx: Transaction, user: NodeId): Promise<void> {
  const own = await tx.all<{ business: string }>(sql`SELECT CAST(p.business AS TEXT) AS business FROM business_people p WHERE p.user_id = ${user}`);
  for (const { business } of own) await deletePerson(tx, business, user);
}
