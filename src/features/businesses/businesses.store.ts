import { nodeTable } from "#graph/worlds/nodes.store";
import type { NodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";
import { businessPersonFact, businessPersonKey } from "./businesses.api.ts";

export const businessMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE businesses (id BIGINT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID",
      "CREATE TABLE business_people (business BIGINT NOT NULL, user_id BIGINT NOT NULL, PRIMARY KEY (business, user_id)) WITHOUT ROWID",
      // This index finds the businesses of a deleted user.
      "CREATE INDEX business_people_by_user ON business_people (user_id, business)",
    ],
  },
];

export interface BusinessRow extends Row {
  id: string;
  name: string;
}

export const businessTable = nodeTable<BusinessRow>({ table: "businesses", nodeType: "business", columns: ["name"] });

export async function deleteBusiness(tx: Transaction, id: string): Promise<boolean> {
  await savePeople(tx, id, []);
  return businessTable.remove(tx, id);
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
