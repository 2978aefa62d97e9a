/** Who is told what the post office does: log and metrics, put together in main. */
import type { CallbackRow } from "./callbacks.store.ts";
import type { ClaimedRow } from "./deliveries.store.ts";
import type { Outcome } from "./delivery-attempt.ts";

export interface AttemptSeen {
  readonly row: ClaimedRow;
  /** Events in the POST. */
  readonly updates: number;
  readonly outcome: Outcome;
}

export interface WebhookObserver {
  attempted(seen: AttemptSeen): void;
  /** The attempt itself could not be made; it is tried again. */
  attemptBroke(delivery: string, error: unknown): void;
  /** It has failed for an hour. */
  callbackFails(callback: CallbackRow): void;
  /** It has failed for five days: nothing more is sent until somebody resumes it. */
  callbackPaused(callback: CallbackRow): void;
}

export const silentObserver: WebhookObserver = { attempted: () => {}, attemptBroke: () => {}, callbackFails: () => {}, callbackPaused: () => {} };
