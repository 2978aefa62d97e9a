/** What was erased of people: counts only, since who they were is erased as well. */
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";

export interface ErasureRow extends Row {
  id: string;
  /** World time. */
  started_ms: number;
  /** null: it is under way. */
  ended_ms: number | null;
  /** JSON: how many records of each kind. */
  erased: string;
}

export async function insertErasure(tx: Transaction, { id, started_ms, erased }: ErasureRow): Promise<void> {
  await tx.runOne(sql`INSERT INTO person_erasures (id, started_ms, erased) VALUES (${id}, ${started_ms}, ${erased})`);
}

export async function endErasure(tx: Transaction, id: string, endedMs: number, erased: string): Promise<void> {
  await tx.runOne(sql`UPDATE person_erasures SET ended_ms = ${endedMs}, erased = ${erased} WHERE id = ${id}`);
}

export function findErasure(reader: Reader, id: string): Promise<ErasureRow | undefined> {
  return reader.get<ErasureRow>(sql`
    SELECT CAST(p.id AS TEXT) AS id, p.started_ms, p.ended_ms, p.erased FROM person_erasures p WHERE p.id = ${id}`);
}

const newestFirst = { columns: ["p.id"], direction: "descending", keyOf: (row: ErasureRow) => [row.id] } as const;

export function listErasures(reader: Reader, page: PageRequest): Promise<ListPage<ErasureRow>> {
  return readPage<ErasureRow>(
    reader,
    sql`SELECT CAST(p.id AS TEXT) AS id, p.started_ms, p.ended_ms, p.erased FROM person_erasures p WHERE p.id > 0`,
    newestFirst,
    page,
  );
}
