/**
 * Computes the times at which the server fetches the files of feeds (D-146). To find the next fetch, the model checks every hour, one after the
 * other.
 */
import type { PlannedFetch, Schedule, ScheduleKind } from "./files.ts";
import type { Feed } from "./nodes.ts";
import { asObject, type GraphRequest, inQuery } from "./requests.ts";
import type { World } from "./world.ts";

const HOUR = 3_600;
const WEEKDAYS = ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];

/** The offsets of time zones from UTC in seconds. Neither of the two time zones has a summer time. */
const OFFSETS: Readonly<Record<string, number>> = { UTC: 0, "Asia/Kolkata": 19_800 };

const PLAIN = { interval_count: 1, hour: 0, minute: 0, day_of_week: "MONDAY", day_of_month: 1, timezone: "UTC" };
const HIGHEST = { interval_count: 366, hour: 23, minute: 59, day_of_month: 31 };
const LOWEST = { interval_count: 1, hour: 0, minute: 0, day_of_month: 1 };

/**
 * The schedule that the request gives. undefined means that no schedule is given, and null that the feed has no schedule from now on. The value false
 * means that the schedule is invalid.
 */
export function readSchedule(request: GraphRequest, kind: ScheduleKind): Schedule | null | undefined | false {
  const given = request.body?.fields[kind] ?? (request.body?.fields[kind] === null ? null : inQuery(request, kind));
  if (given === undefined) return undefined;
  if (given === null || given === "") return null;
  const words = asObject(given);
  if (words === undefined) return false;
  const schedule = { ...PLAIN, ...words } as Schedule;
  // D-34: in a form with bracketed names, numbers are texts.
  for (const name of Object.keys(LOWEST) as (keyof typeof LOWEST)[]) {
    const text: unknown = schedule[name];
    if (typeof text === "string" && /^-?\d+$/.test(text)) Object.assign(schedule, { [name]: Number(text) });
  }
  const isWhole = (name: keyof typeof LOWEST): boolean =>
    Number.isInteger(schedule[name]) && schedule[name] >= LOWEST[name] && schedule[name] <= HIGHEST[name];
  const isRight =
    ["HOURLY", "DAILY", "WEEKLY", "MONTHLY"].includes(schedule.interval) &&
    (["interval_count", "hour", "minute", "day_of_month"] as const).every(isWhole) &&
    WEEKDAYS.includes(schedule.day_of_week) &&
    schedule.timezone in OFFSETS &&
    isFetchable(schedule.url) &&
    !("username" in words || "password" in words);
  return isRight ? schedule : false;
}

export const isFetchable = (url: unknown): url is string => typeof url === "string" && /^https?:\/\//.test(url) && url.length <= 2_048;

function isMoment({ interval, day_of_week, day_of_month, hour }: Schedule, local: Date): boolean {
  const isHour = local.getUTCHours() === hour;
  const monthEnd = new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 0)).getUTCDate();
  switch (interval) {
    case "HOURLY":
      return true;
    case "DAILY":
      return isHour;
    case "WEEKLY":
      return isHour && WEEKDAYS[local.getUTCDay()] === day_of_week;
    case "MONTHLY":
      return isHour && local.getUTCDate() === Math.min(day_of_month, monthEnd);
  }
}

/** The first time after `time` at which the schedule makes a fetch. */
function momentAfter(schedule: Schedule, time: number): number {
  const offset = OFFSETS[schedule.timezone] ?? 0;
  const local = time + offset;
  for (let hour = Math.floor(local / HOUR) * HOUR; ; hour += HOUR) {
    const at = hour + schedule.minute * 60;
    if (at > local && isMoment(schedule, new Date(at * 1_000))) return at - offset;
  }
}

export function plan(feed: Feed, kind: ScheduleKind, schedule: Schedule | null, now: number): void {
  if (schedule === null) feed.fetches.delete(kind);
  else feed.fetches.set(kind, { schedule, isUpdate: kind === "update_schedule", due: momentAfter(schedule, now) });
}

/** Computes the next times of all schedules anew, because a world file does not contain these times. */
export function planAgain({ product_feeds, now }: World): void {
  for (const feed of product_feeds.values()) for (const [kind, { schedule }] of feed.fetches) plan(feed, kind, schedule, now);
}

function dueOf(fetch: PlannedFetch, now: number): number[] {
  const times: number[] = [];
  while (fetch.due <= now) {
    times.push(fetch.due);
    for (let count = 0; count < fetch.schedule.interval_count; count++) fetch.due = momentAfter(fetch.schedule, fetch.due);
  }
  return times;
}

export interface DueFetches {
  readonly feed: Feed;
  readonly fetch: PlannedFetch;
  readonly times: readonly number[];
}

/** Removes and returns the fetches that are due by now, and computes the next ones. */
export const takeDueFetches = ({ product_feeds, now }: World): DueFetches[] =>
  [...product_feeds.values()]
    .flatMap((feed) => [...feed.fetches.values()].map((fetch) => ({ feed, fetch, times: dueOf(fetch, now) })))
    .filter(({ times }) => times.length > 0);
