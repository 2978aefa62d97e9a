/** The states of a live video, the events that move it to another state, and the webhooks about these moves (D-51, D-110 to D-112, D-115). */
import type { LiveState, LiveVideo } from "../nodes.ts";
import type { World } from "../world.ts";
import { emitOfPage } from "./page-messaging.ts";

export type LiveEvent =
  | "published"
  | "planned_unpublished"
  | "planned_live"
  | "canceled"
  | "planned_time_came"
  | "start_missed"
  | "feed_started"
  | "feed_lost"
  | "audio_missing"
  | "feed_missed"
  | "key_regenerated"
  | "key_replaced"
  | "reconnect_window_closed"
  | "new_key_window_closed"
  | "end_signalled"
  | "sealing_failed"
  | "sealed"
  | "processing_began"
  | "processed"
  | "taken_down"
  | "restored"
  | "notice_lapsed"
  | "deleted";

type Moves = Readonly<Partial<Record<LiveEvent, LiveState | "deleted">>>;

const preview = (state: LiveState): Moves => ({ feed_started: state, feed_lost: state, audio_missing: state, key_regenerated: state });
const planned = { published: "live", planned_unpublished: "scheduled_unpublished", planned_live: "scheduled_live" } as const;
const removed = { taken_down: "taken_down", deleted: "deleted" } as const;

const TABLE: Readonly<Record<LiveState, Moves>> = {
  unpublished: { ...planned, ...preview("unpublished"), deleted: "deleted" },
  scheduled_unpublished: {
    ...{ ...planned, ...preview("scheduled_unpublished"), deleted: "deleted" },
    ...{ canceled: "scheduled_canceled", start_missed: "scheduled_expired" },
  },
  scheduled_live: { ...planned, ...preview("scheduled_live"), canceled: "scheduled_canceled", planned_time_came: "live", deleted: "deleted" },
  scheduled_expired: { deleted: "deleted" },
  scheduled_canceled: { deleted: "deleted" },
  live: {
    ...{ feed_started: "live", feed_lost: "reconnecting", key_regenerated: "live", key_replaced: "key_replaced" },
    ...{ audio_missing: "ending", feed_missed: "ending", end_signalled: "ending", ...removed },
  },
  reconnecting: { feed_started: "live", reconnect_window_closed: "key_dead", key_regenerated: "live", end_signalled: "ending", ...removed },
  // D-110: the new key may be used for its whole time, counted from the end of the feed with the old key.
  key_replaced: {
    ...{ feed_started: "live", feed_lost: "live", audio_missing: "ending", key_replaced: "key_replaced", end_signalled: "ending" },
    ...removed,
  },
  key_dead: { key_regenerated: "live", new_key_window_closed: "ending", end_signalled: "ending", ...removed },
  ending: { end_signalled: "ending", sealing_failed: "ending", sealed: "stopped", ...removed },
  stopped: { processing_began: "processing", ...removed },
  processing: { processed: "vod", ...removed },
  vod: removed,
  taken_down: { restored: "vod", notice_lapsed: "lapsed" },
  lapsed: {},
};

const MINUTE = 60;
/** D-112. */
const SEALING_WAITS = [5, 10, 30, 60, 300];

/** Events that happen by themselves, each with the number of seconds after the beginning of the state. The times in a plan count from its start. */
const TIMERS: Readonly<Partial<Record<LiveState, readonly [LiveEvent, number]>>> = {
  scheduled_unpublished: ["start_missed", 10 * MINUTE],
  scheduled_live: ["planned_time_came", 0],
  live: ["feed_missed", 10 * MINUTE],
  reconnecting: ["reconnect_window_closed", 150],
  key_dead: ["new_key_window_closed", 10 * MINUTE],
  ending: ["sealed", 0],
  stopped: ["processing_began", 0],
  processing: ["processed", 0],
  taken_down: ["notice_lapsed", 7 * 86_400],
};

const END_REASONS: Readonly<Partial<Record<LiveEvent, string>>> = {
  audio_missing: "NO_AUDIO",
  feed_missed: "NO_FEED",
  new_key_window_closed: "KEY_EXPIRED",
};

const SHOWN: Readonly<Partial<Record<LiveState, string>>> = {
  ...{ reconnecting: "LIVE", key_replaced: "LIVE", key_dead: "LIVE", ending: "LIVE", stopped: "LIVE_STOPPED", lapsed: "TAKEN_DOWN" },
};

