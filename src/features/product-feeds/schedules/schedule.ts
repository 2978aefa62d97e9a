/**
 * D-146: computes when the file of a feed is fetched. A feed can have two schedules: the files of one schedule replace the feed's items, and the
 * files of the other schedule add to the items (D-148).
 */
import { type Static, Type } from "typebox";
import { PROBLEM } from "#graph/schema/schema-node";
import type { World } from "#graph/worlds/world";
import { CallbackRefused } from "#outbound/address-rules";
import { FETCHED_URL_CHARACTERS_MAX } from "../product-feeds.limits.ts";

export const scheduleKinds = ["schedule", "update_schedule"] as const;
export type ScheduleKind = (typeof scheduleKinds)[number];

const intervals = ["HOURLY", "DAILY", "WEEKLY", "MONTHLY"] as const;
/** The days of the week, beginning with Monday. */
const weekdays = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"] as const;
/** The greatest number of hours, days, weeks or months between two fetches: as many as a year has days. */
const INTERVAL_COUNT_MAX = 366;
/** The longest name of a time zone. The longest name in the time zone database has 32 characters. */
const TIMEZONE_CHARACTERS_MAX = 64;

const oneOf = <Value extends string>(values: readonly Value[], words: object = {}) => Type.Unsafe<Value>({ enum: [...values], ...words });

/** The parameters of a schedule. Parameters that the interval of the schedule does not use are stored, and have no effect. */
export const scheduleWords = {
  interval: oneOf(intervals, { description: "the unit of the time from one fetch to the next" }),
  interval_count: Type.Integer({
    minimum: 1,
    maximum: INTERVAL_COUNT_MAX,
    default: 1,
    description: "the number of hours, days, weeks or months from one fetch to the next",
  }),
  url: Type.String({ minLength: 1, maxLength: FETCHED_URL_CHARACTERS_MAX, format: "web-address", description: "the address of the file" }),
  hour: Type.Integer({ minimum: 0, maximum: 23, default: 0, description: "the hour of a fetch in the time zone; not allowed with HOURLY" }),
  minute: Type.Integer({ minimum: 0, maximum: 59, default: 0, description: "the minute of a fetch" }),
  day_of_week: oneOf(weekdays, { default: "MONDAY", description: "of WEEKLY" }),
  day_of_month: Type.Integer({ minimum: 1, maximum: 31, default: 1, description: "the day of a MONTHLY schedule; in a shorter month its last day" }),
  timezone: Type.String({
    maxLength: TIMEZONE_CHARACTERS_MAX,
    default: "UTC",
    format: "time-zone",
    description: "a name of the time zone database, e.g. Europe/Berlin",
  }),
};

const words = Type.Object(scheduleWords);
export type Schedule = Static<typeof words>;

export const readSchedule = (text: string | null): Schedule | undefined => (text === null ? undefined : JSON.parse(text));

/** D-147: Plaza refuses credentials instead of ignoring them, because a fetch without them would fail for a reason that the caller cannot see. */
const refused = Type.Optional(
  Type.Null({
    description: "not supported: files are fetched without credentials",
    [PROBLEM]: "is not supported; Plaza fetches files without credentials",
  }),
);
export const credentials = { username: refused, password: refused };

/**
 * The contract of the parameter for a schedule. Null, or an empty text in a form, removes the schedule. D-146: an unknown key is refused, because it
 * may be misspelt, and then the file would be fetched at another time.
 */
export const scheduleParameter = (description: string) =>
  Type.Optional(
    Type.Union([Type.Object({ ...scheduleWords, ...credentials }, { additionalProperties: false }), Type.Null(), Type.Literal("")], { description }),
  );

export interface GivenSchedule extends Schedule {
  readonly username?: unknown;
  readonly password?: unknown;
}

/** A function that makes the error for a wrong key of a schedule. */
export type Refuse = (key: string, problem: string) => Error;

/**
 * Checks a schedule. Returns the schedule as JSON for the store, or null if no schedule is given. If the schedule is wrong, throws the error that
 * `refuse` makes.
 */
