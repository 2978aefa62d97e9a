/** A source of work with where it stands between its turns. */
import type { TurnEnd, WorkSource } from "./work-source.ts";

export interface Runner {
  readonly source: WorkSource;
  running: Promise<TurnEnd> | undefined;
  /** Requested while a turn ran. */
  isWoken: boolean;
  nextDueMs: number | undefined;
  /** Monotonic time of the source's next turn. */
  wakeAtMs: number;
  /** Monotonic time before which the source has no turn, after a failure. */
  notBeforeMs: number;
}

export const newRunner = (source: WorkSource): Runner => ({
  source,
  running: undefined,
  isWoken: false,
  nextDueMs: undefined,
  wakeAtMs: Number.POSITIVE_INFINITY,
  notBeforeMs: 0,
});
