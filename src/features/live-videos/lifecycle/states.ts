/**
 * The lifecycle of a live video (LIVE-7 to LIVE-17, D-51, D-110 to D-112), as tables in this comment and as data below. Responses show the status of
 * a video, not its state. A video in the state `taken_down` or `lapsed` is shown only to its own page.
 *
 * | state | status |
 * |---|---|
 * | unpublished | UNPUBLISHED |
 * | scheduled_unpublished | SCHEDULED_UNPUBLISHED |
 * | scheduled_live | SCHEDULED_LIVE |
 * | scheduled_expired | SCHEDULED_EXPIRED |
 * | scheduled_canceled | SCHEDULED_CANCELED |
 * | live | LIVE |
 * | reconnecting | LIVE |
 * | key_replaced | LIVE |
 * | key_dead | LIVE |
 * | ending | LIVE |
 * | stopped | LIVE_STOPPED |
 * | processing | PROCESSING |
 * | vod | VOD |
 * | taken_down | TAKEN_DOWN |
 * | lapsed | TAKEN_DOWN |
 * | deleted | none |
 *
 * | from | when | to |
 * |---|---|---|
 * | unpublished | published | live |
 * | unpublished | planned_unpublished | scheduled_unpublished |
 * | unpublished | planned_live | scheduled_live |
 * | unpublished | feed_started | unpublished |
 * | unpublished | feed_lost | unpublished |
 * | unpublished | audio_missing | unpublished |
 * | unpublished | storage_missing | unpublished |
 * | unpublished | key_regenerated | unpublished |
 * | unpublished | deleted | deleted |
 * | scheduled_unpublished | published | live |
 * | scheduled_unpublished | planned_unpublished | scheduled_unpublished |
 * | scheduled_unpublished | planned_live | scheduled_live |
 * | scheduled_unpublished | canceled | scheduled_canceled |
 * | scheduled_unpublished | start_missed | scheduled_expired |
 * | scheduled_unpublished | feed_started | scheduled_unpublished |
 * | scheduled_unpublished | feed_lost | scheduled_unpublished |
 * | scheduled_unpublished | audio_missing | scheduled_unpublished |
 * | scheduled_unpublished | storage_missing | scheduled_unpublished |
 * | scheduled_unpublished | key_regenerated | scheduled_unpublished |
 * | scheduled_unpublished | deleted | deleted |
 * | scheduled_live | published | live |
 * | scheduled_live | planned_time_came | live |
 * | scheduled_live | planned_unpublished | scheduled_unpublished |
 * | scheduled_live | planned_live | scheduled_live |
 * | scheduled_live | canceled | scheduled_canceled |
 * | scheduled_live | feed_started | scheduled_live |
 * | scheduled_live | feed_lost | scheduled_live |
 * | scheduled_live | audio_missing | scheduled_live |
 * | scheduled_live | storage_missing | scheduled_live |
 * | scheduled_live | key_regenerated | scheduled_live |
 * | scheduled_live | deleted | deleted |
 * | scheduled_expired | deleted | deleted |
 * | scheduled_canceled | deleted | deleted |
 * | live | feed_started | live |
 * | live | feed_lost | reconnecting |
 * | live | audio_missing | ending |
 * | live | storage_missing | ending |
 * | live | feed_missed | ending |
 * | live | key_regenerated | live |
 * | live | key_replaced | key_replaced |
 * | live | end_signalled | ending |
 * | live | taken_down | taken_down |
 * | live | deleted | deleted |
 * | reconnecting | feed_started | live |
 * | reconnecting | reconnect_window_closed | key_dead |
 * | reconnecting | key_regenerated | live |
 * | reconnecting | end_signalled | ending |
 * | reconnecting | taken_down | taken_down |
 * | reconnecting | deleted | deleted |
 * | key_replaced | feed_started | live |
 * | key_replaced | feed_lost | live |
 * | key_replaced | audio_missing | ending |
 * | key_replaced | storage_missing | ending |
 * | key_replaced | key_replaced | key_replaced |
 * | key_replaced | end_signalled | ending |
 * | key_replaced | taken_down | taken_down |
 * | key_replaced | deleted | deleted |
 * | key_dead | key_regenerated | live |
 * | key_dead | new_key_window_closed | ending |
 * | key_dead | end_signalled | ending |
 * | key_dead | taken_down | taken_down |
 * | key_dead | deleted | deleted |
 * | ending | end_signalled | ending |
 * | ending | sealing_failed | ending |
 * | ending | sealed | stopped |
 * | ending | taken_down | taken_down |
 * | ending | deleted | deleted |
 * | stopped | processing_began | processing |
 * | stopped | taken_down | taken_down |
 * | stopped | deleted | deleted |
 * | processing | processed | vod |
 * | processing | taken_down | taken_down |
 * | processing | deleted | deleted |
 * | vod | taken_down | taken_down |
 * | vod | deleted | deleted |
 * | taken_down | restored | vod |
 * | taken_down | notice_lapsed | lapsed |
 *
 * **Invariant:** no transition leaves `deleted` (LIVE-14, ERR-38) or `lapsed` (LIVE-16).
 * **Invariant:** a stream without audio never continues (LIVE-11, LIVE-12, ERR-37): `audio_missing` ends the feed in every state.
 */
