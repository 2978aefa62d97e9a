/** Changes the state of a live video by the table in `states.ts`. No other file changes the state of a video. */
import { createHash } from "node:crypto";
import { DEFAULT_WORLD } from "#graph/worlds/hosting/worlds.store";
import type { World } from "#graph/worlds/world";
import type { JobKind } from "#jobs/job-kind";
import { utcText } from "#kernel/clock";
import { type NodeId, nodeId } from "#kernel/ids";
import { removeRecording } from "#recordings/read-recording";
import { certain, type Transaction } from "#storage/database";
import { SEALING_WAITS_MS, STREAM_KEY_BYTES } from "../live-videos.limits.ts";
import { deleteVideo, findVideoById, type LiveVideoRow, listCrosspostedPages, updateVideo } from "../live-videos.store.ts";
import { type liveVideoEvents, liveVideoWebhook } from "../live-videos.webhooks.ts";
import { EVERYWHERE } from "../viewing/watching.ts";
import {
  endReasonOf,
  isLive,
  isTakenDown,
  type LiveEvent,
  noticeEndOf,
  type State,
  statusOf,
  type TakedownReason,
  takesFeed,
  timers,
  transitions,
} from "./states.ts";

/** The kind of the job that applies the automatic events of a video. A video has at most one job of this kind: the timer of its state. */
export const DEADLINE_JOB = "live_video_deadline";

/** Returns the hash of a stream key. Only the hash of a stream key is stored, so that somebody who reads the database cannot send a stream. */
export const hashOfKey = (key: string): string => createHash("sha256").update(key).digest("hex");

/** D-261: makes a new stream key. Encoders of all worlds connect to the same port, so the key begins with the name of its world. */
export function mintKey(world: World): string {
  const secret = world.randomSecret(STREAM_KEY_BYTES);
  return world.name === DEFAULT_WORLD ? secret : `${world.name}${WORLD_END}${secret}`;
}

/** The character between the name of a world and the secret in a stream key. Neither the name of a world nor a secret contains a dot. */
const WORLD_END = ".";

export function worldOfKey(key: string): string {
  const end = key.indexOf(WORLD_END);
  return end === -1 ? DEFAULT_WORLD : key.slice(0, end);
}

/** An event in the history of a video. The history is stored with the video, so that people can see how the video reached its state. */
export interface Move {
  /** The time of the event, in world time. */
  readonly ms: number;
  /** `declared`: an operator set the state. `feed_refused`: an encoder with the right key was refused, and the state did not change. */
  readonly event: LiveEvent | "declared" | "feed_refused";
  readonly state: State;
  /** A text that says what is wrong with the encoder's stream; only for the event `feed_refused`. */
  readonly reason?: string;
}

/**
 * The greatest number of events in the history of a video. A broadcast causes about ten events; an encoder that reconnects many times causes more
 * events.
 */
const MOVES_MAX = 50;

/**
 * Adds an event to the history of a video. If the last event is a refusal for the same reason, the new refusal replaces the last event, because a
 * refused encoder tries many times.
 */
export function withMove(history: string, move: Move): string {
  const moves = movesOf(history);
  const last = moves.at(-1);
  if (move.event === "feed_refused" && last?.event === "feed_refused" && last.reason === move.reason) moves.pop();
  return JSON.stringify([...moves, move].slice(-MOVES_MAX));
}

export const movesOf = (history: string): Move[] => JSON.parse(history) as Move[];

/** Returns the row of a new video, which is unpublished, has no location, and may be watched in every country. */
export const newVideo = (page: NodeId, id: NodeId, creation_time: number): LiveVideoRow => ({
  page,
  id,
  title: null,
  description: null,
  state: "unpublished",
  embeddable: 0,
  place: null,
  ...EVERYWHERE,
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
  takedown_reason: null,
  end_reason: null,
  feed_ingest: null,
  feed_width: null,
  feed_height: null,
  published_real_ms: null,
  history: "[]",
});

