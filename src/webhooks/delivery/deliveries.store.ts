/** The SQL statements that store and claim deliveries. The statements that list deliveries for people are in `history/list.store.ts`. */
import type { Reader, Transaction } from "#storage/database";
import { paddedSize, textOnce, withIds } from "#storage/id-lists";
import { append, placeholders, type Row, type SqlValue, sql } from "#storage/sql";
import { NO_ATTEMPTS } from "./attempts.ts";

export const WAITING = 0;
export const SENDING = 1;
export const DELIVERED = 2;
export const FAILED = 3;
/** The status 5 means that the delivery's app has unsubscribed. The status 4 means that the delivery's event is in another delivery's POST. */
export const UNSUBSCRIBED = 5;

/** The queue of deliveries that have no callback yet. */
export const NO_CALLBACK = "0";

export interface EventRow extends Row {
  id: string;
  object: string;
  field: string;
  entity: string;
  phone: string | null;
  time_ms: number;
  payload: string;
  /** The trace context of the request that caused the event (D-357); null if traces were off. */
  traceparent: string | null;
  tracestate: string | null;
}

/** A row with a delivery and the event for which the delivery was made. */
export interface ClaimedRow extends EventRow {
  event: string;
  app: string;
  callback: string;
  members: number;
  first_attempt_ms: number | null;
  tries: number;
  /** The JSON list of the attempts, see `attempts.ts`. */
  attempts: string;
}

export async function insertEvent(tx: Transaction, event: EventRow, deliveries: number): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO webhook_events (id, object, field, entity, phone, time_ms, deliveries, payload, traceparent, tracestate)
    VALUES (${event.id}, ${event.object}, ${event.field}, ${event.entity}, ${event.phone}, ${event.time_ms}, ${deliveries}, ${event.payload},
      ${event.traceparent}, ${event.tracestate})`);
}

export async function insertDelivery(tx: Transaction, id: string, event: EventRow, app: string, queue: string): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO webhook_deliveries (id, event, app, callback, status, first_callback, queue_entity, members, fence, tries, attempts)
    VALUES (${id}, ${event.id}, ${app}, ${queue}, 0, ${queue}, ${event.entity}, 0, 0, 0, '[]')`);
}