import { NEW_KEY_WINDOW_MS, RECONNECT_WINDOW_MS, RESTORE_NOTICE_MS, START_MISSED_MS } from "../live-videos.limits.ts";

/** D-51, D-110: the statuses of a live video. D-110 adds the status TAKEN_DOWN. */
export const statuses = [
  "UNPUBLISHED",
  "LIVE",
  "LIVE_STOPPED",
  "PROCESSING",
  "VOD",
  "SCHEDULED_UNPUBLISHED",
  "SCHEDULED_LIVE",
  "SCHEDULED_EXPIRED",
  "SCHEDULED_CANCELED",
  "TAKEN_DOWN",
] as const;
export type Status = (typeof statuses)[number];

export const events = [
  "published",
  "planned_unpublished",
  "planned_live",
  "canceled",
  "planned_time_came",
  "start_missed",
  "feed_started",
  "feed_lost",
  "audio_missing",
  "storage_missing",
  "feed_missed",
  "key_regenerated",
  "key_replaced",
  "reconnect_window_closed",
  "new_key_window_closed",
  "end_signalled",
  "sealing_failed",
  "sealed",
  "processing_began",
  "processed",
  "taken_down",
  "restored",
  "notice_lapsed",
  "deleted",
] as const;
export type LiveEvent = (typeof events)[number];

/** The states of a stored video. The list does not contain `deleted`, because a deleted video has no row. */
export const states = [
  "unpublished",
  "scheduled_unpublished",
  "scheduled_live",
  "scheduled_expired",
  "scheduled_canceled",
  "live",
  "reconnecting",
  "key_replaced",
  "key_dead",
  "ending",
  "stopped",
  "processing",
  "vod",
  "taken_down",
  "lapsed",
] as const;
export type State = (typeof states)[number];

export const statusOf: Readonly<Record<State, Status>> = {
  unpublished: "UNPUBLISHED",
  scheduled_unpublished: "SCHEDULED_UNPUBLISHED",
  scheduled_live: "SCHEDULED_LIVE",
  scheduled_expired: "SCHEDULED_EXPIRED",
  scheduled_canceled: "SCHEDULED_CANCELED",
  live: "LIVE",
  reconnecting: "LIVE",
  key_replaced: "LIVE",
  key_dead: "LIVE",
  ending: "LIVE",
  stopped: "LIVE_STOPPED",
  processing: "PROCESSING",
  vod: "VOD",
  taken_down: "TAKEN_DOWN",
  lapsed: "TAKEN_DOWN",
};

type Transitions = Readonly<Partial<Record<LiveEvent, State | "deleted">>>;

/**
 * Returns the transitions of a video that is not published yet, for events of encoders and keys. Before the publication, events of encoders and keys
 * do not change the state, because nobody watches the video yet.
 */
const previewed = (state: State): Transitions => ({
  ...{ feed_started: state, feed_lost: state, audio_missing: state, storage_missing: state, key_regenerated: state },
});
const removable = { taken_down: "taken_down", deleted: "deleted" } as const;
const planned = { published: "live", planned_unpublished: "scheduled_unpublished", planned_live: "scheduled_live" } as const;

