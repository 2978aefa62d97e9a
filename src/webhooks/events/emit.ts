/** Stores an event once, in the transaction that caused the event, with a delivery for each app that gets the event (D-62). */
import type { Static, TSchema } from "typebox";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { findPayloadProblem, type PayloadProblem, type WebhookField } from "../catalogue/field.ts";
import { type ClaimedRow, type EventRow, hasQueued, insertDelivery, insertEvent, insertSending, NO_CALLBACK } from "../delivery/deliveries.store.ts";
import type { DeliveryDeps, WebhookDeps } from "../deps.ts";
import type { WebhookObserver } from "../observer.ts";
import type { EventFacts } from "../ports.ts";
import { asciiJson } from "./envelope.ts";

export interface WebhookEvent<S extends TSchema = TSchema> {
  /** The account, page or catalog that `entry[].id` names. */
  readonly entity: NodeId;
  /** The business phone number that the event belongs to. */
  readonly phone?: NodeId | undefined;
  readonly payload: Static<S>;
  /** The apps that get the event, if the caller knows them already (`Webhooks.subscribersOf`). */
  readonly subscribers?: readonly NodeId[];
}

export interface Outbox extends Pick<WebhookDeps, "clock" | "ids" | "fields" | "tracing">, Pick<DeliveryDeps, "facts" | "callbacks"> {
  readonly observer: Pick<WebhookObserver, "payloadBroken">;
  /** The fence of a delivery that may be sent after the commit without waiting in the queue; see `DeliveryDispatcher`. */
  fenceForNew(queue: string): number | undefined;
}

/** A delivery that this process claimed in the transaction that made the delivery. */
interface SentAtOnce {
  readonly row: ClaimedRow;
  readonly fence: number;
}

/** The deliveries that were stored for an event. */
export interface Stored {
  readonly deliveries: readonly string[];
  /** The deliveries that this process sends after the commit without a claim. */
  readonly atOnce: readonly SentAtOnce[];
  /** The queues in which new deliveries wait. The caller wakes the queues with new deliveries after the commit. */
  readonly queues: readonly string[];
}

const NOTHING: Stored = { deliveries: [], atOnce: [], queues: [] };

/**
 * Stores an event and its deliveries, and returns the stored deliveries. D-136: a payload that breaks its field's contract is sent and reported; a
 * payload that cannot be sent is only reported. Whether or not the event is sent, the transaction that caused it can still commit.
 */
export async function storeEvent(outbox: Outbox, tx: Transaction, field: WebhookField, given: WebhookEvent): Promise<Stored> {
  const { facts, callbacks, ids } = outbox;
  if (!isKnown(outbox, tx, field, given)) return NOTHING;
  const event: EventFacts = { object: field.object, field: field.field, entity: given.entity, phone: given.phone };
  const nowMs = outbox.clock.nowMs();
  const apps = given.subscribers ?? (await facts.subscribersOf(tx, event, nowMs));
  const payload = apps.length === 0 ? undefined : payloadText(outbox, tx, field, given);
  if (payload === undefined) return NOTHING;
  const deliveries: string[] = [];
  const queues: string[] = [];
  const atOnce: SentAtOnce[] = [];
  const cause = outbox.tracing?.current();
  const row: EventRow = {
    id: ids.mint(),
    object: event.object,
    field: event.field,
    entity: event.entity,
    phone: event.phone ?? null,
    time_ms: nowMs,
    payload,
    traceparent: cause?.traceparent ?? null,
    tracestate: cause?.tracestate ?? null,
  };
  await insertEvent(tx, row, apps.length);
  for (const app of apps) {
    // The route is decided at each attempt (D-63); the route at the time of the event only decides in which queue the delivery waits.
    const of = await facts.findAppIn(tx, app);
    const route = await facts.routeOf(tx, app, of, event, field.honoursOverrides);
    const queue = route.to === "nowhere" ? NO_CALLBACK : await callbacks.idFor(tx, app, route.url);
    const id = ids.mint();
    const fence = queue === NO_CALLBACK ? undefined : outbox.fenceForNew(queue);
    // This process may not know all waiting deliveries, so the transaction asks the database whether an earlier delivery of the entity waits.
    if (fence !== undefined && !(await hasQueued(tx, queue, row.entity))) {
      const claimed = { ...row, id, event: row.id, app, callback: queue, members: 0, first_attempt_ms: nowMs, tries: 0, attempts: "[]" };
      await insertSending(tx, claimed, fence);
      atOnce.push({ row: claimed, fence });
    } else {
      await insertDelivery(tx, id, row, app, queue);
      queues.push(queue);
    }
    deliveries.push(id);
  }
  return { deliveries, atOnce, queues };
}

/** Reports a broken payload after the commit, because the event of a transaction that is rolled back never happened. */
function report({ observer }: Outbox, tx: Transaction, { object, field }: WebhookField, entity: NodeId, { path, problem }: PayloadProblem): void {
  tx.afterCommit(() => observer.payloadBroken({ object, field, entity, path, problem }));
}

/**
 * Whether the catalogue of webhook fields has the field. An event of an unknown field cannot be sent, because only the catalogue says under which key
 * of an entry a field's updates are sent.
 */
function isKnown(outbox: Outbox, tx: Transaction, field: WebhookField, { entity, payload }: WebhookEvent): boolean {
  if (!outbox.fields.has(field)) {
    report(outbox, tx, field, entity, { path: "", problem: "the event is not sent, because its field is not in the catalogue" });
    return false;
  }
  const broken = findPayloadProblem(field, payload);
  if (broken !== undefined) report(outbox, tx, field, entity, broken);
  return true;
}

/** Returns the payload as JSON; undefined if the event cannot be sent. */
function payloadText(outbox: Outbox, tx: Transaction, field: WebhookField, { entity, payload }: WebhookEvent): string | undefined {
  try {
    return asciiJson(payload);
  } catch {
    report(outbox, tx, field, entity, { path: "", problem: "the event is not sent, because its payload cannot be written as JSON" });
    return undefined;
  }
}
