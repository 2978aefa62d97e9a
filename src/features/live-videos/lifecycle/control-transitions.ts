/** What the control API does to a live video, and what it is shown of it: the part of the feature that no caller of the graph reaches. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import { findVideoById, type LiveVideoRow, updateVideo } from "../live-videos.store.ts";
import { type RefusalToWatch, refusalToWatch, type Viewer } from "../viewing/watching.ts";
import { type LiveEvent, type State, type Status, statusOf, takesFeed, timers } from "./states.ts";
import { holdVideo, moveVideo } from "./transitions.ts";

/** The live state of a video, without any key. */
export interface LiveState {
  readonly id: string;
  readonly page: string;
  readonly state: State;
  /** null while it is taken down. */
  readonly status: Status | null;
  readonly feed: { readonly is_sending: boolean; readonly session: number };
  /** `none`: no encoder can begin or come back. */
  readonly stream_key: "usable" | "none";
  /** What happens by itself next, and when (Unix seconds). */
  readonly next: { readonly event: LiveEvent; readonly time: number } | null;
  readonly sealing: { readonly fails: boolean; readonly tries: number };
  readonly restore_notice: "none" | "open" | "lapsed";
}

function stateOf(row: LiveVideoRow): LiveState {
  const timer = timers[row.state];
  const { state, deadline_ms } = row;
  return {
    id: row.id,
    page: row.page,
    state,
    status: statusOf[state] ?? null,
    feed: { is_sending: row.has_feed === 1, session: row.feed_session },
    stream_key: row.stream_key_hash !== null && takesFeed(state) ? "usable" : "none",
    next: timer === undefined || deadline_ms === null ? null : { event: timer.event, time: Math.ceil(deadline_ms / 1000) },
    sealing: { fails: row.sealing_fails === 1, tries: row.sealing_tries },
    restore_notice: state === "taken_down" ? "open" : state === "lapsed" ? "lapsed" : "none",
  };
}

/** `missing`: there is no such video, or it was deleted. `refused`: the table has no such move; the video stays as it is. */
export type TransitionResult = { readonly is: "done" | "refused"; readonly state: LiveState } | { readonly is: "missing" };

export async function readLiveState(world: World, id: NodeId): Promise<LiveState | undefined> {
  const row = await findVideoById(world.database.reader, id);
  return row === undefined ? undefined : stateOf(row);
}

export function transitionLiveVideo(world: World, id: NodeId, event: LiveEvent): Promise<TransitionResult> {
  return world.database.write(async (tx): Promise<TransitionResult> => {
    const row = await holdVideo(tx, id);
    if (row === undefined) return { is: "missing" };
    const moved = await moveVideo(tx, world, row, event);
    return { is: moved === undefined ? "refused" : "done", state: stateOf(moved ?? row) };
  });
}

/** D-112: sealing is made to fail on purpose, or to work again; then what waits for it is sealed at once. */
export function setSealing(world: World, id: NodeId, fails: boolean): Promise<TransitionResult> {
  return world.database.write(async (tx): Promise<TransitionResult> => {
    const row = await holdVideo(tx, id);
    if (row === undefined) return { is: "missing" };
    const set: LiveVideoRow = { ...row, sealing_fails: fails ? 1 : 0 };
    await updateVideo(tx, set);
    const sealed = fails ? undefined : await moveVideo(tx, world, set, "sealed");
    return { is: "done", state: stateOf(sealed ?? set) };
  });
}

/** Undefined: there is no such video. null: the viewer may watch. */
export async function findRefusalToWatch(world: World, id: NodeId, viewer: Viewer): Promise<RefusalToWatch | null | undefined> {
  const row = await findVideoById(world.database.reader, id);
  return row === undefined ? undefined : (refusalToWatch(row, viewer, world.clock.nowMs()) ?? null);
}
