/** Sending again what was sent, by a person's decision. */
import type { Transaction } from "#storage/database";
import type { Webhooks } from "../webhooks.ts";
import { findReplayable, listReplayable, saveReplay } from "./list.store.ts";

export interface Span {
  /** World time of the events. */
  readonly sinceMs: number;
  /** Of this callback alone, by its id or URL. */
  readonly callback?: string | undefined;
}

export interface Replayed {
  readonly replayed: number;
}

/** In one transaction. */
const ROWS_MAX = 500;

export async function replayDelivery({ parts, deliveries, resumeCallback }: Webhooks, id: string): Promise<boolean> {
  const { database, clock } = parts;
  return database.write(async (tx) => {
    const found = await findReplayable(tx, id);
    if (found === undefined) return false;
    await replayIn(tx, found, clock.nowMs(), resumeCallback);
    tx.afterCommit(() => deliveries.lookAgain());
    return true;
  });
}

export async function replayDeliveries({ parts, deliveries, resumeCallback }: Webhooks, { sinceMs, callback }: Span): Promise<Replayed> {
  const { database, clock } = parts;
  let after = "0";
  for (let replayed = 0; ; ) {
    const rows = await database.write(async (tx) => {
      const found = await listReplayable(tx, after, sinceMs, callback, ROWS_MAX);
      for (const row of found) await replayIn(tx, row, clock.nowMs(), resumeCallback);
      tx.afterCommit(() => deliveries.lookAgain());
      return found;
    });
    replayed += rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_MAX) return { replayed };
    after = last.id;
  }
}

/** A callback that is paused is resumed: whoever sends there again expects it to work. */
async function replayIn(
  tx: Transaction,
  { id, lane, is_paused }: { readonly id: string; readonly lane: string; readonly is_paused: number },
  nowMs: number,
  resume: Webhooks["resumeCallback"],
): Promise<void> {
  await saveReplay(tx, id, nowMs);
  if (is_paused === 1) await resume(tx, lane);
}