export const statusOf = ({ state }: LiveVideo): string => SHOWN[state] ?? state.toUpperCase();
export const isLive = (video: LiveVideo): boolean => statusOf(video) === "LIVE";
export const isTakenDown = (video: LiveVideo): boolean => statusOf(video) === "TAKEN_DOWN";
export const isPublished = (video: LiveVideo): boolean => isLive(video) || ["stopped", "processing", "vod"].includes(video.state);
export const takesFeed = ({ state }: LiveVideo): boolean => TABLE[state].feed_started !== undefined;

const timeText = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}+0000`;

export interface Announcement {
  readonly pages: readonly string[];
  readonly value: unknown;
}

function announcement(video: LiveVideo, status: string, event?: string): Announcement {
  const { id, page, crossposted, takedown_reason, end_reason, deadline } = video;
  const value = {
    ...{ id, status },
    ...(event === undefined ? {} : { event }),
    ...(takedown_reason === undefined ? {} : { takedown_reason }),
    ...(end_reason === undefined ? {} : { end_reason }),
    ...(event === "restore_notice" ? { restorable_until: timeText(deadline ?? 0) } : {}),
  };
  return { pages: [page, ...crossposted], value };
}

export const restoreNotice = (video: LiveVideo): Announcement => announcement(video, "TAKEN_DOWN", "restore_notice");

export function announce(world: World, all: readonly Announcement[]): void {
  for (const { pages, value } of all) {
    world.reach("liveMove");
    for (const page of pages) emitOfPage(world, page, "live_videos", value);
  }
}

function deadlineOf(video: LiveVideo, event: LiveEvent, at: number): number | undefined {
  const [, wait] = TIMERS[video.state] ?? [];
  if (wait === undefined || (video.state === "live" && video.hasFeed)) return undefined;
  if (video.state === "scheduled_live" || video.state === "scheduled_unpublished") return (video.planned_start_time ?? 0) + wait;
  if (event === "sealing_failed") return at + (SEALING_WAITS[Math.min(video.sealingTries, SEALING_WAITS.length) - 1] ?? 0);
  return at + wait;
}

/**
 * Moves the video to another state, and returns the announcements to its pages. The function returns undefined, and changes nothing, if the table has
 * no such move.
 */
export function move(video: LiveVideo, event: LiveEvent, at: number, reason?: string): Announcement[] | undefined {
  const state = TABLE[video.state][event];
  if (state === undefined) return undefined;
  if (state === "deleted") return [announcement(video, "DELETED", "deleted")];
  const before = { status: statusOf(video), wasLive: isLive(video), wasTakenDown: video.state === "taken_down" };
  video.state = state;
  if (event === "feed_started") video.hasFeed = true;
  if (event === "feed_lost" || event === "audio_missing" || !takesFeed(video)) video.hasFeed = false;
  if (!takesFeed(video)) video.stream_key = undefined;
  if (state === "live" && !before.wasLive) video.broadcast_start_time = at;
  const endReason = state === "ending" ? END_REASONS[event] : undefined;
  if (endReason !== undefined) video.end_reason = endReason;
  video.takedown_reason = isTakenDown(video) ? (reason ?? video.takedown_reason) : undefined;
  if (event === "sealing_failed") video.sealingTries++;
  video.deadline = deadlineOf(video, event, at);
  const heard = heardOf(video, before);
  // D-51: the server begins to seal the recording at once.
  if (state === "ending" && event !== "sealing_failed" && !video.sealingFails) return [...heard, ...(move(video, "sealed", at) ?? [])];
  return heard;
}

function heardOf(video: LiveVideo, before: { readonly status: string; readonly wasTakenDown: boolean }): Announcement[] {
  const status = statusOf(video);
  if (video.state === "taken_down") return [announcement(video, status, "taken_down"), restoreNotice(video)];
  if (video.state === "lapsed") return [announcement(video, status, "restore_lapsed")];
  if (before.wasTakenDown) return [announcement(video, status, "restored")];
  return before.status === status ? [] : [announcement(video, status)];
}

/** Whether a video has a due event that the server makes by itself, at once or soon. */
export const isAnythingDue = ({ live_videos, now }: World): boolean =>
  [...live_videos.values()].some(({ deadline }) => deadline !== undefined && deadline <= now);

/** Makes due events happen at their own time, even if the clock has jumped over that time. */
export function passDeadlines(world: World): void {
  for (const video of world.live_videos.values()) {
    while (video.deadline !== undefined && video.deadline <= world.now) {
      const fails = video.state === "ending" && video.sealingFails;
      const event = fails ? "sealing_failed" : TIMERS[video.state]?.[0];
      if (event === undefined) break;
      world.reach("liveTimer");
      // If sealing failed, the server tries again when a caller reads the video, and the time of such a late try counts.
      announce(world, move(video, event, fails ? world.now : video.deadline) ?? []);
    }
  }
}