export function storedSchedule(given: GivenSchedule | null | "", world: World, refuse: Refuse): string | null {
  if (given === null || given === "") return null;
  const { username: _, password: __, ...schedule } = given;
  refuseAddress(schedule.url, world, refuse);
  return JSON.stringify(schedule);
}

export function refuseAddress(url: string, world: World, refuse: Refuse): void {
  const problem = addressProblem(world, url);
  if (problem !== undefined) throw refuse("url", `cannot be fetched: ${problem}`);
}

/**
 * D-64: returns why the address of a file is refused, or undefined if the address is allowed. The IP addresses of the file's host are checked when
 * the file is fetched.
 */
export function addressProblem({ outbound }: World, url: string): string | undefined {
  try {
    outbound.check(url);
    return undefined;
  } catch (error) {
    if (error instanceof CallbackRefused) return error.message;
    throw error;
  }
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Returns the time of the next fetch after `nowMs`, in Unix milliseconds. If `lastMs` is undefined, the result is the first time at which the
 * schedule plans a fetch. If `lastMs` is given, the result is `interval_count` intervals later than the fetch that was due at `lastMs`. The times of
 * fetches that passed while no process ran are skipped.
 */
export function nextFetchMs(schedule: Schedule, nowMs: number, lastMs?: number): number {
  const { timezone, interval_count } = schedule;
  const current = intervalAt(schedule, localMs(nowMs, timezone));
  const start = lastMs === undefined ? current : intervalAt(schedule, localMs(lastMs, timezone));
  const step = lastMs === undefined ? 1 : interval_count;
  // The loop needs at most two more steps: the fetch of the current interval may be over, and a clock time may repeat when clocks are put back.
  for (let at = start + step * Math.max(lastMs === undefined ? 0 : 1, Math.floor((current - start) / step)); ; at += step) {
    const dueMs = utcMs(momentOf(schedule, at), timezone);
    if (dueMs > nowMs) return dueMs;
  }
}

/** Returns the wall clock time in a time zone, counted in milliseconds as if it were UTC. */
const localMs = (utc: number, timezone: string): number => utc + offsetMs(utc, timezone);

/**
 * Returns the UTC time of a wall clock time. If the clocks of the time zone skip the wall clock time, the result is later by the length of the gap.
 */
function utcMs(local: number, timezone: string): number {
  const guess = local - offsetMs(local, timezone);
  return local - offsetMs(guess, timezone);
}

function offsetMs(utc: number, timezone: string): number {
  const parts = new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset" }).formatToParts(utc);
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
  const [, sign = "+", hours = "0", minutes = "0"] = /^GMT([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** The number of days from a Monday to the weekday of 1970-01-01, which was a Thursday. */
const DAYS_FROM_MONDAY = 3;

/** Returns the number of the hour, day, week or month that contains the time, counted from 1970. */
function intervalAt({ interval }: Schedule, local: number): number {
  const day = Math.floor(local / DAY_MS);
  switch (interval) {
    case "HOURLY":
      return Math.floor(local / HOUR_MS);
    case "DAILY":
      return day;
    case "WEEKLY":
      return Math.floor((day + DAYS_FROM_MONDAY) / weekdays.length);
    case "MONTHLY":
      return monthOf(new Date(local));
  }
}

const monthOf = (date: Date): number => (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();

/** Returns the time at which the schedule plans a fetch in the hour, day, week or month with the number `at`. */
function momentOf({ interval, minute, hour, day_of_week, day_of_month }: Schedule, at: number): number {
  const time = hour * HOUR_MS + minute * 60_000;
  switch (interval) {
    case "HOURLY":
      return at * HOUR_MS + minute * 60_000;
    case "DAILY":
      return at * DAY_MS + time;
    case "WEEKLY":
      return (at * weekdays.length - DAYS_FROM_MONDAY + weekdays.indexOf(day_of_week)) * DAY_MS + time;
    case "MONTHLY": {
      const [first, next] = [at, at + 1].map((month) => Date.UTC(1970, month)) as [number, number];
      return first + (Math.min(day_of_month, (next - first) / DAY_MS) - 1) * DAY_MS + time;
    }
  }
}
