import { type Static, Type } from "typebox";
import { having } from "#graph/schema/schema-node";
import { closedMap, described, idOf, WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import type { Reader, Transaction } from "#storage/database";
import {
  type EndReason,
  endReasons,
  isLive,
  isTakenDown,
  type State,
  type Status,
  statuses,
  statusOf,
  type TakedownReason,
  takedownReasons,
  takesFeed,
} from "./lifecycle/states.ts";
import {
  DEADLINE_JOB,
  DEFAULT_REASON,
  deadlineOf,
  dropRecording,
  hashOfKey,
  holdVideo,
  newVideo,
  onMap,
  setTimer,
  withMove,
} from "./lifecycle/transitions.ts";
import { targeting } from "./live-videos.contract.ts";
import { DESCRIPTION_CHARACTERS_MAX, TITLE_CHARACTERS_MAX } from "./live-videos.limits.ts";
import {
  deleteVideo,
  findVideoById,
  findVideoByKey,
  insertVideo,
  type LiveVideoRow,
  listAllVideos,
  listCrosspostedPages,
  saveCrosspostedPages,
  updateVideo,
} from "./live-videos.store.ts";
import { declaredPlace, placeOf } from "./viewing/place.ts";
import { targetingColumnsOf, targetingOf } from "./viewing/watching.ts";

/**
 * The statuses that an entry of a world file can have. An entry cannot have the status TAKEN_DOWN; instead, the property `condition` says that a
 * video was taken down.
 */
type PlainStatus = Exclude<Status, "TAKEN_DOWN">;

/**
 * The values of `condition`. A condition distinguishes states that have the same status in a world file: LIVE for the first three states, and VOD for
 * the last two.
 */
const conditions = ["reconnecting", "key_dead", "ending", "taken_down", "lapsed"] as const satisfies readonly State[];

const entry = closedMap(
  {
    id: described("the video's id", worldId),
    page: described("the page that broadcasts the video", idOf("page")),
    title: Type.Optional(Type.String({ maxLength: TITLE_CHARACTERS_MAX, description: "the video's title" })),
    description: Type.Optional(Type.String({ maxLength: DESCRIPTION_CHARACTERS_MAX, description: "the text below the video" })),
    status: Type.Unsafe<PlainStatus>({
      enum: statuses.filter((status) => status !== "TAKEN_DOWN"),
      default: "UNPUBLISHED",
      description: "the video's status; Plaza does not change LIVE_STOPPED and PROCESSING by itself",
    }),
    condition: Type.Optional(
      Type.Unsafe<(typeof conditions)[number]>({
        enum: [...conditions],
        description:
          "the exact state of a video with the status LIVE or VOD. LIVE: `reconnecting` waits for a lost feed, `key_dead` accepts no feed any more, `ending` saves the recording. " +
          "VOD: `taken_down` can still be restored, `lapsed` cannot",
      }),
    ),
    deadline: Type.Optional(
      described("the time at which the video's current wait ends, e.g. for a lost feed or a restore (default: the full wait from now)", worldTime),
    ),
    takedown_reason: Type.Optional(
      Type.Unsafe<TakedownReason>({
        enum: [...takedownReasons],
        description: `the reason why the video was taken down, only with the condition \`taken_down\` or \`lapsed\` (default: ${DEFAULT_REASON})`,
      }),
    ),
    end_reason: Type.Optional(Type.Unsafe<EndReason>({ enum: [...endReasons], description: "the reason why the broadcast ended by itself" })),
    embeddable: Type.Boolean({ default: false, description: "whether other sites may show the player" }),
    place: Type.Optional(described("the place on the live map: the id of a place or page, a point, or both", declaredPlace)),
    targeting: Type.Optional(described("the countries in which the video may be watched (default: all countries)", targeting)),
    crossposted_pages: Type.Array(idOf("page"), { default: [], description: "other pages that share and list the video" }),
    planned_start_time: Type.Optional(described("the planned start time, for a status that begins with SCHEDULED", worldTime)),
    creation_time: Type.Optional(described("the time at which the video was created (default: now)", worldTime)),
    broadcast_start_time: Type.Optional(described("the time at which the broadcast began (default: now, for a LIVE video)", worldTime)),
    stream_key: Type.Optional(
      Type.String({
        minLength: 16,
        maxLength: 200,
        description: "the secret with which an encoder sends the video; allowed only with a status in which an encoder can connect",
      }),
    ),
    stream_key_sha256: Type.Optional(
      Type.String({ pattern: "^[0-9a-f]{64}$", description: "the SHA-256 of the stream key in hex, as in an export; give it instead of stream_key" }),
    ),
    sealing_fails: Type.Boolean({ default: false, description: "for tests: while sealing_fails is true, Plaza fails to save the recording" }),
  },
  "a live video or the recording of one",
  { not: having("stream_key", "stream_key_sha256") },
);
type Entry = Static<typeof entry>;

const plainStates: Readonly<Record<PlainStatus, State>> = {
  UNPUBLISHED: "unpublished",
  LIVE: "live",
  LIVE_STOPPED: "stopped",
  PROCESSING: "processing",
  VOD: "vod",
  SCHEDULED_UNPUBLISHED: "scheduled_unpublished",
  SCHEDULED_LIVE: "scheduled_live",
  SCHEDULED_EXPIRED: "scheduled_expired",
  SCHEDULED_CANCELED: "scheduled_canceled",
};

const conditionOf = (state: State): Entry["condition"] => conditions.find((condition) => condition === state);
/**
 * Returns the status that a video in the given state has in a world file. In a world file, a video that was taken down has the status of its
 * recording, VOD.
 */
function shownStatus(state: State): PlainStatus {
  const status = statusOf[state];
  return status === "TAKEN_DOWN" ? "VOD" : status;
}

function stateOf({ status, condition }: Entry): State {
  if (condition === undefined) return plainStates[status];
  if (shownStatus(condition) !== status) throw new WorldProblem("condition", `${condition} requires the status ${shownStatus(condition)}`);
  return condition;
}

function keyOf({ stream_key, stream_key_sha256 }: Entry, state: State): string | null {
  if (takesFeed(state)) return stream_key === undefined ? (stream_key_sha256 ?? null) : hashOfKey(stream_key);
  if (stream_key !== undefined) throw new WorldProblem("stream_key", "is not allowed with this status, because no encoder can connect");
  return null;
}

function reasonOf({ takedown_reason }: Entry, state: State): TakedownReason | null {
  if (isTakenDown(state)) return takedown_reason ?? DEFAULT_REASON;
  if (takedown_reason !== undefined) throw new WorldProblem("takedown_reason", "requires the condition taken_down or lapsed");
  return null;
}

/**
 * D-51: returns the row of the video that an entry declares. A video that a world file declares LIVE has no feed, and its broadcast does not end
 * because of the missing feed.
 */
function rowOf(one: Entry, world: World): LiveVideoRow {
  const now = unixSeconds(world.clock);
  const state = stateOf(one);
  const started = one.broadcast_start_time ?? (isLive(state) ? now : undefined);
  const row: LiveVideoRow = {
    ...newVideo(one.page, one.id, one.creation_time ?? now),
    title: one.title ?? null,
    description: one.description ?? null,
    state,
    embeddable: one.embeddable ? 1 : 0,
    place: one.place === undefined ? null : JSON.stringify(placeOf(one.place)),
    ...targetingColumnsOf(one.targeting ?? {}),
    planned_start_time: one.planned_start_time ?? null,
    broadcast_start_ms: started === undefined ? null : started * 1000,
    stream_key_hash: keyOf(one, state),
    sealing_fails: one.sealing_fails ? 1 : 0,
    takedown_reason: reasonOf(one, state),
    end_reason: one.end_reason ?? null,
  };
  return onMap({ ...row, deadline_ms: deadlineFor(row, one, world) });
}

/**
 * D-110: returns the deadline of a declared video. A video that is declared LIVE_STOPPED or PROCESSING does not change by itself, so it has no
 * deadline. In all other states, the timer of a declared video begins now unless the entry has a deadline.
 */
function deadlineFor(row: LiveVideoRow, { deadline }: Entry, world: World): number | null {
  if (row.state === "stopped" || row.state === "processing") return null;
  const own = deadlineOf(row, undefined, world.clock.nowMs(), false);
  const isPlanned = row.state === "scheduled_live" || row.state === "scheduled_unpublished";
  if (deadline === undefined || own === null || isPlanned) return own;
  return deadline * 1000;
}

async function entryOf(row: LiveVideoRow, reader: Reader): Promise<object> {
  const { page, id, title, description, state, takedown_reason, end_reason, place, planned_start_time, creation_time, stream_key_hash } = row;
  const condition = conditionOf(state);
  return {
    ...{ id, page, title, description, status: shownStatus(state), condition, takedown_reason, end_reason, planned_start_time, creation_time },
    deadline: condition === undefined ? undefined : deadlineSeconds(row),
    embeddable: row.embeddable === 1,
    place: place === null ? null : JSON.parse(place),
    targeting: targetingOf(row),
    crossposted_pages: await listCrosspostedPages(reader, page, id),
    broadcast_start_time: secondsOf(row.broadcast_start_ms),
    stream_key_sha256: stream_key_hash,
    sealing_fails: row.sealing_fails === 1,
  };
}

async function requireFreeKey(tx: Transaction, { id, stream_key_hash }: LiveVideoRow): Promise<void> {
  const holder = stream_key_hash === null ? undefined : await findVideoByKey(tx, stream_key_hash);
  if (holder !== undefined && holder.id !== id) throw new WorldProblem("stream_key", `is already the stream key of the live video ${holder.id}`);
}

/**
 * Returns the row of a stored video after an entry has changed the video. If an entry does not change the state of a video, the video's timer and
 * feed do not change either. A video in the state `key_replaced` has the status LIVE in a world file, so an entry with this status does not change
 * the state.
 */
function keptRunning(declared: LiveVideoRow, stored: LiveVideoRow, { deadline, broadcast_start_time }: Entry): LiveVideoRow {
  const next: LiveVideoRow = declared.state === "live" && stored.state === "key_replaced" ? { ...declared, state: stored.state } : declared;
  if (next.state !== stored.state) return { ...next, feed_session: stored.feed_session };
  const { has_feed, feed_session, feed_ingest, feed_width, feed_height, published_real_ms, sealing_tries } = stored;
  const feed = { has_feed, feed_session, feed_ingest, feed_width, feed_height, published_real_ms };
  const isSameDeadline = deadline === deadlineSeconds(stored);
  const isPlanned = next.planned_start_time !== stored.planned_start_time;
  const deadline_ms = isPlanned || (conditionOf(next.state) !== undefined && !isSameDeadline) ? next.deadline_ms : stored.deadline_ms;
  const isSameStart = broadcast_start_time === secondsOf(stored.broadcast_start_ms);
  return { ...next, ...feed, sealing_tries, deadline_ms, ...(isSameStart ? { broadcast_start_ms: stored.broadcast_start_ms } : {}) };
}

const withHistory = (next: LiveVideoRow, { state, history }: LiveVideoRow, { clock }: World): LiveVideoRow => ({
  ...next,
  history: next.state === state ? history : withMove(history, { ms: clock.nowMs(), event: "declared", state: next.state }),
});

const secondsOf = (ms: number | null): number | undefined => (ms === null ? undefined : Math.floor(ms / 1000));

const deadlineSeconds = ({ deadline_ms }: LiveVideoRow): number | undefined => (deadline_ms === null ? undefined : Math.ceil(deadline_ms / 1000));

const pagesOf = ({ page, crossposted_pages }: Entry): string[] => crossposted_pages.filter((one) => one !== page);

export const liveVideoSection = section({
  key: "live_videos",
  nodeType: "live_video",
  entry,
  async insert(tx, given, world) {
    const row = rowOf(given, world);
    await requireFreeKey(tx, row);
    if (!(await insertVideo(tx, row, pagesOf(given)))) return false;
    if (row.deadline_ms !== null) await setTimer(tx, world, row);
    return true;
  },
  find: findVideoById,
  list: listAllVideos,
  entryOf,
  async replace(tx, given, world) {
    const stored = await holdVideo(tx, given.id);
    if (stored === undefined || stored.page !== given.page) throw new WorldProblem("page", "cannot change");
    const next = withHistory(keptRunning(rowOf(given, world), stored, given), stored, world);
    await requireFreeKey(tx, next);
    await updateVideo(tx, next);
    await saveCrosspostedPages(tx, next, pagesOf(given));
    await setTimer(tx, world, next);
  },
  async remove(tx, id, world) {
    const row = await holdVideo(tx, id);
    if (row === undefined) return false;
    await world.jobs.cancel(tx, DEADLINE_JOB, row.id);
    await deleteVideo(tx, row);
    await dropRecording(tx, world, row.id);
    return true;
  },
});
