/** Describes a delivery for people: its status, and the reason if the delivery waits or has failed. */
import { nodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { FieldCatalogue } from "../catalogue/catalogue.ts";
import { secretsOf } from "../delivery/attempt.ts";
import type { Attempt } from "../delivery/attempts.ts";
import { DELIVERED, FAILED, NO_CALLBACK, SENDING, UNSUBSCRIBED } from "../delivery/deliveries.store.ts";
import { signatureHeaders } from "../delivery/signing.ts";
import type { DeliveryDeps } from "../deps.ts";
import { envelopeOf } from "../events/envelope.ts";
import { type DeliveryRow, listEventsOf } from "./list.store.ts";

export const deliveryStatuses = { waiting: 0, sending: SENDING, delivered: DELIVERED, failed: FAILED, unsubscribed: UNSUBSCRIBED } as const;
export type DeliveryStatus = keyof typeof deliveryStatuses;

/** The reason why a delivery waits, or has failed. */
type DeliveryReason = "queued" | "retry" | "callback_paused" | "no_callback" | "callback_not_verified" | "gone" | "gave_up";

const names = new Map<number, DeliveryStatus>(Object.entries(deliveryStatuses).map(([name, status]) => [status, name as DeliveryStatus]));

/** Turns world time in ms into Unix seconds, with milliseconds as their fraction. */
export const seconds = (ms: number): number => ms / 1000;

const webhookIdOf = ({ id }: DeliveryRow): string => `msg_${id}`;

const attemptsOf = ({ attempts }: DeliveryRow): readonly Attempt[] => JSON.parse(attempts) as Attempt[];

const shownAttempt = ({ time_ms, callback: callback_id, timestamp: _, ...rest }: Attempt) => ({ time: seconds(time_ms), callback_id, ...rest });

export function viewOf(row: DeliveryRow) {
  const attempts = attemptsOf(row);
  const status = names.get(row.status) ?? "waiting";
  const reason = reasonOf(row, status, attempts);
  return {
    id: row.id,
    webhook_id: webhookIdOf(row),
    app: row.app,
    ...(row.url === null ? {} : { callback: row.url, callback_id: row.callback }),
    object: row.object,
    field: row.field,
    entity: row.entity,
    ...(row.phone === null ? {} : { phone_number: row.phone }),
    status,
    ...(reason === undefined ? {} : { reason }),
    updates: 1 + row.members,
    time: seconds(row.time_ms),
    ...(row.retry_due_ms === null || row.paused_ms !== null ? {} : { next_attempt_time: seconds(row.retry_due_ms) }),
    ...(row.ended_ms === null ? {} : { ended_time: seconds(row.ended_ms) }),
    attempts: attempts.map(shownAttempt),
  };
}

function reasonOf(row: DeliveryRow, status: DeliveryStatus, attempts: readonly Attempt[]): DeliveryReason | undefined {
  const last = attempts.at(-1);
  if (status === "failed") return last?.status === 410 ? "gone" : "gave_up";
  if (status !== "waiting") return undefined;
  if (row.callback === NO_CALLBACK) return last?.error === "callback_not_verified" ? "callback_not_verified" : "no_callback";
  if (row.paused_ms !== null) return "callback_paused";
  return row.retry_due_ms === null ? "queued" : "retry";
}

/** Returns the exact body of the delivery's POST, and the events in the body. */
export async function contentOf(
  reader: Reader,
  row: DeliveryRow,
  fields: FieldCatalogue,
): Promise<{ body: string; events: { id: string; delivery: string; field: string; time: number }[] }> {
  const events = await listEventsOf(reader, row.id);
  // An empty payload means that the event was erased (D-172).
  const kept = events.filter(({ payload }) => payload !== "");
  const updates = kept.map(({ field, time_ms, payload }) => ({
    entity: row.entity,
    timeMs: time_ms,
    field,
    carriedIn: fields.carriedIn({ object: row.object, field }),
    payload,
  }));
  const shown = events.map(({ id, delivery, field, time_ms }) => ({ id, delivery, field, time: seconds(time_ms) }));
  return { body: envelopeOf(row.object, updates), events: shown };
}

/** The dependencies of `signaturesOf`, whose signatures people compare with the signatures that their receiver computes. */
export type SigningDeps = Pick<DeliveryDeps, "database" | "facts" | "sealer" | "realNowMs" | "profile">;

/**
 * Returns the signature headers of each attempt. The headers are computed again with the app's current secret, because the headers of attempts are
 * not stored. An attempt has undefined instead of headers if it made no request, or if the app does not exist any more.
 */
export async function signaturesOf(
  deps: SigningDeps,
  row: DeliveryRow,
  body: string,
): Promise<readonly (Readonly<Record<string, string>> | undefined)[]> {
  const of = await deps.facts.findApp(deps.database.reader, nodeId(row.app));
  const webhookId = webhookIdOf(row);
  return attemptsOf(row).map(({ timestamp }) =>
    of === undefined || timestamp === undefined
      ? undefined
      : signatureHeaders(secretsOf(deps, of), { webhookId, timestamp, body, hasSha1: deps.profile() === "clients" }),
  );
}
