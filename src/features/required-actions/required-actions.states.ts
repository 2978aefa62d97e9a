/**
 * The status of a required action (D-50):
 *
 * | from | may become |
 * |---|---|
 * | in_progress | in_review |
 * | in_review | completed, in_progress |
 * | past_due | in_review |
 * | completed | nothing |
 *
 * An action that is not completed becomes past_due when the clock passes a due date that was ahead when the status was written. A status
 * that was written later stays.
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
  /** Unix seconds at which the status was written. */
  readonly status_time: number;
  /** Unix seconds; null: never due. */
  readonly due_date: number | null;
}

/** The status at `now` (Unix seconds). */
export function statusAt({ status, status_time, due_date }: StatusFacts, now: number): Status {
  const hasPassed = due_date !== null && now > due_date && status_time <= due_date;
  return status !== "completed" && hasPassed ? "past_due" : status;
}
