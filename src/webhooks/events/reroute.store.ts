import type { Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";
import { NO_CALLBACK, UNSUBSCRIBED } from "../delivery/deliveries.store.ts";

/** A webhook field of the events in a delivery's POST. All events in one POST have the same object, entity and phone number. */
export interface FieldOfDelivery extends Row {
  object: string;
  field: string;
  entity: string;
  phone: string | null;
}

export interface WaitingDelivery extends FieldOfDelivery {
  id: string;
  app: string;
  callback: string;
  members: number;
}

/** Lists the queues in which an app's deliveries may wait. */
export async function listQueuesOf(reader: Reader, app: string): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(sql`SELECT CAST(c.id AS TEXT) AS id FROM webhook_callbacks c WHERE c.app = ${app}`);
  return [...rows.map(({ id }) => id), NO_CALLBACK];
}

/** Lists an app's deliveries that wait in a queue for a first attempt or a retry, ordered by id. */
export function listWaiting(reader: Reader, queue: string, app: string, after: string, limit: number): Promise<WaitingDelivery[]> {
  return reader.all<WaitingDelivery>(sql`
    SELECT CAST(d.id AS TEXT) AS id, CAST(d.app AS TEXT) AS app, CAST(d.callback AS TEXT) AS callback, d.members, e.object, e.field,
      CAST(e.entity AS TEXT) AS entity, CAST(e.phone AS TEXT) AS phone
    FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event
    WHERE d.id > ${after} AND d.app = ${app} AND d.id IN (
      SELECT f.id FROM webhook_deliveries f WHERE f.first_callback = ${queue}
      UNION ALL SELECT r.id FROM webhook_deliveries r WHERE r.callback = ${queue} AND r.retry_due_ms IS NOT NULL)
    ORDER BY d.id LIMIT ${limit}`);
}

/** Lists the fields of the events that joined the POST of the delivery `head`. */
export function listMemberFields(reader: Reader, head: string): Promise<FieldOfDelivery[]> {
  return reader.all<FieldOfDelivery>(sql`
    SELECT DISTINCT e.object, e.field, CAST(e.entity AS TEXT) AS entity, CAST(e.phone AS TEXT) AS phone
    FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event WHERE d.head = ${head}`);
}

/** Ends a waiting delivery as unsubscribed. Returns false if the delivery no longer waited. */
export async function saveUnsubscribed(tx: Transaction, id: string, nowMs: number): Promise<boolean> {
  const changed = await tx.run(sql`
    UPDATE webhook_deliveries SET status = ${UNSUBSCRIBED}, first_callback = NULL, queue_entity = NULL, retry_due_ms = NULL, ended_ms = ${nowMs}
    WHERE id = ${id} AND status = 0 AND fence = 0`);
  return changed > 0;
}

export function listPausedCallbacks(reader: Reader, app: string): Promise<{ id: string; url: string }[]> {
  return reader.all<{ id: string; url: string }>(sql`
    SELECT CAST(c.id AS TEXT) AS id, c.url FROM webhook_callbacks c WHERE c.app = ${app} AND c.paused_ms IS NOT NULL ORDER BY c.id`);
}

/**
 * Moves a waiting delivery to another queue. A first attempt stays a first attempt; a retry becomes due at once. A delivery that is already being
 * sent is not moved.
 */
export async function saveQueue(tx: Transaction, id: string, from: string, to: string, nowMs: number): Promise<void> {
  await tx.run(sql`UPDATE webhook_deliveries SET callback = ${to}, first_callback = ${to} WHERE id = ${id} AND first_callback = ${from}`);
  await tx.run(sql`
    UPDATE webhook_deliveries SET callback = ${to}, retry_due_ms = ${nowMs} WHERE id = ${id} AND callback = ${from} AND retry_due_ms IS NOT NULL`);
}

/** Makes the retries of an app's deliveries without a callback due at once. */
export async function hastenUnrouted(tx: Transaction, queue: string, app: string, nowMs: number): Promise<void> {
  await tx.run(sql`
    UPDATE webhook_deliveries SET retry_due_ms = ${nowMs}
    WHERE callback = ${queue} AND retry_due_ms > ${nowMs} AND app = ${app}`);
}
