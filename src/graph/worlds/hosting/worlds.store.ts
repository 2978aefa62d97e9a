/** The list of worlds, which the first of them keeps for the server. Real time. */
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";

export interface WorldRow extends Row {
  name: string;
  made_ms: number;
}

/** Returns whether the name was free. */
export async function insertWorld(tx: Transaction, name: string, madeMs: number): Promise<boolean> {
  return (await tx.run(sql`INSERT INTO worlds (name, made_ms) VALUES (${name}, ${madeMs}) ON CONFLICT DO NOTHING`)) === 1;
}

/** Returns whether it was there. */
export async function deleteWorldRow(tx: Transaction, name: string): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM worlds WHERE name = ${name}`)) === 1;
}

export async function hasWorld(reader: Reader, name: string): Promise<boolean> {
  return (await reader.get(sql`SELECT 1 AS one FROM worlds w WHERE w.name = ${name}`)) !== undefined;
}

const byName = { columns: ["w.name"], direction: "ascending", keyOf: (row: WorldRow) => [row.name] } as const;

export function listWorldRows(reader: Reader, page: PageRequest): Promise<ListPage<WorldRow>> {
  return readPage<WorldRow>(reader, sql`SELECT w.name, w.made_ms FROM worlds w WHERE w.name > ''`, byName, page);
}
