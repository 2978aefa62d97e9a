/** Sends deliveries again when a person asks for a replay. */
import type { Transaction } from "#storage/database";
import { resumeCallback } from "../callbacks/health.ts";
import type { WebhookDeps } from "../deps.ts";
import { findReplayable, listReplayable, type ReplayableRow, saveReplay } from "./list.store.ts";

export interface ReplayDeps extends Pick<WebhookDeps, "database" | "clock" | "jobs"> {
  /** Searches for due deliveries after a commit that made deliveries due. */
  lookAgain(): void;
}

export interface Span {
  /** World time of the earliest event to replay. */
  readonly sinceMs: number;
  /** The id or URL of a callback, if only deliveries to this callback are replayed. */
  readonly callback?: string | undefined;
}

export interface Replayed {
  readonly replayed: number;
}

/** The greatest number of deliveries that one transaction of a replay changes. */
const ROWS_MAX = 500;

export async function replayDelivery(deps: ReplayDeps, id: string): Promise<boolean> {
  return deps.database.write(async (tx) => {
    const found = await findReplayable(tx, id);
    if (found !== undefined) await replayRows(deps, tx, [found]);
    return found !== undefined;
  });
}

export async function replayDeliveries(deps: ReplayDeps, { sinceMs, callback }: Span): Promise<Replayed> {
  let after = "0";
  for (let replayed = 0; ; ) {
    const rows = await deps.database.write(async (tx) => {
      const found = await listReplayable(tx, after, sinceMs, callback, ROWS_MAX);
      await replayRows(deps, tx, found);
      return found;
    });
    replayed += rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_MAX) return { replayed };
    after = last.id;
  }
}

/** Makes deliveries due. A paused callback is resumed, because the person who asks for the replay expects that the callback works. */
async function replayRows({ clock, jobs, lookAgain }: ReplayDeps, tx: Transaction, rows: readonly ReplayableRow[]): Promise<void> {
  for (const { id, callback, is_paused } of rows) {
    await saveReplay(tx, id, clock.nowMs());
    if (is_paused === 1) await resumeCallback(tx, jobs, callback);
  }
  tx.afterCommit(lookAgain);
}
