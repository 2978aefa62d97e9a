/** The reports of the webhook engine, which main.ts connects to the log and the metrics. */
import type { CallbackRow } from "./callbacks/callbacks.store.ts";
import type { PayloadProblem } from "./catalogue/field.ts";
import type { Attempt } from "./delivery/attempts.ts";
import type { ClaimedRow } from "./delivery/deliveries.store.ts";
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
  /** A part of the work begins that may hold the event loop; `id` says which delivery, job or upload it is for. */
  workBegins(work: string, id?: string): void;
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
  workBegins: () => {},
  payloadBroken: () => {},
  attempted: () => {},
  attemptBroke: () => {},
  deliveryOverdue: () => {},
  deliveryUnsubscribed: () => {},
  callbackFails: () => {},
  callbackPaused: () => {},
};

/** A request was made, or there was no callback to make it to. */
export type AttemptedOutcome = AttemptEnd & {
  /** Requests before it whose kept connection was closed without a response (D-301). */
  readonly unanswered?: readonly Attempt[];
};

type AttemptEnd =
  | { readonly kind: "delivered" | "failed"; readonly attempt: Attempt; readonly endedMs: number }
  | { readonly kind: "retry"; readonly attempt: Attempt; readonly dueMs: number; readonly isTimeout: boolean }
  /** The callback is paused and still fails (D-137): the delivery waits as before. */
  | { readonly kind: "probed"; readonly attempt: Attempt; readonly isTimeout: boolean };

/** Nothing was sent. */
type UnsentOutcome =
  /** The route has changed: the delivery waits in another queue. Without a URL it leads nowhere. */
  | { readonly kind: "moved"; readonly url: string | undefined }
  /** The app would not get its events any more (D-138). */
  | { readonly kind: "unsubscribed"; readonly endedMs: number }
  /** It waits again in its queue. */
  | { readonly kind: "back" };

export type Outcome = AttemptedOutcome | UnsentOutcome;

export const isAttempted = (outcome: Outcome): outcome is AttemptedOutcome => "attempt" in outcome;
