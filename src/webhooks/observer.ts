/** What the webhook engine reports: to the log and to metrics, which main.ts connects. */
import type { CallbackRow } from "./callbacks/callbacks.store.ts";
import type { PayloadProblem } from "./catalogue/field.ts";
import type { ClaimedRow } from "./delivery/deliveries.store.ts";
import type { AttemptedOutcome } from "./delivery/outcome.ts";
import type { OldestWaiting } from "./delivery/overdue.ts";

export interface AttemptSeen {
  readonly row: ClaimedRow;
  /** Events in the POST. */
  readonly updates: number;
  readonly outcome: AttemptedOutcome;
}

/** An event whose payload is not what its field promises (D-136). */
export interface BrokenPayload extends PayloadProblem {
  readonly object: string;
  readonly field: string;
  readonly entity: string;
}

export interface WebhookObserver {
  /** A mistake of the program; the cause of the event is committed all the same. */
  payloadBroken(broken: BrokenPayload): void;
  attempted(seen: AttemptSeen): void;
  /** The attempt itself could not be made; it is tried again. */
  attemptBroke(delivery: string, error: unknown): void;
  /** A mistake of the program: the delivery has waited for half a minute and more though it could be sent. It is sent now. */
  deliveryOverdue(overdue: OldestWaiting): void;
  /** It ended because the app would not get its events any more (D-138). */
  deliveryUnsubscribed(delivery: Pick<ClaimedRow, "app" | "callback" | "object" | "field">): void;
  /** It has failed for an hour. */
  callbackFails(callback: CallbackRow): void;
  /** It has failed for five days, or returned 410 (D-137). */
  callbackPaused(callback: CallbackRow): void;
}

export const silentObserver: WebhookObserver = {
  payloadBroken: () => {},
  attempted: () => {},
  attemptBroke: () => {},
  deliveryOverdue: () => {},
  deliveryUnsubscribed: () => {},
  callbackFails: () => {},
  callbackPaused: () => {},
};
