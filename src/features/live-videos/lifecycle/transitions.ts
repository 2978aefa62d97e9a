/** The only code that changes the state of a live video, by the table of `states.ts`. */

import { createHash } from "node:crypto";
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { certain, eitherWay } from "#storage/outcomes";
import { SEALING_WAITS_MS, STREAM_KEY_BYTES } from "../live-videos.limits.ts";
import { deleteVideo, findVideoById, type LiveVideoRow, updateVideo } from "../live-videos.store.ts";
import { liveVideoWebhook } from "../live-videos.webhooks.ts";
import { NO_BORDERS } from "../viewing/targeting.ts";
import { isLive, type LiveEvent, type State, statusOf, takesFeed, timers, transitions } from "./states.ts";

/** The kind of the only job of a live video: the timer of its state. */
export const DEADLINE_JOB = "live_video_deadline";

/** Keys are stored as hashes, so that reading the database does not allow streaming. */
export const hashOfKey = (key: string): string => createHash("sha256").update(key).digest("hex");

export const mintKey = (world: World): string => world.randomSecret(STREAM_KEY_BYTES);

/** A new video: unpublished, without a place, allowed in every country. */
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

/** Locks the video until the transaction ends, so that its state changes do not run concurrently. */
export async function holdVideo(tx: Transaction, id: NodeId): Promise<LiveVideoRow | undefined> {
  await tx.lock("live_video", id);
  return findVideoById(tx, id);
}

/**
 * Changes the state, sets the timer of the new state, and emits a webhook when the status changes. Returns the new row, or
 * undefined when the table has no such transition; then nothing has changed. `atMs` is when the event happened.
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
    await eitherWay(world.jobs.cancel(tx, DEADLINE_JOB, row.id));
    await deleteVideo(tx, row);
    return row;
  }
  const moved = onMap(entered(row, state, event, atMs));
  await updateVideo(tx, moved);
  await setTimer(tx, world, moved);
  if (statusOf[row.state] !== statusOf[state]) await emitStatus(tx, world, moved);
  // D-51: sealing runs at once; when it fails, the timer repeats it.
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

/** When the timer of the row's state is due; null: the state has none. */
export function deadlineOf(row: LiveVideoRow, event: LiveEvent | undefined, atMs: number): number | null {
  const timer = timers[row.state];
  if (timer === undefined) return null;
  if (timer.from === "planned") return row.planned_start_time === null ? null : row.planned_start_time * 1000 + timer.afterMs;
  if (event === "sealing_failed") return atMs + (SEALING_WAITS_MS[Math.min(row.sealing_tries, SEALING_WAITS_MS.length) - 1] as number);
  return atMs + timer.afterMs;
}

/** C1-3: the live map contains live videos with a place. */
export const onMap = (row: LiveVideoRow): LiveVideoRow => ({ ...row, is_on_map: row.place !== null && isLive(row.state) ? 1 : 0 });

/** Schedules or cancels the job according to the row's deadline. */
export async function setTimer(tx: Transaction, world: World, { id, deadline_ms }: LiveVideoRow): Promise<void> {
  if (deadline_ms === null) await eitherWay(world.jobs.cancel(tx, DEADLINE_JOB, id));
  else await world.jobs.schedule(tx, { kind: DEADLINE_JOB, key: id, dueMs: deadline_ms });
}

/** Applies the automatic event of the state if it is due. */
export async function passDeadline(tx: Transaction, world: World, row: LiveVideoRow): Promise<void> {
  const { deadline_ms, state } = row;
  const timer = timers[state];
  if (timer === undefined || deadline_ms === null) return;
  // The clock was set back, or the state has changed meanwhile.
  if (deadline_ms > world.clock.nowMs()) return setTimer(tx, world, row);
  if (state === "ending" && row.sealing_fails === 1) await certain(moveVideo(tx, world, row, "sealing_failed"), "repeat the sealing");
  // Even if the job is late, the event happens at its deadline, so that the next window starts where this one ended.
  else await certain(moveVideo(tx, world, row, timer.event, deadline_ms), `apply ${timer.event} to a video that is ${state}`);
}

/** D-62: emits the webhook field `live_videos` of the page, unless the video is hidden. */
async function emitStatus(tx: Transaction, world: World, { id, page, state }: LiveVideoRow): Promise<void> {
  const status = statusOf[state];
  if (status === undefined) return;
  await world.webhooks.emit(tx, liveVideoWebhook, { entity: nodeId(page), payload: { id, status } });
}
