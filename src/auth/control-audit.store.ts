/** The audit list: the requests that were sent with control keys (D-331). The times in the list are real time in Unix ms. */
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, type Sql, sql } from "#storage/sql";

export interface AuditRow extends Row {
  /** The id of an audit entry; a later entry has a greater id. */
  id: string;
  time_ms: number;
  /** The id of the control key. The configured control key has no id, so entries about its requests have the number 0. */
  key_id: string;
  key_name: string;
  operation: string;
  method: string;
  route: string;
  /** The name of the world to which the request was sent. The name is empty if the request was about the server and not about a world. */
  world: string;
  /** The HTTP status of the response. 0 means that the request has not ended. */
  status: number;
}

export interface AuditFilter {
  readonly key_id?: string | undefined;
  readonly world?: string | undefined;
  readonly sinceMs: number;
}

/**
 * The greatest number of old entries that one new entry deletes. A new entry deletes more than one old entry, so that the table shrinks after the
 * operator has shortened the time for which entries are stored.
 */
const DELETED_AT_ONCE = 100;

/** Stores an entry of the audit list, and deletes old entries. */
export async function insertAudit(tx: Transaction, row: AuditRow, keptFromMs: number): Promise<void> {
  await tx.run(sql`
    DELETE FROM control_audit WHERE id IN (
      SELECT a.id FROM control_audit a WHERE a.time_ms < ${keptFromMs} ORDER BY a.time_ms LIMIT ${DELETED_AT_ONCE})`);
  await tx.runOne(sql`
    INSERT INTO control_audit (id, time_ms, key_id, key_name, operation, method, route, world, status)
    VALUES (${row.id}, ${row.time_ms}, ${row.key_id}, ${row.key_name}, ${row.operation}, ${row.method}, ${row.route}, ${row.world}, ${row.status})`);
}

export async function endAudit(tx: Transaction, id: string, status: number): Promise<void> {
  await tx.run(sql`UPDATE control_audit SET status = ${status} WHERE id = ${id}`);
}

/** Lists the entries of the audit list, the newest first. */
export function listAudit(reader: Reader, { key_id, world, sinceMs }: AuditFilter, page: PageRequest): Promise<ListPage<AuditRow>> {
  let select: Sql = sql`
    SELECT a.id, a.time_ms, CAST(a.key_id AS TEXT) AS key_id, a.key_name, a.operation, a.method, a.route, a.world, a.status
    FROM control_audit a WHERE a.time_ms >= ${sinceMs}`;
  if (key_id !== undefined) select = append(select, " AND a.key_id = ?", [key_id]);
  if (world !== undefined) select = append(select, " AND a.world = ?", [world]);
  return readPage<AuditRow>(reader, select, ordered("descending", "a.id"), page);
}
