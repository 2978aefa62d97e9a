/**
 * Moves deliveries after an app's callback or override has changed. The route is decided at each attempt (D-63), so only those
 * have to be moved that no attempt is made for: deliveries to a callback that is paused, and those without a callback.
 */

import type { Jobs } from "#jobs/jobs";
import { nodeId } from "#kernel/ids";
import type { Database } from "#storage/database";
import { recordDeparture } from "../callbacks/health.ts";
import type { WebhookObject } from "../catalogue/field.ts";
import { NO_CALLBACK } from "../delivery/deliveries.store.ts";
import type { Outbox } from "./emit.ts";
import { hastenUnrouted, listPausedCallbacks, listWaiting, saveQueue, type WaitingDelivery } from "./reroute.store.ts";

/** In one transaction. */
const ROWS_MAX = 200;

export interface RerouteDeps extends Omit<Outbox, "observer" | "fenceForNew"> {
  readonly database: Database;
  // biome-ignore lint/suspicious/noExplicitAny: jobs are only cancelled here, so the world that they run on does not matter.
  readonly jobs: Jobs<any>;
}

export async function rerouteApp({ clock, fields, facts, callbacks, database, jobs }: RerouteDeps, app: string): Promise<void> {
  await database.write((tx) => hastenUnrouted(tx, NO_CALLBACK, app, clock.nowMs()));
  for (const callback of await listPausedCallbacks(database.reader, app)) {
    for (let after = "0"; ; ) {
      const rows = await listWaiting(database.reader, callback.id, after, ROWS_MAX);
      const moved: { row: WaitingDelivery; url: string | undefined }[] = [];
      for (const row of rows) {
        const url = await urlOf(row);
        if (url !== callback.url) moved.push({ row, url });
      }
      await database.write(async (tx) => {
        for (const { row, url } of moved) {
          await saveQueue(tx, row.id, callback.id, url === undefined ? NO_CALLBACK : await callbacks.idFor(tx, app, url), clock.nowMs());
        }
        if (moved.length > 0) await recordDeparture(tx, { callbacks, jobs }, callback.id);
      });
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_MAX) break;
      after = last.id;
    }
  }

  async function urlOf({ object, field, entity, phone }: WaitingDelivery): Promise<string | undefined> {
    const of = await facts.findApp(database.reader, nodeId(app));
    const event = { object: object as WebhookObject, field, entity: nodeId(entity), phone: phone === null ? undefined : nodeId(phone) };
    const route = await facts.routeOf(database.reader, nodeId(app), of, event, fields.isHonouringOverrides({ object, field }));
    return route.to === "nowhere" ? undefined : route.url;
  }
}
