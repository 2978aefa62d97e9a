import type { Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";

export interface ErasableRow extends Row {
  id: string;
  /** The id of the delivery whose POST contains this delivery's event; null if this delivery has its own POST. */
  head: string | null;
  /** The fence of the session that is sending the POST with the delivery's event; 0 if the POST is not being sent. */
  fence: number;
  /** The JSON list of the attempts, see `attempts.ts`. */
  attempts: string;
  event: string;
  entity: string;
  phone: string | null;
  /** The event's payload; empty if it was erased. */
  payload: string;
}

/** Lists all deliveries with their events, ordered by id. */
export function listErasable(reader: Reader, after: string, limit: number): Promise<ErasableRow[]> {
  return reader.all<ErasableRow>(sql`
    SELECT CAST(d.id AS TEXT) AS id, CAST(d.head AS TEXT) AS head, COALESCE(h.fence, d.fence) AS fence, d.attempts, CAST(d.event AS TEXT) AS event,
      CAST(e.entity AS TEXT) AS entity, CAST(e.phone AS TEXT) AS phone, e.payload
    FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event LEFT JOIN webhook_deliveries h ON h.id = d.head
    WHERE d.id > ${after} ORDER BY d.id LIMIT ${limit}`);
}

/**
 * Empties the payload of an event. The event remains without data about the erased person. If `isEntity` is true, the entity of the event is removed
 * as well, because the entity is the person's own account.
 */
export async function emptyEvent(tx: Transaction, event: string, isEntity: boolean): Promise<void> {
  await tx.run(sql`UPDATE webhook_events SET payload = '' WHERE id = ${event}`);
  if (isEntity) await tx.run(sql`UPDATE webhook_events SET entity = 0, phone = NULL WHERE id = ${event}`);
}

export async function forgetEntity(tx: Transaction, delivery: string): Promise<void> {
  await tx.run(sql`UPDATE webhook_deliveries SET queue_entity = 0 WHERE id = ${delivery} AND queue_entity IS NOT NULL`);
}

export async function findAttempts(reader: Reader, delivery: string): Promise<string | undefined> {
  return (await reader.get<{ attempts: string }>(sql`SELECT d.attempts FROM webhook_deliveries d WHERE d.id = ${delivery}`))?.attempts;
}

/** Stores the attempts of a delivery. Returns false, and stores no attempts, if the delivery is being sent. */
export async function saveAttempts(tx: Transaction, delivery: string, attempts: string): Promise<boolean> {
  return (await tx.run(sql`UPDATE webhook_deliveries SET attempts = ${attempts} WHERE id = ${delivery} AND fence = 0`)) > 0;
}
