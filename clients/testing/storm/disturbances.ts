/**
 * The faults that storm tries, each with the points of a run at which it can strike, its form in the control API, and the behavior of an app that
 * survives it.
 */
import type { Operations } from "../control-api.ts";
import { type Point, pointName } from "./observation.ts";

export type FaultBody = Operations["createFault"]["body"];

export interface Disturbance {
  /** The name in schedules, e.g. `lost-after`. */
  readonly name: string;
  /** The effect, as part of the sentence "`createLabel#1`: …". */
  readonly effect: string;
  /** The behavior of an app that survives the fault. */
  readonly right: string;
  /** The time that a correct app waits because of the fault; left out if a correct app does not wait. */
  readonly waitMs?: number;
  canStrike(point: Point, among: Run): boolean;
  faultAt(point: Point, among: Run): FaultBody;
}

/** Facts about the run without faults. */
export interface Run {
  readonly points: readonly Point[];
  /** The world time at the start, in Unix seconds. */
  readonly startedAt: number;
  /** The expiry times of tokens that expire after the start, earliest first. */
  readonly expiries: readonly number[];
}

/** The `Retry-After` of injected errors: the shortest wait that the header can ask for. */
const RETRY_AFTER_SECONDS = 1;
/** A rate limit ends a little before its `Retry-After`, so that a client that waits exactly this long is served. */
const RATE_LIMIT_MS = 900;
/** The duration of a response with a slow body: much longer than a usual response, and shorter than the time limit of any client. */
const SLOW_MS = 400;
/** The delay of a late webhook, which is long enough for the app to do something else meanwhile. */
const LATE_MS = 300;
/**
 * Objects whose webhooks are about nodes that an app can also read. Storm loses only webhooks about these objects, because an app can read the nodes
 * instead; no operation reads other objects.
 */
const READABLE = new Set(["page", "catalog"]);

const isRequest = ({ kind }: Point): boolean => kind === "request";
const isWrite = ({ request }: Point): boolean => request !== undefined && request.method !== "GET";
const isWebhook = ({ kind }: Point): boolean => kind === "webhook";
const bytesOf = ({ request }: Point): number => Buffer.byteLength(request?.response_body ?? "");

const atRequest = (point: Point, effect: FaultBody): FaultBody => ({ operation: point.name, skip: point.skip, times: 1, ...effect });
const atWebhook = ({ name, skip, entity }: Point, effect: FaultBody): FaultBody => ({
  ...{ webhook: name, skip, times: 1, ...effect },
  ...(entity === undefined ? {} : { node: entity }),
});

const LOOK_FIRST =
  "treat a lost response as unknown: read whether the write took effect before you send it again; if the operation takes an id of yours, send it again with the same id";
const DEDUPLICATE = "store the webhook-id of each webhook in the transaction of its effect, and ignore an id that is stored already";

