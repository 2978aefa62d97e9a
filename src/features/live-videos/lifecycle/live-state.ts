/** Reads and changes live videos for the control API. Clients of the Graph API cannot make the changes in this file. */
import { type Static, type TSchema, Type } from "typebox";
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { healthOf, warningsOf } from "../ingest/health.ts";
import { playsTestClip } from "../ingest/test-encoder.ts";
import { findVideoById, type LiveVideoRow, listRunning, updateVideo } from "../live-videos.store.ts";
import { type RefusalToWatch, refusalToWatch, type Viewer } from "../viewing/watching.ts";
import {
  type EndReason,
  endReasons,
  type LiveEvent,
  type State,
  type Status,
  states,
  statuses,
  statusOf,
  type TakedownReason,
  takedownReasons,
  takesFeed,
  timers,
} from "./states.ts";
import { announce, holdVideo, movesOf, moveVideo } from "./transitions.ts";

export const oneOf = (values: readonly string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);

const health = Type.Object({
  bits_per_second: Type.Integer({ description: "the bit rate of the stream, averaged over 5 s" }),
  frames_per_second: Type.Number(),
  audio_bits_per_second: Type.Integer({ description: "the bit rate of the sound; silence has about 2,000 bits per second" }),
  audio_behind_ms: Type.Integer({ description: "the delay of the newest sound behind the newest picture" }),
  gaps: Type.Integer({ description: "the number of times that pictures were missing for 250 ms or more" }),
  clock_steps: Type.Integer({ description: "the number of times that the encoder's time stamps jumped; the recording leaves the jumps out" }),
  key_frame_ms: Type.Unsafe<number | null>({ ...orNull(Type.Integer()), description: "the time between the last two key frames" }),
  width: Type.Integer({ description: "pixels" }),
  height: Type.Integer({ description: "pixels" }),
  warnings: Type.Array(Type.String(), { description: "the settings of the encoder that need a change" }),
});

/** The live state of a video, as the control API returns it. The live state does not contain the stream key. */
export const liveState = Type.Object({
  id: Type.String(),
  page: Type.String(),
  state: Type.Unsafe<State>({
    ...oneOf(states),
    description: "the state behind the status: reconnecting, key_replaced, key_dead and ending have the status LIVE",
  }),
  status: Type.Unsafe<Status>({ ...oneOf(statuses), description: "the status in the interface" }),
  feed: Type.Object({
    is_sending: Type.Boolean({ description: "whether an encoder is sending" }),
    session: Type.Integer({ description: "the number of the newest feed; 0: there was no feed yet" }),
  }),
  test_encoder: Type.Boolean({ description: "whether the test encoder is sending" }),
  health: Type.Optional(
    Type.Unsafe<Static<typeof health>>({ ...health, description: "the quality of the stream, while an encoder sends to this server" }),
  ),
  refused: Type.Optional(
    Type.Object(
      {
        time: Type.Number({ description: "world time in Unix seconds, with milliseconds as its fraction" }),
        reason: Type.String({ description: "the defect of the encoder's stream, and the change that solves it" }),
      },
      { description: "the last encoder with the right key that was refused; absent once an encoder sends" },
    ),
  ),
  stream_key: Type.Unsafe<"usable" | "none">({ ...oneOf(["usable", "none"]), description: "whether an encoder can connect" }),
  next: Type.Unsafe<{ readonly event: LiveEvent; readonly time: number } | null>({
    ...orNull(Type.Object({ event: Type.String(), time: Type.Integer({ description: "Unix seconds" }) })),
    description: "the next automatic event",
  }),
  sealing: Type.Object({ fails: Type.Boolean(), tries: Type.Integer({ description: "failed tries" }) }),
  restore_notice: Type.Unsafe<"none" | "open" | "lapsed">(oneOf(["none", "open", "lapsed"])),
  takedown_reason: Type.Optional(
    Type.Unsafe<TakedownReason>({ ...oneOf(takedownReasons), description: "the reason why the video was taken down; absent for other videos" }),
  ),
  end_reason: Type.Optional(
    Type.Unsafe<EndReason>({ ...oneOf(endReasons), description: "the reason why the broadcast ended by itself; absent for other broadcasts" }),
  ),
  history: Type.Array(
    Type.Object({
      time: Type.Number({ description: "world time in Unix seconds, with milliseconds as its fraction" }),
      event: Type.String({ description: "the event; declared: an operator set the state" }),
      state: Type.Unsafe<State>({ ...oneOf(states), description: "the state after the event" }),
      reason: Type.Optional(
        Type.String({ description: "only for `feed_refused`: the defect of the encoder's stream, and the change that solves it" }),
      ),
    }),
    { description: "the last 50 events, oldest first" },
  ),
});
export type LiveState = Static<typeof liveState>;

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
    ...refusalShown(row),
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