export const transitions: Readonly<Record<State, Transitions>> = {
  unpublished: { ...planned, ...previewed("unpublished"), deleted: "deleted" },
  scheduled_unpublished: {
    ...planned,
    ...previewed("scheduled_unpublished"),
    canceled: "scheduled_canceled",
    start_missed: "scheduled_expired",
    deleted: "deleted",
  },
  scheduled_live: {
    ...planned,
    ...previewed("scheduled_live"),
    canceled: "scheduled_canceled",
    planned_time_came: "live",
    deleted: "deleted",
  },
  scheduled_expired: { deleted: "deleted" },
  scheduled_canceled: { deleted: "deleted" },
  live: {
    feed_started: "live",
    feed_lost: "reconnecting",
    audio_missing: "ending",
    storage_missing: "ending",
    feed_missed: "ending",
    key_regenerated: "live",
    key_replaced: "key_replaced",
    end_signalled: "ending",
    ...removable,
  },
  reconnecting: {
    feed_started: "live",
    reconnect_window_closed: "key_dead",
    key_regenerated: "live",
    end_signalled: "ending",
    ...removable,
  },
  // In the state `key_replaced`, the encoder still sends with the old key. When the encoder stops, the time for connecting with the new key begins.
  key_replaced: {
    ...{ feed_started: "live", feed_lost: "live", audio_missing: "ending", storage_missing: "ending", key_replaced: "key_replaced" },
    end_signalled: "ending",
    ...removable,
  },
  key_dead: { key_regenerated: "live", new_key_window_closed: "ending", end_signalled: "ending", ...removable },
  ending: { end_signalled: "ending", sealing_failed: "ending", sealed: "stopped", ...removable },
  stopped: { processing_began: "processing", ...removable },
  processing: { processed: "vod", ...removable },
  vod: removable,
  taken_down: { restored: "vod", notice_lapsed: "lapsed" },
  lapsed: {},
};

/** Returns whether an encoder may connect with the video's stream key. */
export const takesFeed = (state: State): boolean => transitions[state].feed_started !== undefined;

/** Returns whether the broadcast is running. A running broadcast has the status LIVE, and can be ended. */
export const isLive = (state: State): boolean => statusOf[state] === "LIVE";

/**
 * Returns whether the video was published and not taken down. Viewers can comment on a published video and react to it, and the player may show it.
 */
export const isPublished = (state: State): boolean => isLive(state) || state === "stopped" || state === "processing" || state === "vod";

/**
 * Returns whether the video was taken down. Only the video's own page sees a video that was taken down, and no client can change it through the Graph
 * API (D-110).
 */
export const isTakenDown = (state: State): boolean => statusOf[state] === "TAKEN_DOWN";

/** LIVE-15: the reasons for taking a video down. */
export const takedownReasons = ["COPYRIGHT", "INTELLECTUAL_PROPERTY"] as const;
export type TakedownReason = (typeof takedownReasons)[number];

interface Timer {
  readonly event: LiveEvent;
  readonly afterMs: number;
  readonly from: "entry" | "planned" | "no_feed";
}

/**
 * The timer of each state. When the timer of a state ends, the timer's event happens automatically. The timer begins when the video enters the state
 * (`entry`), or at the planned start (`planned`). In the state `live` the timer runs only while the video has no feed, and only if encoders can
 * connect (`no_feed`). In the state `ending` the timer's job tries to seal the recording, which may fail.
 */
export const timers: Readonly<Partial<Record<State, Timer>>> = {
  scheduled_unpublished: { event: "start_missed", afterMs: START_MISSED_MS, from: "planned" },
  scheduled_live: { event: "planned_time_came", afterMs: 0, from: "planned" },
  live: { event: "feed_missed", afterMs: NEW_KEY_WINDOW_MS, from: "no_feed" },
  reconnecting: { event: "reconnect_window_closed", afterMs: RECONNECT_WINDOW_MS, from: "entry" },
  key_dead: { event: "new_key_window_closed", afterMs: NEW_KEY_WINDOW_MS, from: "entry" },
  ending: { event: "sealed", afterMs: 0, from: "entry" },
  stopped: { event: "processing_began", afterMs: 0, from: "entry" },
  processing: { event: "processed", afterMs: 0, from: "entry" },
  taken_down: { event: "notice_lapsed", afterMs: RESTORE_NOTICE_MS, from: "entry" },
};

/** D-115: the reasons for which a broadcast ends although nobody ended it. */
export const endReasons = ["NO_AUDIO", "NO_FEED", "KEY_EXPIRED", "NO_STORAGE"] as const;
export type EndReason = (typeof endReasons)[number];

export const endReasonOf: Readonly<Partial<Record<LiveEvent, EndReason>>> = {
  audio_missing: "NO_AUDIO",
  feed_missed: "NO_FEED",
  new_key_window_closed: "KEY_EXPIRED",
  storage_missing: "NO_STORAGE",
};

/** LIVE-15: returns the time when the restore notice ends, in Unix seconds, or null if no notice is open. */
export const noticeEndOf = ({ state, deadline_ms }: { readonly state: State; readonly deadline_ms: number | null }): number | null =>
  state === "taken_down" && deadline_ms !== null ? Math.ceil(deadline_ms / 1000) : null;