const requestDisturbances: readonly Disturbance[] = [
  {
    name: "lost-before",
    effect: "the connection is reset, and the operation has not run",
    right: "send the request again; for a write, first read whether it took effect, because the client cannot tell this case from a lost response",
    canStrike: (point) => isRequest(point) && point.isPart !== true,
    faultAt: (point) => atRequest(point, { status: 503, reset: true }),
  },
  {
    name: "lost-after",
    effect: "the operation has run, and its response is lost",
    right: LOOK_FIRST,
    canStrike: isWrite,
    faultAt: (point) => atRequest(point, { reset: true }),
  },
  {
    name: "503",
    waitMs: RETRY_AFTER_SECONDS * 1_000,
    effect: `the response is 503 with Retry-After: ${RETRY_AFTER_SECONDS}, and the operation has not run`,
    right: "wait for the seconds in Retry-After, and send the same request again",
    canStrike: isRequest,
    faultAt: (point) => atRequest(point, { status: 503, retry_after_seconds: RETRY_AFTER_SECONDS }),
  },
  {
    name: "429",
    waitMs: RETRY_AFTER_SECONDS * 1_000,
    effect: `the rate limit is exceeded for ${RETRY_AFTER_SECONDS} s: each request gets 429 with Retry-After: ${RETRY_AFTER_SECONDS}`,
    right: "wait for the seconds in Retry-After before any further request of this kind, and then send it again",
    canStrike: isRequest,
    faultAt: ({ name, skip }) => ({
      ...{ operation: name, skip, rate_limit: "app", retry_after_seconds: RETRY_AFTER_SECONDS, lasts_ms: RATE_LIMIT_MS },
    }),
  },
  {
    name: "reset",
    effect: "the operation has run, and the connection is reset in the middle of the response",
    right: `read the whole body before you treat the response as received; ${LOOK_FIRST}`,
    canStrike: (point) => isRequest(point) && bytesOf(point) > 1,
    faultAt: (point) => atRequest(point, { reset: true, cut_body_at: Math.floor(bytesOf(point) / 2) }),
  },
  {
    name: "cut",
    effect: "the operation has run, and the response ends before its last byte",
    right: `compare the length of the body with Content-Length, or parse the body, before you treat it as received; ${LOOK_FIRST}`,
    canStrike: (point) => isRequest(point) && bytesOf(point) > 1,
    faultAt: (point) => atRequest(point, { cut_body_at: bytesOf(point) - 1 }),
  },
  {
    name: "slow",
    waitMs: SLOW_MS,
    effect: `the response takes ${SLOW_MS} ms`,
    right: "wait for the response as long as the time limit of the client allows, and treat a time-out as a lost response",
    canStrike: (point) => isRequest(point) && bytesOf(point) > 1,
    faultAt: (point) => atRequest(point, { body_bytes_per_second: Math.max(1, Math.ceil((bytesOf(point) * 1_000) / SLOW_MS)) }),
  },
  {
    name: "short-page",
    effect: "pages of this list have one item each",
    right: "follow paging.next until it is missing; a page may have fewer items than its limit",
    canStrike: (point) => point.nth === 1 && itemsOf(point) > 1,
    faultAt: ({ name }) => ({ operation: name, page_max: 1 }),
  },
  {
    name: "token-dies",
    effect: "the token is revoked: this request and each later one with the token get code 190",
    right: "on code 190 get a new token, and send the request again with it",
    canStrike: isRequest,
    faultAt: (point) => atRequest(point, { revoke_tokens: true }),
  },
  {
    name: "clock-jump",
    effect: "the clock moves past the expiry of a token",
    right: "on code 190 get a new token, and send the request again with it; do not trust an expiry that was computed earlier",
    canStrike: (point, { expiries }) => isRequest(point) && expiries.length > 0,
    faultAt: (point, { expiries, startedAt }) => atRequest(point, { advance_seconds: (expiries[0] as number) - startedAt + 1 }),
  },
];

const webhookDisturbances: readonly Disturbance[] = [
  {
    name: "lost",
    effect: "the webhook is never sent",
    right: "read the nodes from time to time, and not only when a webhook says so",
    canStrike: ({ delivery }) => delivery !== undefined && READABLE.has(delivery.object),
    faultAt: (point) => atWebhook(point, { effect: "lose" }),
  },
  {
    name: "twice",
    effect: "the webhook is sent twice, with the same webhook-id",
    right: DEDUPLICATE,
    canStrike: isWebhook,
    faultAt: (point) => atWebhook(point, { effect: "repeat" }),
  },
  {
    name: "late",
    waitMs: LATE_MS,
    effect: `the webhook is sent ${LATE_MS} ms late`,
    right: "wait for the webhook, or read the state; do not conclude anything from its absence",
    canStrike: isWebhook,
    faultAt: (point) => atWebhook(point, { effect: "delay", latency_ms: LATE_MS }),
  },
  {
    name: "out-of-order",
    waitMs: LATE_MS,
    effect: "the webhook is sent after the next one",
    right: "order events by the time or version in them, or read the state after each webhook; the order of arrival means nothing",
    canStrike: (point, { points }) => isWebhook(point) && points.filter(isWebhook).length > 1,
    faultAt: (point) => atWebhook(point, { effect: "reorder", latency_ms: LATE_MS }),
  },
  {
    name: "batched",
    waitMs: LATE_MS,
    effect: "the webhook is sent in one POST with the next ones of its page or account",
    right: "handle each item of entry, and each item of its changes and messaging; one POST may hold a thousand",
    canStrike: (point, { points }) =>
      points.some((other) => other !== point && other.delivery?.entity === point.delivery?.entity && isWebhook(point)),
    faultAt: (point) => atWebhook(point, { effect: "batch", latency_ms: LATE_MS }),
  },
];

export const disturbances: readonly Disturbance[] = [...requestDisturbances, ...webhookDisturbances];