/**
 * Locks the video until the transaction ends, so that two changes of its state do not run at the same time. Returns the video, or undefined if the
 * video does not exist.
 */
export async function holdVideo(tx: Transaction, id: NodeId): Promise<LiveVideoRow | undefined> {
  await tx.lock("live_video", id);
  return findVideoById(tx, id);
}

/**
 * Applies an event to a video: changes the state, sets the timer of the new state, and emits the webhooks of the change. Returns the new row, or
 * undefined without a change if the table of states has no such transition. `atMs` is the time when the event happened.
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
    await announce(tx, world, row, "deleted");
    await deleteVideo(tx, row);
    await dropRecording(tx, world, row.id);
    return row;
  }
  const moved = onMap(entered(world, row, state, event, atMs));
  await updateVideo(tx, moved);
  await setTimer(tx, world, moved);
  await announceMove(tx, world, moved, row.state);
  // D-51: a recording is sealed at once when its broadcast ends. If sealing fails, the job of the timer tries again.
  return state === "ending" && event !== "sealing_failed" && moved.sealing_fails === 0 ? moveVideo(tx, world, moved, "sealed", atMs) : moved;
}

/** The reason of a takedown for which the caller gives no reason. */
export const DEFAULT_REASON: TakedownReason = "COPYRIGHT";

/** Returns the row of a video after `event` has led to `state`. */
function entered(world: World, row: LiveVideoRow, state: State, event: LiveEvent, atMs: number): LiveVideoRow {
  const moved: LiveVideoRow = { ...row, state, history: withMove(row.history, { ms: atMs, event, state }) };
  if (event === "feed_started") {
    moved.has_feed = 1;
    moved.feed_session = row.feed_session + 1;
  }
  if (event === "feed_lost" || event === "audio_missing" || event === "storage_missing") moved.has_feed = 0;
  if (!takesFeed(state)) {
    moved.has_feed = 0;
    moved.stream_key_hash = null;
  }
  if (moved.has_feed === 0) moved.feed_ingest = null;
  if (state === "live" && !isLive(row.state)) {
    moved.broadcast_start_ms = atMs;
    moved.published_real_ms = world.realNowMs();
  }
  if (state === "ending") moved.end_reason = endReasonOf[event] ?? row.end_reason;
  if (!isTakenDown(state)) moved.takedown_reason = null;
  else moved.takedown_reason ??= DEFAULT_REASON;
  if (event === "sealing_failed") moved.sealing_tries = row.sealing_tries + 1;
  moved.deadline_ms = deadlineOf(moved, event, atMs, world.streaming !== undefined);
  return moved;
}

/**
 * Returns the time when the timer of the row's state is due, or null if the state has no timer. `takesStreams` says whether encoders can connect to
 * the world.
 */
export function deadlineOf(row: LiveVideoRow, event: LiveEvent | undefined, atMs: number, takesStreams: boolean): number | null {
  const timer = timers[row.state];
  if (timer === undefined || (timer.from === "no_feed" && (row.has_feed === 1 || !takesStreams))) return null;
  if (timer.from === "planned") return row.planned_start_time === null ? null : row.planned_start_time * 1000 + timer.afterMs;
  if (event === "sealing_failed") return atMs + (SEALING_WAITS_MS[Math.min(row.sealing_tries, SEALING_WAITS_MS.length) - 1] as number);
  return atMs + timer.afterMs;
}

/** C1-3: returns the row of the video with the correct value of `is_on_map`. The live map contains live videos that have a place. */
export const onMap = (row: LiveVideoRow): LiveVideoRow => ({ ...row, is_on_map: row.place !== null && isLive(row.state) ? 1 : 0 });

/** Schedules the job of the video's timer at the deadline, or cancels the job if the row has no deadline. */
export async function setTimer(tx: Transaction, world: World, { id, deadline_ms }: LiveVideoRow): Promise<void> {
  if (deadline_ms === null) await world.jobs.cancel(tx, DEADLINE_JOB, id);
  else await world.jobs.schedule(tx, { kind: DEADLINE_JOB, key: id, dueMs: deadline_ms });
}

