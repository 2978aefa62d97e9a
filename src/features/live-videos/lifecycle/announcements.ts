/** The webhook field `live_videos`, sent to every page that shows the video (D-62, D-110). */
import type { World } from "#graph/worlds/world";
import { nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { timeText } from "../live-videos.contract.ts";
import { type LiveVideoRow, listCrosspostedPages } from "../live-videos.store.ts";
import { type liveVideoEvents, liveVideoWebhook } from "../live-videos.webhooks.ts";
import { noticeEndOf, type State, statusOf } from "./states.ts";

type Announced = (typeof liveVideoEvents)[number];

/** Called before a deleted video's rows are gone, because they say which pages showed it. */
export async function announce(tx: Transaction, world: World, row: LiveVideoRow, event?: Announced): Promise<void> {
  const noticeEnd = event === "restore_notice" ? noticeEndOf(row) : null;
  const payload = {
    id: row.id,
    status: event === "deleted" ? "DELETED" : statusOf[row.state],
    ...(event === undefined ? {} : { event }),
    ...(row.takedown_reason === null ? {} : { takedown_reason: row.takedown_reason }),
    ...(row.end_reason === null ? {} : { end_reason: row.end_reason }),
    ...(noticeEnd === null ? {} : { restorable_until: timeText(noticeEnd) }),
  };
  for (const page of [nodeId(row.page), ...(await listCrosspostedPages(tx, row.page, row.id))])
    await world.webhooks.emit(tx, liveVideoWebhook, { entity: page, payload });
}

/** What a move from the state `before` is to the pages. */
export async function announceMove(tx: Transaction, world: World, row: LiveVideoRow, before: State): Promise<void> {
  if (row.state === "taken_down") {
    await announce(tx, world, row, "taken_down");
    await announce(tx, world, row, "restore_notice");
  } else if (row.state === "lapsed") await announce(tx, world, row, "restore_lapsed");
  else if (before === "taken_down") await announce(tx, world, row, "restored");
  else if (statusOf[before] !== statusOf[row.state]) await announce(tx, world, row);
}