function refusalShown({ history }: LiveVideoRow): Pick<LiveState, "refused"> {
  const { event, ms = 0, reason } = movesOf(history).findLast((move) => move.event === "feed_refused" || move.event === "feed_started") ?? {};
  return event === "feed_refused" && reason !== undefined ? { refused: { time: ms / 1000, reason } } : {};
}

/**
 * The result of a change to a live video. `missing`: the video does not exist or was deleted. `refused`: the video is unchanged, because the table of
 * states does not allow the transition.
 */
export type TransitionResult = { readonly is: "done" | "refused"; readonly state: LiveState } | { readonly is: "missing" };

export async function readLiveState(world: World, id: NodeId): Promise<LiveState | undefined> {
  const row = await findVideoById(world.database.reader, id);
  return row === undefined ? undefined : stateOf(row, world);
}

/** Returns the live states of running broadcasts, newest first. */
export const readRunning = async (world: World, limit: number): Promise<LiveState[]> =>
  (await listRunning(world.database.reader, limit)).map((row) => stateOf(row, world));

/** Locks a live video and changes it. `change` returns the changed row, or undefined if the change is refused. */
function changeLiveVideo(
  world: World,
  id: NodeId,
  change: (tx: Transaction, row: LiveVideoRow) => Promise<LiveVideoRow | undefined>,
): Promise<TransitionResult> {
  return world.database.write(async (tx): Promise<TransitionResult> => {
    const row = await holdVideo(tx, id);
    if (row === undefined) return { is: "missing" };
    const changed = await change(tx, row);
    return { is: changed === undefined ? "refused" : "done", state: stateOf(changed ?? row, world) };
  });
}

export const transitionLiveVideo = (world: World, id: NodeId, event: LiveEvent): Promise<TransitionResult> =>
  changeLiveVideo(world, id, (tx, row) => moveVideo(tx, world, row, event));

/** LIVE-15: takes a video down. The reason of the takedown is stored until the video is restored. */
export const takeDown = (world: World, id: NodeId, takedown_reason: TakedownReason): Promise<TransitionResult> =>
  changeLiveVideo(world, id, (tx, row) => moveVideo(tx, world, { ...row, takedown_reason }, "taken_down"));

/** Sends the webhook of an open restore notice once more. Sending the webhook again does not change the time when the restore notice ends. */
export const repeatNotice = (world: World, id: NodeId): Promise<TransitionResult> =>
  changeLiveVideo(world, id, async (tx, row) => {
    if (row.state !== "taken_down") return undefined;
    await announce(tx, world, row, "restore_notice");
    return row;
  });

/** D-112: sets whether sealing the recording fails on purpose. When sealing works again, a recording that waits for its sealing is sealed at once. */
export const setSealing = (world: World, id: NodeId, fails: boolean): Promise<TransitionResult> =>
  changeLiveVideo(world, id, async (tx, row) => {
    const set: LiveVideoRow = { ...row, sealing_fails: fails ? 1 : 0 };
    await updateVideo(tx, set);
    return (fails ? undefined : await moveVideo(tx, world, set, "sealed")) ?? set;
  });

/** Returns why a viewer may not watch the video, null if the viewer may watch, or undefined if the video does not exist. */
export async function findRefusalToWatch(world: World, id: NodeId, viewer: Viewer): Promise<RefusalToWatch | null | undefined> {
  const row = await findVideoById(world.database.reader, id);
  return row === undefined ? undefined : (refusalToWatch(row, viewer, world.clock.nowMs()) ?? null);
}