/** Stores a delivery that is already claimed, so that it is sent without waiting in its queue (see `DeliveryDispatcher.fenceForNew`). */
export async function insertSending(
  tx: Transaction,
  { id, event, app, callback, entity, first_attempt_ms }: ClaimedRow,
  fence: number,
): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO webhook_deliveries (id, event, app, callback, status, queue_entity, members, fence, first_attempt_ms, tries, attempts)
    VALUES (${id}, ${event}, ${app}, ${callback}, 1, ${entity}, 0, ${fence}, ${first_attempt_ms}, 0, '[]')`);
}

/** Whether an earlier first attempt of the entity waits in the queue or is under way. */
export async function hasQueued(tx: Reader, queue: string, entity: string): Promise<boolean> {
  const query = sql`SELECT 1 AS one FROM webhook_deliveries d WHERE d.callback = ${queue} AND d.queue_entity = ${entity} LIMIT 1`;
  return (await tx.get(query)) !== undefined;
}

export interface WaitingRow extends Row {
  id: string;
  entity: string;
}

/** Finds the first attempts that wait in a queue, the oldest first. */
export function findFirsts(tx: Reader, queue: string, limit: number): Promise<WaitingRow[]> {
  return tx.all<WaitingRow>(sql`
    SELECT CAST(d.id AS TEXT) AS id, CAST(d.queue_entity AS TEXT) AS entity FROM webhook_deliveries d
    WHERE d.first_callback = ${queue} ORDER BY d.id LIMIT ${limit}`);
}

/**
 * Finds deliveries that come first in the order of their entity and are not under way, for the entities after `after`. The query reads one row of the
 * index for each entity, so the query is quick even if many deliveries of one entity wait.
 */
export function findFreeHeads(tx: Reader, queue: string, after: string, limit: number): Promise<WaitingRow[]> {
  return tx.all<WaitingRow>(sql`
    WITH RECURSIVE entities (entity) AS (
      SELECT MIN(d.queue_entity) FROM webhook_deliveries d WHERE d.callback = ${queue} AND d.queue_entity > ${after}
      UNION ALL
      SELECT (SELECT MIN(d.queue_entity) FROM webhook_deliveries d WHERE d.callback = ${queue} AND d.queue_entity > entities.entity)
      FROM entities WHERE entities.entity IS NOT NULL)
    SELECT CAST(heads.entity AS TEXT) AS entity, CAST(heads.id AS TEXT) AS id FROM (
      SELECT entities.entity, (
        SELECT CASE WHEN d.first_callback IS NULL THEN NULL ELSE d.id END FROM webhook_deliveries d
        WHERE d.callback = ${queue} AND d.queue_entity = entities.entity ORDER BY d.id LIMIT 1) AS id
      FROM entities WHERE entities.entity IS NOT NULL) heads
    WHERE heads.id IS NOT NULL LIMIT ${limit}`);
}

export function findDueRetries(tx: Reader, queue: string, nowMs: number, limit: number): Promise<{ id: string }[]> {
  return tx.all<{ id: string }>(sql`
    SELECT CAST(d.id AS TEXT) AS id FROM webhook_deliveries d
    WHERE d.callback = ${queue} AND d.retry_due_ms <= ${nowMs} ORDER BY d.retry_due_ms, d.id LIMIT ${limit}`);
}

/** Finds the time of the first retry that is due after `nowMs`. */
export async function findNextRetryTime(tx: Reader, queue: string, nowMs: number): Promise<number | undefined> {
  const row = await tx.get<{ due_ms: number | null }>(
    sql`SELECT MIN(d.retry_due_ms) AS due_ms FROM webhook_deliveries d WHERE d.callback = ${queue} AND d.retry_due_ms > ${nowMs}`,
  );
  return row?.due_ms ?? undefined;
}

const claimedRows = sql`
  SELECT CAST(d.id AS TEXT) AS id, CAST(d.event AS TEXT) AS event, CAST(d.app AS TEXT) AS app, CAST(d.callback AS TEXT) AS callback, d.members,
    d.first_attempt_ms, d.tries, d.attempts, e.object, e.field, CAST(e.entity AS TEXT) AS entity, CAST(e.phone AS TEXT) AS phone, e.time_ms, e.payload,
    e.traceparent, e.tracestate
  FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event`;

/** The start of a query for events with the ids of their deliveries. */
const eventRows = sql`
  SELECT CAST(d.id AS TEXT) AS id, e.object, e.field, CAST(e.entity AS TEXT) AS entity, CAST(e.phone AS TEXT) AS phone, e.time_ms, e.payload,
    e.traceparent, e.tracestate
  FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event`;

const claimedFirsts = append(
  claimedRows,
  `WHERE d.first_callback IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM webhook_deliveries o WHERE o.callback = d.callback AND o.queue_entity = d.queue_entity AND o.id < d.id)`,
);

/**
 * Locks those of the given deliveries that no other process is claiming and that come first in the order of their entity. The statement checks both
 * conditions again, so that two processes never send first attempts of the same entity at the same time.
 */
export function lockFirsts(tx: Transaction, ids: readonly string[]): Promise<ClaimedRow[]> {
  return tx.all<ClaimedRow>(withIds(claimedFirsts, "d.id", ids, `ORDER BY d.id ${tx.skipLocked("d")}`));
}

const claimedRetries = append(claimedRows, "WHERE d.retry_due_ms IS NOT NULL");

export function lockRetries(tx: Transaction, ids: readonly string[]): Promise<ClaimedRow[]> {
  return tx.all<ClaimedRow>(withIds(claimedRetries, "d.id", ids, `ORDER BY d.id ${tx.skipLocked("d")}`));
}

export async function claimFirsts(tx: Transaction, ids: readonly string[], fence: number, nowMs: number): Promise<void> {
  const claim = sql`UPDATE webhook_deliveries SET status = 1, first_callback = NULL, fence = ${fence}, first_attempt_ms = ${nowMs} WHERE fence = 0`;
  await tx.run(withIds(claim, "id", ids));
}

export async function claimRetries(tx: Transaction, ids: readonly string[], fence: number): Promise<void> {
  await tx.run(withIds(sql`UPDATE webhook_deliveries SET status = 1, retry_due_ms = NULL, fence = ${fence} WHERE fence = 0`, "id", ids));
}

/** Restores deliveries to their state before they were claimed: a first attempt waits in its queue, and a retry is due. */
export async function giveBackClaimed(tx: Transaction, ids: readonly string[], fence: number, nowMs: number): Promise<void> {
  const back = sql`
    UPDATE webhook_deliveries SET status = 0, fence = 0, first_callback = CASE WHEN queue_entity IS NULL THEN NULL ELSE callback END,
      retry_due_ms = CASE WHEN queue_entity IS NULL THEN CAST(${nowMs} AS BIGINT) ELSE NULL END WHERE fence = ${fence}`;
  await tx.run(withIds(back, "id", ids));
}

/**
 * Finds the app's deliveries after the delivery `head` in the order of its entity. The query compares the app, because the queue of deliveries
 * without a callback has deliveries of many apps, and a POST must never contain events of another app. Another process may already be sending the
 * last of the found deliveries.
 */
export function findFollowers(tx: Reader, { id, callback, entity, app }: ClaimedRow, limit: number): Promise<EventRow[]> {
  const behind = "WHERE d.callback = ? AND d.queue_entity = ? AND d.id > ? AND d.app = ? ORDER BY d.id LIMIT ?";
  return tx.all<EventRow>(append(eventRows, behind, [callback, entity, id, app, limit]));
}

/** Locks those of the given deliveries that wait, were never sent, have one event, and are not being claimed by another process. */
export async function lockWaiting(tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const waiting = sql`
    SELECT CAST(d.id AS TEXT) AS id FROM webhook_deliveries d WHERE d.first_callback IS NOT NULL AND d.members = 0 AND d.attempts = ${NO_ATTEMPTS}`;
  const rows = await tx.all<{ id: string }>(withIds(waiting, "d.id", ids, tx.skipLocked("d")));
  return new Set(rows.map(({ id }) => id));
}

export async function joinMembers(tx: Transaction, head: string, ids: readonly string[]): Promise<void> {
  const join = sql`UPDATE webhook_deliveries SET status = 4, first_callback = NULL, queue_entity = NULL, head = ${head} WHERE fence = 0`;
  await tx.run(withIds(join, "id", ids));
  await tx.run(sql`UPDATE webhook_deliveries SET members = ${ids.length} WHERE id = ${head}`);
}

/** Finds the events of the deliveries that joined the delivery `head`, in their order in the body. */
export const findMembers = (reader: Reader, head: string): Promise<EventRow[]> =>
  reader.all<EventRow>(append(eventRows, "WHERE d.head = ? ORDER BY d.id", [head]));

/** The result of an attempt as it is stored. If the delivery has ended, `due_ms` is null, otherwise `ended_ms` is null. */
export interface ResultRow {
  readonly id: string;
  readonly fence: number;
  readonly status: number;
  readonly attempts: string;
  readonly due_ms: number | null;
  readonly ended_ms: number | null;
}

const results = sql`WITH ended (id, fence, status, attempts, due_ms, ended_ms) AS`;
/** The SQL placeholders for the first row of a list of values. Only the first row has casts, because PostgreSQL uses its types for all rows. */
const FIRST_RESULT = "(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS INTEGER), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT))";

/** Stores the results of attempts. A delivery that another session has taken over does not change. */
export async function saveResults(tx: Transaction, rows: readonly ResultRow[]): Promise<void> {
  const [last] = rows.slice(-1);
  if (last === undefined) return;
  const size = paddedSize(rows.length);
  const values: SqlValue[] = [];
  for (let at = 0; at < size; at++) {
    const { id, fence, status, attempts, due_ms, ended_ms } = rows[at] ?? last;
    values.push(id, fence, status, attempts, due_ms, ended_ms);
  }
  await tx.run(
    append(
      results,
      textOnce(`results ${size}`, () => resultsText(size)),
      values,
    ),
  );
}

function resultsText(size: number): string {
  const list = [FIRST_RESULT, ...new Array<string>(size - 1).fill(placeholders(6))].join(", ");
  return `(VALUES ${list})
    UPDATE webhook_deliveries SET status = ended.status, queue_entity = NULL, fence = 0, tries = tries + 1, attempts = ended.attempts,
      retry_due_ms = ended.due_ms, ended_ms = ended.ended_ms
    FROM ended WHERE webhook_deliveries.id = ended.id AND webhook_deliveries.fence = ended.fence`;
}

/** Makes a claimed delivery wait again for the same attempt, perhaps in another queue. */
export async function saveMove(
  tx: Transaction,
  { id, entity, attempts }: Pick<ClaimedRow, "id" | "entity" | "attempts">,
  isFirst: boolean,
  fence: number,
  queue: string,
  nowMs: number,
): Promise<void> {
  await tx.run(sql`
    UPDATE webhook_deliveries SET status = 0, fence = 0, callback = ${queue}, first_callback = ${isFirst ? queue : null},
      queue_entity = ${isFirst ? entity : null}, retry_due_ms = ${isFirst ? null : nowMs}, attempts = ${attempts} WHERE id = ${id} AND fence = ${fence}`);
}

/** Finds the deliveries that an ended session was sending when it ended. */
export function findSending(tx: Reader, fence: number): Promise<{ id: string; attempts: string }[]> {
  return tx.all<{ id: string; attempts: string }>(
    sql`SELECT CAST(d.id AS TEXT) AS id, d.attempts FROM webhook_deliveries d WHERE d.fence = ${fence} AND d.fence > 0 ORDER BY d.id`,
  );
}

const QUEUES_MAX = 100_000;

export interface QueueWithFirsts extends Row {
  queue: string;
  oldest: string;
}

/** Finds every queue in which a delivery waits for its first attempt. The query reads one row of the index for each queue. */
export function findQueuesWithFirsts(reader: Reader): Promise<QueueWithFirsts[]> {
  return reader.all<QueueWithFirsts>(sql`
    WITH RECURSIVE queues (id) AS (
      SELECT MIN(d.first_callback) FROM webhook_deliveries d WHERE d.first_callback IS NOT NULL
      UNION ALL
      SELECT (SELECT MIN(d.first_callback) FROM webhook_deliveries d WHERE d.first_callback > queues.id) FROM queues WHERE queues.id IS NOT NULL)
    SELECT CAST(queues.id AS TEXT) AS queue,
      CAST((SELECT MIN(d.id) FROM webhook_deliveries d WHERE d.first_callback = queues.id) AS TEXT) AS oldest
    FROM queues WHERE queues.id IS NOT NULL LIMIT ${QUEUES_MAX}`);
}

export interface QueueWithRetries extends Row {
  queue: string;
  due_ms: number;
  oldest: string;
}

/** Finds every queue with retries, and the time of its first retry. */
export function findQueuesWithRetries(reader: Reader): Promise<QueueWithRetries[]> {
  return reader.all<QueueWithRetries>(sql`
    WITH RECURSIVE queues (id) AS (
      SELECT MIN(d.callback) FROM webhook_deliveries d WHERE d.retry_due_ms IS NOT NULL
      UNION ALL
      SELECT (SELECT MIN(d.callback) FROM webhook_deliveries d WHERE d.retry_due_ms IS NOT NULL AND d.callback > queues.id) FROM queues WHERE queues.id IS NOT NULL)
    SELECT CAST(queues.id AS TEXT) AS queue,
      (SELECT MIN(d.retry_due_ms) FROM webhook_deliveries d WHERE d.callback = queues.id AND d.retry_due_ms IS NOT NULL) AS due_ms,
      CAST((SELECT d.id FROM webhook_deliveries d WHERE d.callback = queues.id AND d.retry_due_ms IS NOT NULL
        ORDER BY d.retry_due_ms, d.id LIMIT 1) AS TEXT) AS oldest
    FROM queues WHERE queues.id IS NOT NULL LIMIT ${QUEUES_MAX}`);
}

/** Whether an earlier delivery of the same entity is before the given delivery in its queue. */
export async function isBehindAnother(reader: Reader, delivery: string): Promise<boolean> {
  const row = await reader.get(sql`
    SELECT 1 AS one FROM webhook_deliveries d JOIN webhook_deliveries o ON o.callback = d.callback AND o.queue_entity = d.queue_entity AND o.id < d.id
    WHERE d.id = ${delivery} LIMIT 1`);
  return row !== undefined;
}

export interface QueuedCounts extends Row {
  state: "waiting" | "retrying" | "sending";
  count: number;
  /** The time at which the event of the oldest counted delivery happened. */
  oldest_ms: number | null;
}

/** The number of deliveries at which counting stops. The limit exists so that counting takes only a few ms for a queue of any length. */
const DELIVERIES_COUNTED_MAX = 100_000;

/**
 * Counts the deliveries to callbacks that have not ended, by state. If a state has more than `DELIVERIES_COUNTED_MAX` deliveries, `oldest_ms` is
 * the time of the oldest counted delivery.
 */
export function countQueued(reader: Reader): Promise<QueuedCounts[]> {
  return reader.all<QueuedCounts>(sql`
    WITH counted (state, count, oldest) AS (
      SELECT 'waiting', COUNT(*), MIN(w.id) FROM (
        SELECT d.id FROM webhook_deliveries d WHERE d.first_callback IS NOT NULL AND d.first_callback > 0 LIMIT ${DELIVERIES_COUNTED_MAX}) AS w
      UNION ALL SELECT 'retrying', COUNT(*), MIN(r.id) FROM (
        SELECT d.id FROM webhook_deliveries d WHERE d.retry_due_ms IS NOT NULL LIMIT ${DELIVERIES_COUNTED_MAX}) AS r
      UNION ALL SELECT 'sending', COUNT(*), MIN(s.id) FROM (
        SELECT d.id FROM webhook_deliveries d WHERE d.fence > 0 LIMIT ${DELIVERIES_COUNTED_MAX}) AS s)
    SELECT counted.state, counted.count,
      (SELECT e.time_ms FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event WHERE d.id = counted.oldest) AS oldest_ms
    FROM counted ORDER BY counted.state`);
}
