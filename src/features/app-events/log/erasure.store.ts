import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";

export interface LoggedTexts extends Row {
  request: number;
  position: number;
  event_id: string | null;
  parameters: string;
  /** Set in the first row of a request only. */
  device: string | null;
}

/** The rows of an app's log in its order, after a place. */
export function listLoggedTexts(reader: Reader, app: NodeId, request: number, position: number, limit: number): Promise<LoggedTexts[]> {
  return reader.all<LoggedTexts>(sql`
    SELECT e.request, e.position, e.event_id, e.parameters, e.device FROM app_events e
    WHERE e.app = ${app} AND (e.request, e.position) > (${request}, ${position}) ORDER BY e.request, e.position LIMIT ${limit}`);
}

/** The rows stay, so that no number of a request is used twice and the counts are those of the log; nothing in them tells a person. */
export async function emptyRequest(tx: Transaction, app: NodeId, request: number, device: string): Promise<number> {
  const emptied = await tx.run(sql`UPDATE app_events SET parameters = '{}', event_id = NULL WHERE app = ${app} AND request = ${request}`);
  await tx.runAny(sql`UPDATE app_events SET device = ${device} WHERE app = ${app} AND request = ${request} AND device IS NOT NULL`);
  return emptied;
}
