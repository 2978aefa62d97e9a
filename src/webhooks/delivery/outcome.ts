/** How one attempt at a delivery ended. */
import type { Attempt } from "./attempts.ts";

/** A request was made, or there was no callback to make it to. */
export type AttemptedOutcome =
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
  /** It waits again where it was. */
  | { readonly kind: "back" };

export type Outcome = AttemptedOutcome | UnsentOutcome;

export const isAttempted = (outcome: Outcome): outcome is AttemptedOutcome => "attempt" in outcome;
