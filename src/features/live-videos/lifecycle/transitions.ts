/** How a live video moves: by the table of `live-videos.states.ts` and by nothing else. */
import { createHash } from "node:crypto";
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { SEALING_WAITS_MS, STREAM_KEY_BYTES } from "../live-videos.limits.ts";
import { deleteVideo, findVideoById, type LiveVideoRow, updateVideo } from "../live-videos.store.ts";
import { liveVideoWebhook } from "../live-videos.webhooks.ts";
import { NO_BORDERS } from "../viewing/targeting.ts";
import { isLive, type LiveEvent, type State, statusOf, takesFeed, timers, transitions } from "./states.ts";

/** The kind of the one job that a live video has: the timer of its state. */
export const DEADLINE_JOB = "live_video_deadline";

/** Keys are kept as hashes: who reads the database cannot stream. */
export const hashOfKey = (key: string): string => createHash("sha256").update(key).digest("hex");

export const mintKey = (world: World): string => world.randomSecret(STREAM_KEY_BYTES);

/** A video that was just created: unpublished, without a place, shown everywhere. */
export const newVideo = (page: NodeId, id: NodeId, creation_time: number): LiveVideoRow => ({
  page,
  id,
  title: null,
  description: null,
  state: "unpublished",
  embeddable: 0,
  place: null,
  ...NO_BORDERS,
  planned_start_time: null,
  creation_time,
  broadcast_start_ms: null,
  stream_key_hash: null,
  has_feed: 0,
  feed_session: 0,
  deadline_ms: null,
  sealing_fails: 0,
  sealing_tries: 0,
  is_on_map: 0,
});

/** The video, held until the transaction ends: moves of one video take turns. */
export async function holdVideo(tx: Transaction, id: NodeId): Promise<LiveVideoRow | undefined> {
  await tx.lock("live_video", id);
  return findVideoById(tx, id);
}

/**
 * Moves the video, sets the timer of its new state, and tells subscribers of a new status. Answers the row as it is then, or
 * undefined where the table has no such move; then nothing has changed. `atMs`: when it happened, for what happens by itself.
 */
export async function moveVideo(
  tx: Transaction,
  world: World,
  row: LiveVideoRow,
  event: LiveEvent,
  atMs: number = world.clock.nowMs(),
): Promise<LiveVideoRow | undefined> {
  const state = transitions[row.state][event];
  if (state === undefined) return undefined;
  if (state === "deleted") {
    await world.jobs.cancel(tx, DEADLINE_JOB, row.id);
    await deleteVideo(tx, row);
    return row;
  }
  const moved = onMap(entered(row, state, event, atMs));
  await updateVideo(tx, moved);
  await setTimer(tx, world, moved);
  if (statusOf[row.state] !== statusOf[state]) await announceStatus(tx, world, moved);
  // D-51: it seals at once; where that fails, the timer tries again.
  return state === "ending" && event !== "sealing_failed" && moved.sealing_fails === 0 ? moveVideo(tx, world, moved, "sealed", atMs) : moved;
}

/** The row in its new state. */
function entered(row: LiveVideoRow, state: State, event: LiveEvent, atMs: number): LiveVideoRow {
  const moved: LiveVideoRow = { ...row, state };
  if (event === "feed_started") {
    moved.has_feed = 1;
    moved.feed_session = row.feed_session + 1;
  }
  if (event === "feed_lost" || event === "audio_missing") moved.has_feed = 0;
  if (!takesFeed(state)) {
    moved.has_feed = 0;
    moved.stream_key_hash = null;
  }
  if (state === "live" && !isLive(row.state)) moved.broadcast_start_ms = atMs;
  if (event === "sealing_failed") moved.sealing_tries = row.sealing_tries + 1;
  moved.deadline_ms = deadlineOf(moved, event, atMs);
  return moved;
}

/** When the timer of the row's state rings; null: it has none. */
export function deadlineOf(row: LiveVideoRow, event: LiveEvent | undefined, atMs: number): number | null {
  const timer = timers[row.state];
  if (timer === undefined) return null;
  if (timer.from === "planned") return row.planned_start_time === null ? null : row.planned_start_time * 1000 + timer.afterMs;
  if (event === "sealing_failed") return atMs + (SEALING_WAITS_MS[Math.min(row.sealing_tries, SEALING_WAITS_MS.length) - 1] as number);
  return atMs + timer.afterMs;
}

/** C1-3: the live map holds what is live and has a place. */
export const onMap = (row: LiveVideoRow): LiveVideoRow => ({ ...row, is_on_map: row.place !== null && isLive(row.state) ? 1 : 0 });

/** The job rings when the row says so. */
export async function setTimer(tx: Transaction, world: World, { id, deadline_ms }: LiveVideoRow): Promise<void> {
  if (deadline_ms === null) await world.jobs.cancel(tx, DEADLINE_JOB, id);
  else await world.jobs.schedule(tx, { kind: DEADLINE_JOB, key: id, dueMs: deadline_ms });
}

/** What happens by itself, when its time has come. */
export async function passDeadline(tx: Transaction, world: World, row: LiveVideoRow): Promise<void> {
  const { deadline_ms, state } = row;
  const timer = timers[state];
  if (timer === undefined || deadline_ms === null) return;
  // The clock was set back, or the video moved on meanwhile.
  if (deadline_ms > world.clock.nowMs()) return setTimer(tx, world, row);
  if (state === "ending" && row.sealing_fails === 1) await moveVideo(tx, world, row, "sealing_failed");
  // At its own time, however late it is noticed: the next window begins where this one ended.
  else await moveVideo(tx, world, row, timer.event, deadline_ms);
}

/** D-62: webhooks of pages, field `live_videos`. A video that is hidden has no status to tell. */
async function announceStatus(tx: Transaction, world: World, { id, page, state }: LiveVideoRow): Promise<void> {
  const status = statusOf[state];
  if (status === undefined) return;
  await world.webhooks.emit(tx, liveVideoWebhook, { entity: nodeId(page), payload: { id, status } });
}
