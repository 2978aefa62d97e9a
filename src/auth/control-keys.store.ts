/**
 * The keys of the control API that are stored in the database and found by their hash: read-only keys, keys that replace other keys, and keys that
 * were replaced. The times in the rows of keys are real time in Unix ms.
 */
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";

export interface ControlKeyRow extends Row {
  hash: string;
  id: string;
  name: string;
  access: string;
  /** The world to which the key is bound. The name is empty if the key is not bound to a world. */
  world: string;
  created_ms: number;
  /** The time from which on the key is refused. 0 means that the key does not expire. */
  expires_ms: number;
}

export function findControlKey(reader: Reader, hash: string): Promise<ControlKeyRow | undefined> {
  return reader.get<ControlKeyRow>(sql`
    SELECT k.hash, CAST(k.id AS TEXT) AS id, k.name, k.access, k.world, k.created_ms, k.expires_ms FROM control_keys k WHERE k.hash = ${hash}`);
}

const newestFirst = ordered("descending", "k.id");

export function listControlKeys(reader: Reader, page: PageRequest): Promise<ListPage<ControlKeyRow>> {
  return readPage<ControlKeyRow>(
    reader,
    sql`SELECT k.hash, CAST(k.id AS TEXT) AS id, k.name, k.access, k.world, k.created_ms, k.expires_ms FROM control_keys k WHERE k.id > 0`,
    newestFirst,
    page,
  );
}

/** Stores a key. If the key is stored already, the function changes only the time at which it expires. */
export async function saveControlKey(tx: Transaction, row: ControlKeyRow): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO control_keys (hash, id, name, access, world, created_ms, expires_ms)
    VALUES (${row.hash}, ${row.id}, ${row.name}, ${row.access}, ${row.world}, ${row.created_ms}, ${row.expires_ms})
    ON CONFLICT (hash) DO UPDATE SET expires_ms = excluded.expires_ms`);
}

/** Ends the keys of a deleted world, because a new world may get the same name. */
export async function endKeysOfWorld(tx: Transaction, world: string, nowMs: number): Promise<void> {
  await lockKeysOfWorld(tx, world);
  await tx.run(
    sql`UPDATE control_keys SET expires_ms = ${nowMs} WHERE world > '' AND world = ${world} AND (expires_ms = 0 OR expires_ms > ${nowMs})`,
  );
}

/**
 * Locks a world's keys while a key is bound to the world. The lock prevents another transaction from deleting the world after the check that the
 * world exists and before the key is stored.
 */
export const lockKeysOfWorld = (tx: Transaction, world: string): Promise<void> => tx.lock("control keys", world);

/** Whether any valid key is bound to a world. */
export async function hasBoundKeys(reader: Reader, nowMs: number): Promise<boolean> {
  const found = sql`SELECT 1 AS one FROM control_keys k WHERE k.world > '' AND (k.expires_ms = 0 OR k.expires_ms > ${nowMs}) LIMIT 1`;
  return (await reader.get(found)) !== undefined;
}

/**
 * Ends a control key that is still valid. The row of the ended key stays in the table, because without this row the configured control key would
 * become valid again.
 */
export async function endControlKey(tx: Transaction, id: string, nowMs: number): Promise<boolean> {
  const isKnown = sql`UPDATE control_keys SET expires_ms = ${nowMs} WHERE id = ${id} AND (expires_ms = 0 OR expires_ms > ${nowMs})`;
  return (await tx.run(isKnown)) > 0;
}
