import type { Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";

export interface ErasableRow extends Row {
  id: string;
  /** The delivery in whose POST it travels. */
  head: string | null;
  /** Above 0: it is being sent, or the one in whose POST it travels. */
  fence: number;
  /** JSON, see `attempts.ts`. */
  attempts: string;
  event: string;
  entity: string;
  phone: string | null;
  /** Empty: it was erased. */
  payload: string;
}

/** Every delivery with its event, by id. */
export function listErasable(reader: Reader, after: string, limit: number): Promise<ErasableRow[]> {
  return reader.all<ErasableRow>(sql`
    SELECT CAST(d.id AS TEXT) AS id, CAST(d.head AS TEXT) AS head, COALESCE(h.fence, d.fence) AS fence, d.attempts, CAST(d.event AS TEXT) AS event,
      CAST(e.entity AS TEXT) AS entity, CAST(e.phone AS TEXT) AS phone, e.payload
    FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event LEFT JOIN webhook_deliveries h ON h.id = d.head
    WHERE d.id > ${after} ORDER BY d.id LIMIT ${limit}`);
}

/** The event stays as one about nobody: its account may be a person as well. */
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

/** Of a delivery that nobody sends. Returns whether this is one. */
export async function saveAttempts(tx: Transaction, delivery: string, attempts: string): Promise<boolean> {
  return (await tx.run(sql`UPDATE webhook_deliveries SET attempts = ${attempts} WHERE id = ${delivery} AND fence = 0`)) > 0;
}
