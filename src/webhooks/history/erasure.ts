/** Erases the traces of a person in events and deliveries: payloads, and the responses of receivers to these payloads (D-172). */
import { mentionsOf } from "#kernel/redaction/redaction";
import type { Database, Transaction } from "#storage/database";
import type { Attempt } from "../delivery/attempts.ts";
import { type ErasableRow, emptyEvent, findAttempts, forgetEntity, listErasable, saveAttempts } from "./erasure.store.ts";

/** The greatest number of deliveries that one query reads and one transaction changes. */
const ROWS_MAX = 500;

/**
 * Erases the traces of a person. Rejects while one of the deliveries is being sent, because the response to this delivery may name the person; the
 * caller then has to call the function again.
 */
export async function eraseFromDeliveries(database: Database, ids: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const isNamed = mentionsOf(ids);
  const isEntity = new Set(ids);
  let [events, responses, sending] = [0, 0, 0];
  for (let after = "0"; ; ) {
    const rows = await listErasable(database.reader, after, ROWS_MAX);
    const found = rows.filter(
      ({ payload, attempts, entity, phone }) =>
        payload === "" || isEntity.has(entity) || isNamed(payload) || isNamed(phone ?? "") || isNamed(attempts),
    );
    sending += found.filter(({ fence }) => fence > 0).length;
    if (found.length > 0) {
      const erased = await database.write((tx) => eraseRows(tx, found, isEntity));
      events += erased.events;
      responses += erased.responses;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_MAX) break;
    after = last.id;
  }
  if (sending > 0) throw new Error(`${sending} deliveries about the person are being sent`);
  return { "webhook events": events, "webhook responses": responses };
}

async function eraseRows(tx: Transaction, rows: readonly ErasableRow[], ids: ReadonlySet<string>): Promise<{ events: number; responses: number }> {
  let [events, responses] = [0, 0];
  for (const row of rows) {
    const isEntity = ids.has(row.entity) || (row.phone !== null && ids.has(row.phone));
    if (row.payload !== "" || isEntity) {
      await emptyEvent(tx, row.event, isEntity);
      events++;
    }
    if (isEntity) await forgetEntity(tx, row.id);
    // The response to a POST is stored with the delivery for which the POST was made.
    for (const delivery of row.head === null ? [row.id] : [row.id, row.head]) {
      const attempts = await findAttempts(tx, delivery);
      const silent = attempts === undefined ? undefined : withoutResponses(attempts);
      if (silent === undefined || silent === attempts) continue;
      if (await saveAttempts(tx, delivery, silent)) responses++;
    }
  }
  return { events, responses };
}

/** Removes the texts of receivers' responses, because a response may repeat the payload. */
const withoutResponses = (attempts: string): string =>
  JSON.stringify((JSON.parse(attempts) as Attempt[]).map(({ answer: _, ...attempt }) => attempt));
