import type { Reader } from "#storage/database";
import { sql } from "#storage/sql";
import { NO_CALLBACK } from "../delivery/deliveries.store.ts";

/** Counting more tells people nothing more. */
export const UNROUTED_MAX = 1_000;

/** How many deliveries lead nowhere yet, by app; of the first `UNROUTED_MAX` by the time at which they are tried again. */
export const countUnrouted = (reader: Reader): Promise<{ app: string; count: number }[]> =>
  reader.all(sql`
    SELECT CAST(w.app AS TEXT) AS app, COUNT(*) AS count FROM (
      SELECT d.app FROM webhook_deliveries d WHERE d.callback = ${NO_CALLBACK} AND d.retry_due_ms IS NOT NULL ORDER BY d.retry_due_ms LIMIT ${UNROUTED_MAX}) w
    GROUP BY w.app ORDER BY w.app`);
