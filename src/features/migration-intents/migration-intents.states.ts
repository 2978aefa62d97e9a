/**
 * The changes of a migration intent's status (H7-7, D-58):
 *
 * | from | may become |
 * |---|---|
 * | INITIATED | ACCEPTED, REJECTED |
 * | ACCEPTED | COMPLETED, REJECTED |
 * | COMPLETED | nothing |
 * | REJECTED | nothing |
 */
export const statuses = ["INITIATED", "ACCEPTED", "COMPLETED", "REJECTED"] as const;
export type Status = (typeof statuses)[number];

export const transitions: Readonly<Record<Status, readonly Status[]>> = {
  INITIATED: ["ACCEPTED", "REJECTED"],
  ACCEPTED: ["COMPLETED", "REJECTED"],
  COMPLETED: [],
  REJECTED: [],
};
