/**
 * The changes of a required action's status (D-50):
 *
 * | from | may become |
 * |---|---|
 * | in_progress | in_review |
 * | in_review | completed, in_progress |
 * | past_due | in_review |
 * | completed | nothing |
 *
 * An action that is not completed becomes past_due when the clock passes its due date, if the status was written before the due date. A status that
 * was written after the due date does not become past_due.
 */
export const statuses = ["completed", "in_progress", "in_review", "past_due"] as const;
export type Status = (typeof statuses)[number];

export const transitions: Readonly<Record<Status, readonly Status[]>> = {
  in_progress: ["in_review"],
  in_review: ["completed", "in_progress"],
  past_due: ["in_review"],
  completed: [],
};

export interface StatusFacts {
  readonly status: Status;
  /** The time at which the status was written, in Unix seconds. */
  readonly status_time: number;
  /** The due date in Unix seconds; null if the action is never due. */
  readonly due_date: number | null;
}

/** Returns the status of an action at the time `now` (Unix seconds). */
export function statusAt({ status, status_time, due_date }: StatusFacts, now: number): Status {
  const hasPassed = due_date !== null && now > due_date && status_time <= due_date;
  return status !== "completed" && hasPassed ? "past_due" : status;
}
