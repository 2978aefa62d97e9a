/** The stored erasures. The row of an erasure has only numbers, because the person's ids are erased, too. */
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";

export interface ErasureRow extends Row {
  id: string;
  /** The world time at which the erasure began, in ms. */
  started_ms: number;
  /** The world time at which the erasure ended, in ms. The time of the end is null while the erasure is running. */
  ended_ms: number | null;
  /** The number of erased records by their type, as JSON. */
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

const newestFirst = ordered("descending", "p.id");

export function listErasures(reader: Reader, page: PageRequest): Promise<ListPage<ErasureRow>> {
  return readPage<ErasureRow>(
    reader,
    sql`SELECT CAST(p.id AS TEXT) AS id, p.started_ms, p.ended_ms, p.erased FROM person_erasures p WHERE p.id > 0`,
    newestFirst,
    page,
  );
}