/** Applies the automatic event of the video's state, if the event is due. */
async function passDeadline(tx: Transaction, world: World, row: LiveVideoRow): Promise<void> {
  const { deadline_ms, state } = row;
  const timer = timers[state];
  if (timer === undefined || deadline_ms === null) return;
  // The deadline can be in the future if the clock was set back, or if the state has changed since the job was scheduled.
  if (deadline_ms > world.clock.nowMs()) return setTimer(tx, world, row);
  if (state === "ending" && row.sealing_fails === 1)
    await certain(moveVideo(tx, world, row, "sealing_failed"), "plan the next attempt to seal the recording");
  // Even if the job is late, the event counts from the deadline, so that the time of the next state begins when the time of this state ended.
  else await certain(moveVideo(tx, world, row, timer.event, deadline_ms), `apply ${timer.event} to a video that is ${state}`);
}

/**
 * The job that applies the automatic events of live videos. Each video has at most one job for automatic events, because a state has at most one
 * timer.
 */
export const liveVideoDeadlines: JobKind<World> = {
  kind: DEADLINE_JOB,
  async run(world, id, _payload, job) {
    await world.database.write(async (tx) => {
      // To avoid deadlocks, this transaction locks the video before the video's job, like the transactions that set the timer.
      const row = await holdVideo(tx, nodeId(id));
      await job.settle(tx);
      if (row !== undefined) await passDeadline(tx, world, row);
    });
  },
};

type Announced = (typeof liveVideoEvents)[number];

/**
 * Sends the webhook field `live_videos` to every page that shows the video (D-62, D-110). If the video is deleted, the caller must call this function
 * before it deletes the video's rows, because the rows say which pages showed the video.
 */
export async function announce(tx: Transaction, world: World, row: LiveVideoRow, event?: Announced): Promise<void> {
  const noticeEnd = event === "restore_notice" ? noticeEndOf(row) : null;
  const payload = {
    id: row.id,
    status: event === "deleted" ? "DELETED" : statusOf[row.state],
    ...(event === undefined ? {} : { event }),
    ...(row.takedown_reason === null ? {} : { takedown_reason: row.takedown_reason }),
    ...(row.end_reason === null ? {} : { end_reason: row.end_reason }),
    ...(noticeEnd === null ? {} : { restorable_until: utcText(noticeEnd) }),
  };
  for (const page of [nodeId(row.page), ...(await listCrosspostedPages(tx, row.page, row.id))])
    await world.webhooks.emit(tx, liveVideoWebhook, { entity: page, payload });
}

/** Sends the webhooks of a change of state. `before` is the state before the change. */
async function announceMove(tx: Transaction, world: World, row: LiveVideoRow, before: State): Promise<void> {
  if (row.state === "taken_down") {
    await announce(tx, world, row, "taken_down");
    await announce(tx, world, row, "restore_notice");
  } else if (row.state === "lapsed") await announce(tx, world, row, "restore_lapsed");
  else if (before === "taken_down") await announce(tx, world, row, "restored");
  else if (statusOf[before] !== statusOf[row.state]) await announce(tx, world, row);
}

/** LIVE-14: a job removes the recording of a deleted video, so that the recording is removed even if the process dies. */
const REMOVAL_JOB = "live_recording_removal";

/** Schedules the removal of a video's recording. The caller must use the transaction that deletes the video. */
export async function dropRecording(tx: Transaction, world: World, video: string): Promise<void> {
  if (world.recordings !== undefined) await world.jobs.schedule(tx, { kind: REMOVAL_JOB, key: video, dueMs: world.clock.nowMs() });
}

export const recordingRemovals: JobKind<World> = {
  kind: REMOVAL_JOB,
  async run(world, video, _payload, job) {
    // If the server has no folder of recordings, no recording can exist.
    if (world.recordings !== undefined) await removeRecording(world.recordings, world.name, video);
    await world.database.write((tx) => job.settle(tx));
  },
};
