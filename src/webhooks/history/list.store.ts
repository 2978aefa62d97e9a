/** The statements that list and replay deliveries for people. A delivery that joined another delivery's POST is not listed itself. */
import type { Reader, Transaction } from "#storage/database";
import { allWithIds } from "#storage/id-lists";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, type SqlValue, sql } from "#storage/sql";

export interface DeliveryRow extends Row {
  id: string;
  app: string;
  callback: string;
  /** The callback's URL; null if the delivery has no callback. */
  url: string | null;
  status: number;
  members: number;
  retry_due_ms: number | null;
  attempts: string;
  ended_ms: number | null;
  paused_ms: number | null;
  object: string;
  field: string;
  entity: string;
  phone: string | null;
  time_ms: number;
}

const newestFirst = ordered("descending", "d.id");

const columns = sql`
  SELECT CAST(d.id AS TEXT) AS id, CAST(d.app AS TEXT) AS app, CAST(d.callback AS TEXT) AS callback, c.url, d.status, d.members, d.retry_due_ms, d.attempts,
    d.ended_ms, c.paused_ms, e.object, e.field, CAST(e.entity AS TEXT) AS entity, CAST(e.phone AS TEXT) AS phone, e.time_ms`;
const deliveries = append(
  columns,
  `FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event LEFT JOIN webhook_callbacks c ON c.id = d.callback
  WHERE d.head IS NULL`,
);

export interface DeliveryFilter {
  readonly statuses?: readonly number[] | undefined;
  /** The id or URL of a callback, if only deliveries to this callback are listed. */
  readonly callback?: string | undefined;
  /** The name of a webhook field, if only deliveries with an event of this field are listed. */
  readonly field?: string | undefined;
}

const isCallbackId = (callback: string): boolean => /^\d{1,19}$/.test(callback);

export function listDeliveries(reader: Reader, { statuses, callback, field }: DeliveryFilter, page: PageRequest): Promise<ListPage<DeliveryRow>> {
  let select = deliveries;
  const narrow = (tail: string, ...values: SqlValue[]) => {
    select = append(select, tail, values);
  };
  // The statuses can be part of the SQL text, because they are constants of the program and not input.
  if (statuses !== undefined) narrow(`AND d.status IN (${statuses.join(", ")})`);
  if (callback !== undefined) narrow(isCallbackId(callback) ? "AND d.callback = ?" : "AND c.url = ?", callback);
  if (field !== undefined) narrow(`AND (e.field = ? OR ${HAS_MEMBER_OF})`, field, field);
  return readPage<DeliveryRow>(reader, select, newestFirst, page);
}

const HAS_MEMBER_OF = "EXISTS (SELECT 1 FROM webhook_deliveries m JOIN webhook_events x ON x.id = m.event WHERE m.head = d.id AND x.field = ?)";

/** A condition that finds the delivery whose POST contains the event of the delivery with the given id (D-62). */
const BY_ID = "AND d.id = COALESCE((SELECT m.head FROM webhook_deliveries m WHERE m.id = ?), ?)";

/**
 * Finds the delivery with the given id. If the event of the given delivery was sent in another delivery's POST, the function returns the other
 * delivery.
 */
export function findDelivery(reader: Reader, id: string): Promise<DeliveryRow | undefined> {
  return reader.get<DeliveryRow>(append(deliveries, BY_ID, [id, id]));
}

/** Lists the deliveries with the given ids. */
export const listDeliveriesOf = (reader: Reader, ids: readonly string[]): Promise<DeliveryRow[]> =>
  allWithIds<DeliveryRow>(reader, deliveries, "d.id", ids);

export interface SentEventRow extends Row {
  id: string;
  /** The id of the delivery that was made for this event. */
  delivery: string;
  field: string;
  time_ms: number;
  payload: string;
}

/** Lists the events in the POST of a delivery, in the order of the body. */
export function listEventsOf(reader: Reader, delivery: string): Promise<SentEventRow[]> {
  return reader.all<SentEventRow>(sql`
    SELECT CAST(e.id AS TEXT) AS id, CAST(d.id AS TEXT) AS delivery, e.field, e.time_ms, e.payload FROM (
      SELECT o.id, o.event FROM webhook_deliveries o WHERE o.id = ${delivery}
      UNION ALL SELECT m.id, m.event FROM webhook_deliveries m WHERE m.head = ${delivery}
    ) d JOIN webhook_events e ON e.id = d.event ORDER BY d.id`);
}

export interface EventRow extends DeliveryRow {
  /** The event's id, which is not the delivery's id. */
  event: string;
  payload: string;
}

/**
 * Lists the newest events with their deliveries, one for each app that gets the event. If an event was sent in another delivery's POST, the event's
 * row has that other delivery.
 */
export function listNewestEvents(reader: Reader, limit: number): Promise<EventRow[]> {
  const newest = `, CAST(e.id AS TEXT) AS event, e.payload
    FROM webhook_deliveries m JOIN webhook_deliveries d ON d.id = COALESCE(m.head, m.id) JOIN webhook_events e ON e.id = m.event
      LEFT JOIN webhook_callbacks c ON c.id = d.callback
    ORDER BY m.id DESC LIMIT ?`;
  return reader.all<EventRow>(append(columns, newest, [limit]));
}

export interface ReplayableRow extends Row {
  id: string;
  callback: string;
  is_paused: number;
}

const replayable = sql`
  SELECT CAST(d.id AS TEXT) AS id, CAST(d.callback AS TEXT) AS callback, CASE WHEN c.paused_ms IS NULL THEN 0 ELSE 1 END AS is_paused
  FROM webhook_deliveries d LEFT JOIN webhook_callbacks c ON c.id = d.callback
  WHERE d.head IS NULL`;

/** Finds a delivery for a replay, by the same ids as `findDelivery`. */
export function findReplayable(reader: Reader, id: string): Promise<ReplayableRow | undefined> {
  return reader.get<ReplayableRow>(append(replayable, BY_ID, [id, id]));
}

/** Lists deliveries for a replay that come after the id `after`, ordered by id. */
export function listReplayable(
  reader: Reader,
  after: string,
  sinceMs: number,
  callback: string | undefined,
  limit: number,
): Promise<ReplayableRow[]> {
  const since = append(replayable, "AND d.id > ? AND d.event IN (SELECT e.id FROM webhook_events e WHERE e.id = d.event AND e.time_ms >= ?)", [
    after,
    sinceMs,
  ]);
  const of = callback === undefined ? since : append(since, isCallbackId(callback) ? "AND d.callback = ?" : "AND c.url = ?", [callback]);
  return reader.all<ReplayableRow>(append(of, "ORDER BY d.id LIMIT ?", [limit]));
}

/**
 * Makes a delivery due for a replay. An ended delivery starts again with the first time of the retry table, a delivery that waits for a retry is due
 * at once, and any other delivery does not change.
 */
export async function saveReplay(tx: Transaction, id: string, nowMs: number): Promise<void> {
  await tx.run(sql`
    UPDATE webhook_deliveries SET status = 0, retry_due_ms = ${nowMs}, first_attempt_ms = ${nowMs}, tries = 0, ended_ms = NULL
    WHERE id = ${id} AND status IN (2, 3, 5)`);
  await tx.run(sql`UPDATE webhook_deliveries SET retry_due_ms = ${nowMs} WHERE id = ${id} AND retry_due_ms > ${nowMs}`);
}
