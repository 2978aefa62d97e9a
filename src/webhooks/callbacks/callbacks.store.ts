import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

/** A callback, which is one URL of one app. Each callback has its own queue of deliveries. */
export interface CallbackRow extends Row {
  id: string;
  app: string;
  url: string;
  /** World time at which the first failed attempt of the current series began; null if the callback works, or was never tried. */
  failing_since_ms: number | null;
  /** World time at which the last failed attempt began. */
  last_failure_ms: number | null;
  alerted_ms: number | null;
  paused_ms: number | null;
  /** World time at which one delivery is sent to a paused callback as a test; null after a 410, or if a person paused the callback. */
  probe_due_ms: number | null;
}

/** The columns that store a callback's health. `health.ts` has the rules for changes of the health. */
export type Health = Pick<CallbackRow, "failing_since_ms" | "last_failure_ms" | "alerted_ms" | "paused_ms" | "probe_due_ms">;

/** The name of the cached fact that holds a callback's row. The cache finds the row by the callback's id. */
export const callbackFact = "webhook_callback";

export async function findCallbackId(reader: Reader, app: string, url: string): Promise<string | undefined> {
  const row = await reader.get<{ id: string }>(sql`SELECT CAST(c.id AS TEXT) AS id FROM webhook_callbacks c WHERE c.app = ${app} AND c.url = ${url}`);
  return row?.id;
}

/** Stores a callback and returns its id. If two processes insert the same URL at the same time, both get the id that was stored first. */
export async function insertCallback(tx: Transaction, id: string, app: string, url: string): Promise<string> {
  await tx.run(sql`INSERT INTO webhook_callbacks (id, app, url) VALUES (${id}, ${app}, ${url}) ON CONFLICT DO NOTHING`);
  return (await findCallbackId(tx, app, url)) ?? id;
}

const callbacks = sql`
  SELECT CAST(c.id AS TEXT) AS id, CAST(c.app AS TEXT) AS app, c.url, c.failing_since_ms, c.last_failure_ms, c.alerted_ms, c.paused_ms, c.probe_due_ms
  FROM webhook_callbacks c WHERE c.id > 0`;

export function findCallback(reader: Reader, id: string): Promise<CallbackRow | undefined> {
  return reader.get<CallbackRow>(append(callbacks, "AND c.id = ?", [id]));
}

const oldestFirst = ordered("ascending", "c.id");

export function listCallbacks(reader: Reader, page: PageRequest): Promise<ListPage<CallbackRow>> {
  return readPage<CallbackRow>(reader, callbacks, oldestFirst, page);
}

export async function saveHealth(tx: Transaction, id: string, health: Health): Promise<void> {
  await tx.run(sql`
    UPDATE webhook_callbacks SET failing_since_ms = ${health.failing_since_ms}, last_failure_ms = ${health.last_failure_ms},
      alerted_ms = ${health.alerted_ms}, paused_ms = ${health.paused_ms}, probe_due_ms = ${health.probe_due_ms}
    WHERE id = ${id}`);
  tx.invalidate(callbackFact, id);
}

export async function markAlerted(tx: Transaction, id: string, nowMs: number): Promise<void> {
  await tx.run(sql`UPDATE webhook_callbacks SET alerted_ms = ${nowMs} WHERE id = ${id}`);
  tx.invalidate(callbackFact, id);
}

/**
 * Claims the next test of a paused callback for this process, and schedules the following test at `nextMs`. Returns false if another process has
 * claimed the test.
 */
export async function takeProbe(tx: Transaction, id: string, nowMs: number, nextMs: number): Promise<boolean> {
  const taken = await tx.run(sql`
    UPDATE webhook_callbacks SET probe_due_ms = ${nextMs} WHERE id = ${id} AND paused_ms IS NOT NULL AND probe_due_ms <= ${nowMs}`);
  // The cached row is also invalid if another process claimed the test, because the other process has stored a new time for the next test.
  tx.invalidate(callbackFact, id);
  return taken > 0;
}

/** Whether the callback has a delivery that waits or is being sent. */
export async function isWaitedFor(reader: Reader, id: string): Promise<boolean> {
  const row = await reader.get(sql`
    SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.callback = ${id} AND d.queue_entity IS NOT NULL)
      OR EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.callback = ${id} AND d.retry_due_ms IS NOT NULL)
      OR EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.callback = ${id} AND d.fence > 0)`);
  return row !== undefined;
}

/** Lists the time of the next retry to each callback that is not paused, earliest first. */
export function listNextRetries(reader: Reader, limit: number): Promise<{ id: string; url: string; due_ms: number }[]> {
  return reader.all(sql`
    SELECT CAST(r.id AS TEXT) AS id, r.url, r.due_ms FROM (
      SELECT c.id, c.url,
        (SELECT MIN(d.retry_due_ms) FROM webhook_deliveries d WHERE d.callback = c.id AND d.retry_due_ms IS NOT NULL) AS due_ms
      FROM webhook_callbacks c WHERE c.paused_ms IS NULL) r
    WHERE r.due_ms IS NOT NULL ORDER BY r.due_ms, r.id LIMIT ${limit}`);
}

/** Lists the callbacks that fail or are paused, in the order in which they were created. */
export const listTroubled = (reader: Reader, limit: number): Promise<CallbackRow[]> =>
  reader.all<CallbackRow>(append(callbacks, "AND (c.failing_since_ms IS NOT NULL OR c.paused_ms IS NOT NULL) ORDER BY c.id LIMIT ?", [limit]));

/** Counts, for the metrics, the callbacks that fail, that have raised an alert, and that are paused. */
export async function countCallbacks(reader: Reader): Promise<{ failing: number; alerted: number; paused: number }> {
  const row = await reader.get<{ failing: number; alerted: number; paused: number }>(sql`
    SELECT COUNT(c.failing_since_ms) AS failing, COUNT(c.alerted_ms) AS alerted, COUNT(c.paused_ms) AS paused FROM webhook_callbacks c`);
  return row ?? { failing: 0, alerted: 0, paused: 0 };
}