/** The number of items in the response of a list. A response that is too long to be stored whole certainly has several items. */
function itemsOf({ request }: Point): number {
  if (request === undefined || request.method !== "GET") return 0;
  try {
    const { data } = JSON.parse(request.response_body) as { data?: unknown };
    return Array.isArray(data) ? data.length : 0;
  } catch {
    return request.response_body.startsWith('{"data":[') ? Number.POSITIVE_INFINITY : 0;
  }
}

/** A fault at one point of a run. */
export interface Strike {
  readonly point: Point;
  readonly disturbance: Disturbance;
}

/** The faults of one run, at most two. */
export type Schedule = readonly Strike[];

/** The time that a correct app waits because of the faults of a schedule. */
export const waitMsOf = (schedule: Schedule): number => schedule.reduce((sum, { disturbance }) => sum + (disturbance.waitMs ?? 0), 0);

/** A run spends most of its time waiting for a Retry-After, so 64 runs keep one core busy. */
const JOBS_MAX = 64;

/**
 * The number of runs at a time. With each further world the runs wait less for each other, but a world takes time to make, on PostgreSQL a tenth of a
 * second. The sum of both times, all runs / worlds + worlds × worldMs, is least at the square root of all runs / worldMs.
 */
export function jobsFor(schedules: readonly Schedule[], runMs: number, worldMs: number): number {
  const allMs = schedules.reduce((sum, schedule) => sum + waitMsOf(schedule) + runMs, 0);
  return Math.min(JOBS_MAX, Math.ceil(Math.sqrt(allMs / worldMs)));
}

/** The text of a schedule, by which it can be run again: `createLabel#1=lost-after+messages#2=twice`. */
export const scheduleText = (schedule: Schedule): string =>
  schedule.map(({ point, disturbance }) => `${pointName(point)}=${disturbance.name}`).join("+");

/** Reads the text of a schedule. Throws an error that names the wrong part of the text, and lists the points or faults that exist. */
export function readSchedule(text: string, run: Run): Schedule {
  return text.split("+").map((part) => {
    const [at = "", name = ""] = part.split("=");
    const points = run.points.filter((point) => pointName(point) === at);
    if (points.length === 0) throw new RangeError(`${part}: the run has no ${at}; it has ${[...new Set(run.points.map(pointName))].join(", ")}`);
    const strikes = points.flatMap((point) => strikesAt(point, run));
    const found = strikes.find(({ disturbance }) => disturbance.name === name);
    if (found === undefined)
      throw new RangeError(`${part}: ${at} has no fault ${name}; it has ${strikes.map(({ disturbance }) => disturbance.name).join(", ")}`);
    return found;
  });
}

const strikesAt = (point: Point, run: Run): readonly Strike[] =>
  disturbances.filter((one) => one.canStrike(point, run)).map((disturbance) => ({ point, disturbance }));

export interface Choice {
  /** The names of the faults to try; all faults if this is left out. */
  readonly only?: readonly string[] | undefined;
  /** The names of faults to leave out. */
  readonly without?: readonly string[] | undefined;
}

/** Schedules with one fault each: every fault at every point, in the order of the run. */
export function singlesOf(run: Run, { only, without = [] }: Choice): readonly Schedule[] {
  const isChosen = ({ name }: Disturbance): boolean => (only === undefined || only.includes(name)) && !without.includes(name);
  return run.points.flatMap((point) => strikesAt(point, run).flatMap((strike) => (isChosen(strike.disturbance) ? [[strike]] : [])));
}

/**
 * Schedules with two random faults at different points: at most `count` schedules, which are the same for the same seed. The faults are sorted, because
 * the order of points may differ if an app sends several requests at the same time.
 */
export function pairsOf(singles: readonly Schedule[], count: number, seed: number): readonly Schedule[] {
  const strikes = singles.flat().sort((one, other) => (scheduleText([one]) < scheduleText([other]) ? -1 : 1));
  const isPair = (one: Strike, other: Strike): boolean => one.point !== other.point;
  const most = strikes.reduce((sum, one, at) => sum + strikes.slice(at + 1).filter((other) => isPair(one, other)).length, 0);
  const random = randomOf(seed);
  const chosen = new Map<string, Schedule>();
  while (chosen.size < Math.min(count, most)) {
    const [a, b] = [Math.floor(random() * strikes.length), Math.floor(random() * strikes.length)].sort((one, other) => one - other);
    const pair = [strikes[a as number] as Strike, strikes[b as number] as Strike] as const;
    if (isPair(...pair)) chosen.set(scheduleText(pair), pair);
  }
  return [...chosen.values()];
}

/** Random numbers from 0 to below 1 that depend only on the seed (mulberry32, public domain). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
