/** The observer gets the reports of the webhook engine. `main.ts` connects the observer to the log and the metrics. */
import type { CallbackRow } from "./callbacks/callbacks.store.ts";
import type { PayloadProblem } from "./catalogue/field.ts";
import type { Attempt } from "./delivery/attempts.ts";
import type { ClaimedRow } from "./delivery/deliveries.store.ts";
import type { OldestWaiting } from "./delivery/overdue.ts";

export interface AttemptSeen {
  readonly row: ClaimedRow;
  /** The number of events in the POST. */
  readonly updates: number;
  readonly outcome: AttemptedOutcome;
}

/** An event whose payload breaks the contract of its field (D-136). */
export interface BrokenPayload extends PayloadProblem {
  readonly object: string;
  readonly field: string;
  readonly entity: string;
}

export interface WebhookObserver {
  /** Called before work that may block the event loop; `id` is the delivery, job or upload that the work is for. */
  workBegins(work: string, id?: string): void;
  /**
   * Called for a payload that breaks its field's contract, which is a mistake of the program. The transaction that caused the event still commits.
   */
  payloadBroken(broken: BrokenPayload): void;
  attempted(seen: AttemptSeen): void;
  /** Called if an attempt failed before its request was sent. Plaza tries such a delivery again. */
  attemptBroke(delivery: string, error: unknown): void;
  /**
   * Called for a mistake of the program: a delivery has waited for at least half a minute although it could be sent. Plaza sends the overdue delivery
   * now.
   */
  deliveryOverdue(overdue: OldestWaiting): void;
  /** Called when a delivery ended because its app would not get the events any more (D-138). */
  deliveryUnsubscribed(delivery: Pick<ClaimedRow, "app" | "callback" | "object" | "field">): void;
  /** Called when an attempt at a delivery to a callback failed and the previous attempt did not. */
  callbackBeganToFail(callback: CallbackRow): void;
  /** Called when a callback has failed for an hour. */
  callbackFails(callback: CallbackRow): void;
  /** Called when a callback is paused, because it has failed for five days or returned 410 (D-137). */
  callbackPaused(callback: CallbackRow): void;
}

export const silentObserver: WebhookObserver = {
  workBegins: () => {},
  payloadBroken: () => {},
  attempted: () => {},
  attemptBroke: () => {},
  deliveryOverdue: () => {},
  deliveryUnsubscribed: () => {},
  callbackBeganToFail: () => {},
  callbackFails: () => {},
  callbackPaused: () => {},
};

/** The outcome if a request was made, or if there was no callback for a request. */
export type AttemptedOutcome = AttemptEnd & {
  /** Earlier requests of this attempt that got no response, because the receiver closed the reused connection (D-301). */
  readonly unanswered?: readonly Attempt[];
};

type AttemptEnd =
  | { readonly kind: "delivered" | "failed"; readonly attempt: Attempt; readonly endedMs: number }
  | { readonly kind: "retry"; readonly attempt: Attempt; readonly dueMs: number; readonly isTimeout: boolean }
  /** The callback is paused and still fails (D-137), so the delivery waits as before. */
  | { readonly kind: "probed"; readonly attempt: Attempt; readonly isTimeout: boolean };

/** The outcome if no request was sent. */
type UnsentOutcome =
  /**
   * The route has changed, so the delivery waits in another queue. If `url` is undefined, the delivery waits in the queue of deliveries without a
   * callback.
   */
  | { readonly kind: "moved"; readonly url: string | undefined }
  /** The app would not get the delivery's events any more (D-138). */
  | { readonly kind: "unsubscribed"; readonly endedMs: number }
  /** The delivery waits in the same queue as before. */
  | { readonly kind: "back" };

export type Outcome = AttemptedOutcome | UnsentOutcome;

export const isAttempted = (outcome: Outcome): outcome is AttemptedOutcome => "attempt" in outcome;
