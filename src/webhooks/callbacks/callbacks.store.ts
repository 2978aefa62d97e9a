import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";

/** One URL of one app, with a queue of its own. */
export interface CallbackRow extends Row {
  id: string;
  app: string;
  url: string;
  /** World time of the first failed attempt since the last success; null: it works, or was never tried. */
  failing_since_ms: number | null;
  alerted_ms: number | null;
  paused_ms: number | null;
}

/** The fact's key is the callback's id. */
export const callbackFact = "webhook_callback";

export async function findCallbackId(reader: Reader, app: string, url: string): Promise<string | undefined> {
  const row = await reader.get<{ id: string }>(sql`SELECT CAST(c.id AS TEXT) AS id FROM webhook_callbacks c WHERE c.app = ${app} AND c.url = ${url}`);
  return row?.id;
}

/** Returns the id that is stored, which is another one where two processes insert the URL at once. */
export async function insertCallback(tx: Transaction, id: string, app: string, url: string): Promise<string> {
  await tx.runAny(sql`INSERT INTO webhook_callbacks (id, app, url) VALUES (${id}, ${app}, ${url}) ON CONFLICT DO NOTHING`);
  return (await findCallbackId(tx, app, url)) ?? id;
}

export function findCallback(reader: Reader, id: string): Promise<CallbackRow | undefined> {
  return reader.get<CallbackRow>(sql`
    SELECT CAST(c.id AS TEXT) AS id, CAST(c.app AS TEXT) AS app, c.url, c.failing_since_ms, c.alerted_ms, c.paused_ms
    FROM webhook_callbacks c WHERE c.id = ${id}`);
}

const oldestFirst = { columns: ["c.id"], direction: "ascending", keyOf: (row: CallbackRow) => [row.id] } as const;

export function listCallbacks(reader: Reader, page: PageRequest): Promise<ListPage<CallbackRow>> {
  return readPage<CallbackRow>(
    reader,
    sql`
    SELECT CAST(c.id AS TEXT) AS id, CAST(c.app AS TEXT) AS app, c.url, c.failing_since_ms, c.alerted_ms, c.paused_ms
    FROM webhook_callbacks c WHERE c.id > 0`,
    oldestFirst,
    page,
  );
}

/** Returns whether it was working until now. */
export async function markFailing(tx: Transaction, id: string, sinceMs: number): Promise<boolean> {
  const isFirst = (await tx.run(sql`UPDATE webhook_callbacks SET failing_since_ms = ${sinceMs} WHERE id = ${id} AND failing_since_ms IS NULL`)) > 0;
  if (isFirst) tx.invalidate(callbackFact, id);
  return isFirst;
}

/** It works: it neither fails nor is paused any more. */
export async function markWorking(tx: Transaction, id: string): Promise<void> {
  await tx.runAny(sql`UPDATE webhook_callbacks SET failing_since_ms = NULL, alerted_ms = NULL, paused_ms = NULL WHERE id = ${id}`);
  tx.invalidate(callbackFact, id);
}

export async function markAlerted(tx: Transaction, id: string, nowMs: number): Promise<void> {
  await tx.runAny(sql`UPDATE webhook_callbacks SET alerted_ms = ${nowMs} WHERE id = ${id}`);
  tx.invalidate(callbackFact, id);
}

export async function markPaused(tx: Transaction, id: string, nowMs: number): Promise<void> {
  await tx.runAny(sql`UPDATE webhook_callbacks SET paused_ms = ${nowMs} WHERE id = ${id} AND paused_ms IS NULL`);
  tx.invalidate(callbackFact, id);
}

/** For metrics: how many fail, have failed for an hour, are paused. */
export async function countCallbacks(reader: Reader): Promise<{ failing: number; alerted: number; paused: number }> {
  const row = await reader.get<{ failing: number; alerted: number; paused: number }>(sql`
    SELECT COUNT(c.failing_since_ms) AS failing, COUNT(c.alerted_ms) AS alerted, COUNT(c.paused_ms) AS paused FROM webhook_callbacks c`);
  return row ?? { failing: 0, alerted: 0, paused: 0 };
}
