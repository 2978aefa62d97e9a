/** What the control API reads and changes of live videos. No request to the graph can do this. */
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import { type FeedHealth, healthOf, warningsOf } from "../ingest/health.ts";
import { playsTestClip } from "../ingest/test-encoder.ts";
import { findVideoById, type LiveVideoRow, listRunning, updateVideo } from "../live-videos.store.ts";
import { type RefusalToWatch, refusalToWatch, type Viewer } from "../viewing/watching.ts";
import { announce } from "./announcements.ts";
import { movesOf } from "./history.ts";
import { type EndReason, type LiveEvent, type State, type Status, statusOf, type TakedownReason, takesFeed, timers } from "./states.ts";
import { holdVideo, moveVideo } from "./transitions.ts";

/** The live state of a video, without its key. */
export interface LiveState {
  readonly id: string;
  readonly page: string;
  readonly state: State;
  readonly status: Status;
  readonly feed: { readonly is_sending: boolean; readonly session: number };
  /** The server's own encoder sends the test clip. */
  readonly test_encoder: boolean;
  /** What the encoder sends; only while this server's ingest takes the feed. */
  readonly health?: Omit<FeedHealth, "video" | "session"> & { readonly warnings: readonly string[] };
  /** `none`: no encoder can connect. */
  readonly stream_key: "usable" | "none";
  /** The next automatic event and its time (Unix seconds). */
  readonly next: { readonly event: LiveEvent; readonly time: number } | null;
  readonly sealing: { readonly fails: boolean; readonly tries: number };
  readonly restore_notice: "none" | "open" | "lapsed";
  /** Only when it was taken down. */
  readonly takedown_reason?: TakedownReason;
  /** Only of a broadcast that nobody ended. */
  readonly end_reason?: EndReason;
  /** How it came to its state, the oldest first. */
  readonly history: readonly { readonly time: number; readonly event: LiveEvent | "declared"; readonly state: State }[];
}

function stateOf(row: LiveVideoRow, world: World): LiveState {
  const timer = timers[row.state];
  const { state, deadline_ms } = row;
  return {
    id: row.id,
    page: row.page,
    state,
    status: statusOf[state],
    feed: { is_sending: row.has_feed === 1, session: row.feed_session },
    test_encoder: playsTestClip(world, nodeId(row.id)),
    ...healthShown(row, world),
    stream_key: row.stream_key_hash !== null && takesFeed(state) ? "usable" : "none",
    next: timer === undefined || deadline_ms === null ? null : { event: timer.event, time: Math.ceil(deadline_ms / 1000) },
    sealing: { fails: row.sealing_fails === 1, tries: row.sealing_tries },
    restore_notice: state === "taken_down" ? "open" : state === "lapsed" ? "lapsed" : "none",
    ...(row.takedown_reason === null ? {} : { takedown_reason: row.takedown_reason }),
    ...(row.end_reason === null ? {} : { end_reason: row.end_reason }),
    history: movesOf(row.history).map(({ ms, ...move }) => ({ time: ms / 1000, ...move })),
  };
}

function healthShown({ id, has_feed, feed_session }: LiveVideoRow, world: World): Pick<LiveState, "health"> {
  const health = healthOf(world, id);
  if (health === undefined || has_feed === 0 || health.session !== feed_session) return {};
  const { video: _, session: __, ...shown } = health;
  return { health: { ...shown, warnings: warningsOf(health) } };
}

/** `missing`: the video does not exist or was deleted. `refused`: the table has no such transition; the video is unchanged. */
export type TransitionResult = { readonly is: "done" | "refused"; readonly state: LiveState } | { readonly is: "missing" };

export async function readLiveState(world: World, id: NodeId): Promise<LiveState | undefined> {
  const row = await findVideoById(world.database.reader, id);
  return row === undefined ? undefined : stateOf(row, world);
}

/** The broadcasts that run, the newest first. */
export const readRunning = async (world: World, limit: number): Promise<LiveState[]> =>
  (await listRunning(world.database.reader, limit)).map((row) => stateOf(row, world));

export function transitionLiveVideo(world: World, id: NodeId, event: LiveEvent): Promise<TransitionResult> {
  return world.database.write(async (tx): Promise<TransitionResult> => {
    const row = await holdVideo(tx, id);
    if (row === undefined) return { is: "missing" };
    const moved = await moveVideo(tx, world, row, event);
    return { is: moved === undefined ? "refused" : "done", state: stateOf(moved ?? row, world) };
  });
}

/** LIVE-15: the reason stays with the video until it is restored. */
export function takeDown(world: World, id: NodeId, takedown_reason: TakedownReason): Promise<TransitionResult> {
  return world.database.write(async (tx): Promise<TransitionResult> => {
    const row = await holdVideo(tx, id);
    if (row === undefined) return { is: "missing" };
    const moved = await moveVideo(tx, world, { ...row, takedown_reason }, "taken_down");
    return { is: moved === undefined ? "refused" : "done", state: stateOf(moved ?? row, world) };
  });
}

/** Sends the open restore notice again; its time stays as it is. */
export function repeatNotice(world: World, id: NodeId): Promise<TransitionResult> {
  return world.database.write(async (tx): Promise<TransitionResult> => {
    const row = await holdVideo(tx, id);
    if (row === undefined) return { is: "missing" };
    const isOpen = row.state === "taken_down";
    if (isOpen) await announce(tx, world, row, "restore_notice");
    return { is: isOpen ? "done" : "refused", state: stateOf(row, world) };
  });
}

/** D-112: makes sealing fail on purpose, or work again; then a video in `ending` is sealed at once. */
export function setSealing(world: World, id: NodeId, fails: boolean): Promise<TransitionResult> {
  return world.database.write(async (tx): Promise<TransitionResult> => {
    const row = await holdVideo(tx, id);
    if (row === undefined) return { is: "missing" };
    const set: LiveVideoRow = { ...row, sealing_fails: fails ? 1 : 0 };
    await updateVideo(tx, set);
    const sealed = fails ? undefined : await moveVideo(tx, world, set, "sealed");
    return { is: "done", state: stateOf(sealed ?? set, world) };
  });
}

/** Undefined: the video does not exist. null: the viewer may watch. */
export async function findRefusalToWatch(world: World, id: NodeId, viewer: Viewer): Promise<RefusalToWatch | null | undefined> {
  const row = await findVideoById(world.database.reader, id);
  return row === undefined ? undefined : (refusalToWatch(row, viewer, world.clock.nowMs()) ?? null);
}
