/**
 * Moves deliveries after an app's callback or override has changed. The route is decided at each attempt (D-63), so only deliveries that get no
 * attempt have to be moved: deliveries to a paused callback, and deliveries without a callback. A waiting delivery ends if its app would not get the
 * event any more (D-138).
 */
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { recordDeparture } from "../callbacks/health.ts";
import { NO_CALLBACK } from "../delivery/deliveries.store.ts";
import type { WebhookDeps } from "../deps.ts";
import type { WebhookObserver } from "../observer.ts";
import { eventFactsOf, type WebhookFacts } from "../ports.ts";
import type { Outbox } from "./emit.ts";
import {
  type FieldOfDelivery,
  hastenUnrouted,
  listMemberFields,
  listPausedCallbacks,
  listQueuesOf,
  listWaiting,
  saveQueue,
  saveUnsubscribed,
  type WaitingDelivery,
} from "./reroute.store.ts";

/** The greatest number of deliveries that one transaction moves. */
const ROWS_MAX = 200;

export type RerouteDeps = Omit<Outbox, "observer" | "fenceForNew"> & Pick<WebhookDeps, "database" | "jobs">;

export async function rerouteApp({ clock, fields, facts, callbacks, database, jobs }: RerouteDeps, app: string): Promise<void> {
  await database.write((tx) => hastenUnrouted(tx, NO_CALLBACK, app, clock.nowMs()));
  for (const callback of await listPausedCallbacks(database.reader, app)) {
    for (let after = "0"; ; ) {
      const rows = await listWaiting(database.reader, callback.id, app, after, ROWS_MAX);
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

  async function urlOf(row: WaitingDelivery): Promise<string | undefined> {
    const of = await facts.findApp(database.reader, nodeId(app));
    const route = await facts.routeOf(database.reader, nodeId(app), of, eventFactsOf(row), fields.isHonouringOverrides(row));
    return route.to === "nowhere" ? undefined : route.url;
  }
}

/**
 * Whether the app would get at least one of the batch's events if the events happened now. One such event is enough, because all events of a batch
 * are sent together (D-63).
 */
export async function isWanted(
  facts: WebhookFacts,
  reader: Reader,
  app: string,
  events: readonly FieldOfDelivery[],
  nowMs: number,
): Promise<boolean> {
  const asked = new Set<string>();
  for (const event of events) {
    if (asked.has(event.field)) continue;
    asked.add(event.field);
    if ((await facts.subscribersOf(reader, eventFactsOf(event), nowMs)).includes(app as NodeId)) return true;
  }
  return false;
}

interface UnsubscribeDeps extends RerouteDeps {
  readonly observer: Pick<WebhookObserver, "deliveryUnsubscribed">;
}

/** Ends the deliveries that wait for a subscription that the app has lost. */
export async function endUnsubscribed(deps: UnsubscribeDeps, app: string): Promise<void> {
  for (const queue of await listQueuesOf(deps.database.reader, app)) {
    for (let after: string | undefined = "0"; after !== undefined; ) {
      const from: string = after;
      after = await deps.database.write((tx) => endSome(deps, tx, queue, app, from));
    }
  }
}

/**
 * Ends some of the deliveries whose app has lost the subscription. Returns the id after which the next search begins; undefined if this search was
 * the last.
 */
async function endSome(deps: UnsubscribeDeps, tx: Transaction, queue: string, app: string, after: string): Promise<string | undefined> {
  const { facts, clock, observer } = deps;
  const nowMs = clock.nowMs();
  const rows = await listWaiting(tx, queue, app, after, ROWS_MAX);
  const known = new Map<string, boolean>();
  let hasEnded = false;
  for (const row of rows) {
    const key = `${row.object} ${row.field} ${row.entity} ${row.phone}`;
    const isOwnWanted: boolean = known.get(key) ?? (await isWanted(facts, tx, app, [row], nowMs));
    known.set(key, isOwnWanted);
    if (isOwnWanted || (await hasWantedMember(facts, tx, row, nowMs)) || !(await saveUnsubscribed(tx, row.id, nowMs))) continue;
    hasEnded = true;
    tx.afterCommit(() => observer.deliveryUnsubscribed(row));
  }
  if (hasEnded && queue !== NO_CALLBACK) await recordDeparture(tx, deps, queue);
  return rows.length < ROWS_MAX ? undefined : rows.at(-1)?.id;
}

const hasWantedMember = async (facts: WebhookFacts, tx: Transaction, { id, app, members }: WaitingDelivery, nowMs: number): Promise<boolean> =>
  members > 0 && isWanted(facts, tx, app, await listMemberFields(tx, id), nowMs);
