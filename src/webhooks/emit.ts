/** An event enters the outbox in the transaction of its cause, once, with a delivery for each app that gets it (D-62). */
import type { Static, TSchema } from "typebox";
import type { Clock } from "#kernel/clock";
import type { IdMinter, NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import type { Callbacks } from "./callbacks.ts";
import { type ClaimedRow, type EventRow, hasQueued, insertDelivery, insertEvent, insertSending, NO_LANE } from "./deliveries.store.ts";
import { asciiJson } from "./envelope.ts";
import type { FieldCatalogue } from "./field-catalogue.ts";
import type { EventFacts, WebhookFacts } from "./readers.ts";
import { findPayloadProblem, type WebhookField } from "./webhook-field.ts";

export interface WebhookEvent<S extends TSchema = TSchema> {
  /** The account or page that `entry[].id` names. */
  readonly entity: NodeId;
  /** The business phone number that the event belongs to. */
  readonly phone?: NodeId | undefined;
  readonly payload: Static<S>;
}

export interface Outbox {
  readonly clock: Clock;
  readonly ids: IdMinter;
  readonly fields: FieldCatalogue;
  readonly facts: WebhookFacts;
  readonly callbacks: Callbacks;
  /** Given when this process may send one more to that lane at once: what it carries then. */
  fenceForNew(lane: string): number | undefined;
}

/** Claimed by this process in the transaction that made it. */
interface SentAtOnce {
  readonly row: ClaimedRow;
  readonly fence: number;
}

/** What came of an event, for each app that gets it. */
export interface Stored {
  readonly deliveries: readonly string[];
  /** To be sent after the commit. */
  readonly atOnce: readonly SentAtOnce[];
  /** Those where something new waits, to be woken after the commit. */
  readonly lanes: readonly string[];
}

const NOTHING: Stored = { deliveries: [], atOnce: [], lanes: [] };

/** Data that breaks the contract of its field, by a mistake of the program. */
export class PayloadBroken extends Error {
  constructor({ object, field }: WebhookField, problem: string) {
    super(`a webhook ${field} of ${object} breaks its contract: ${problem}`);
    this.name = "PayloadBroken";
  }
}

/**
 * Answers what was stored. Throws `PayloadBroken`, and so undoes the cause,
 * when the event breaks its contract: an event that nobody can send must not be made.
 */
export async function storeEvent(outbox: Outbox, tx: Transaction, field: WebhookField, given: WebhookEvent): Promise<Stored> {
  const { facts, callbacks, ids } = outbox;
  checkPayload(outbox.fields, field, given.payload);
  const event: EventFacts = { object: field.object, field: field.field, entity: given.entity, phone: given.phone };
  const nowMs = outbox.clock.nowMs();
  const apps = await facts.subscribersOf(tx, event, nowMs);
  if (apps.length === 0) return NOTHING;
  const deliveries: string[] = [];
  const lanes: string[] = [];
  const atOnce: SentAtOnce[] = [];
  const row: EventRow = {
    id: ids.mint(),
    object: event.object,
    field: event.field,
    entity: event.entity,
    phone: event.phone ?? null,
    time_ms: nowMs,
    payload: asciiJson(given.payload),
  };
  await insertEvent(tx, row, apps.length);
  for (const app of apps) {
    // The route is decided at each attempt (D-63); this one only says in which lane it waits.
    const of = facts.peekApp(app) ?? (await facts.findAppIn(tx, app));
    const route = await facts.routeOf(tx, app, of, event, field.honoursOverrides);
    const lane = route.to === "nowhere" ? NO_LANE : (callbacks.peekId(app, route.url) ?? (await callbacks.idFor(tx, app, route.url)));
    const id = ids.mint();
    const fence = lane === NO_LANE ? undefined : outbox.fenceForNew(lane);
    // The order of an entity holds by what the database says of it, whatever this process remembers.
    if (fence !== undefined && !(await hasQueued(tx, lane, row.entity))) {
      const claimed = { ...row, id, event: row.id, app, lane, members: 0, first_attempt_ms: nowMs, tries: 0, attempts: "[]" };
      await insertSending(tx, claimed, fence);
      atOnce.push({ row: claimed, fence });
    } else {
      await insertDelivery(tx, id, row, app, lane);
      lanes.push(lane);
    }
    deliveries.push(id);
  }
  return { deliveries, atOnce, lanes };
}

/** Throws `PayloadBroken`. */
function checkPayload(fields: FieldCatalogue, field: WebhookField, payload: unknown): void {
  if (!fields.has(field)) throw new PayloadBroken(field, "its field is none of the catalogue");
  const broken = findPayloadProblem(field, payload);
  if (broken !== undefined) throw new PayloadBroken(field, `${broken.path} ${broken.problem}`);
}
