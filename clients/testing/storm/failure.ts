/** Explains a failed schedule: what the app did, and what a correct app would do. */
import { type Schedule, type Strike, scheduleText } from "./disturbances.ts";
import type { LoggedRequest } from "./observation.ts";
import type { RunResult } from "./runs.ts";

export interface Failure {
  /** The schedule, by which the failure can be run again. */
  readonly schedule: string;
  /** The faults, as sentences. */
  readonly faults: readonly string[];
  /** The broken rule: the scenario's error, an invariant, or a rule that holds for every app. */
  readonly problem: string;
  /** The requests of the app after the fault, as sentences. */
  readonly did: readonly string[];
  /** The behavior that survives the faults. */
  readonly right: readonly string[];
}

export const failureOf = (schedule: Schedule, result: RunResult): Failure => ({
  schedule: scheduleText(schedule),
  faults: schedule.map(
    ({ point: { name, nth, isPart }, disturbance }) => `${name}, the ${ordinal(nth)}${isPart ? ", in a batch" : ""}: ${disturbance.effect}`,
  ),
  problem: result.problem ?? "",
  did: schedule.flatMap((strike) => deedsAfter(strike, result)),
  right: [...new Set(schedule.flatMap(({ point, disturbance }) => [...(point.isPart ? [CHECK_PARTS] : []), disturbance.right]))],
});

const CHECK_PARTS = "check the code of each response in a batch; the batch itself has the status 200";

/** The greatest number of requests that are described one by one. */
const TOLD_MAX = 6;

function deedsAfter({ point, disturbance }: Strike, { requests, deliveries }: RunResult): string[] {
  if (point.kind === "webhook") return [webhookDeed(point.name, disturbance.name, deliveries.length), ...writesOf(requests)];
  let nth = 0;
  const count = ({ operation, parts = [] }: LoggedRequest): number => [...parts, operation].filter((name) => name === point.name).length;
  const found = requests.findIndex((request) => {
    nth += count(request);
    return nth > point.skip;
  });
  // The log does not name the operation of a request whose token was refused.
  const at = found === -1 ? requests.findIndex(({ operation, method }) => operation === "unknown" && method === point.request?.method) : found;
  const struck = at === -1 ? undefined : requests[at];
  const after = requests.slice(at + 1);
  const again = struck === undefined ? [] : after.filter((request) => isSame(request, struck));
  const told = after.slice(0, TOLD_MAX).map(requestText);
  const more = after.length > TOLD_MAX ? [`and ${after.length - TOLD_MAX} more requests`] : [];
  const repeated = again.length === 0 ? `did not send ${point.name} again` : `sent the same ${point.name} again ${times(again.length)}`;
  return [
    `after the fault the app ${repeated}`,
    ...(told.length === 0 ? ["the app sent no more requests"] : [`it sent: ${[...told, ...more].join(", ")}`]),
  ];
}

function webhookDeed(field: string, fault: string, count: number): string {
  return `the app got ${count} ${count === 1 ? "webhook" : "webhooks"}, and ${field} with the fault ${fault}`;
}

function writesOf(requests: readonly LoggedRequest[]): string[] {
  const writes = requests.filter(({ method }) => method !== "GET");
  if (writes.length === 0) return ["it wrote nothing"];
  const told = writes.slice(0, TOLD_MAX).map(requestText);
  return [`it wrote: ${told.join(", ")}${writes.length > TOLD_MAX ? `, and ${writes.length - TOLD_MAX} more` : ""}`];
}

/**
 * The facts that often explain why a scenario fails without any fault: the last refused request of the app, and the webhooks that did not arrive.
 */
export function cluesOf({ requests, deliveries }: RunResult): readonly string[] {
  const refused = requests.findLast(({ status }) => status >= REFUSED);
  const undelivered = deliveries.findLast(({ status }) => status === "waiting" || status === "failed");
  const because = (reason: string | undefined): string => (reason === undefined ? "" : `: ${reason}`);
  return [
    ...(refused === undefined ? [] : [`the last refused request: ${requestText(refused)}${because(refused.reason)}`]),
    ...(undelivered === undefined ? [] : [`a webhook of ${undelivered.field} was not delivered${because(undelivered.reason)}`]),
  ];
}

const REFUSED = 400;

const requestText = ({ operation, method, path, status }: LoggedRequest): string =>
  operation === "unknown" ? `${method} ${path} → ${status}` : `${operation} → ${status}`;

const isSame = (one: LoggedRequest, other: LoggedRequest): boolean =>
  one.method === other.method && one.path === other.path && one.request_body === other.request_body;

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

const ordinal = (nth: number): string => {
  const end = nth % 100 >= 11 && nth % 100 <= 13 ? "th" : (["th", "st", "nd", "rd"][nth % 10] ?? "th");
  return `${nth}${end}`;
};

/**
 * The number of repetitions of a request that are allowed while a rate limit is exceeded. An app that repeats a request more often ignores
 * Retry-After; an app that only waits longer each time repeats less often.
 */
const REFUSED_MAX = 3;

/** The request that was refused most often because of a rate limit; undefined if no request was refused more than `REFUSED_MAX` times. */
export function hammeredRequest(requests: readonly LoggedRequest[]): { readonly operation: string; readonly count: number } | undefined {
  const counts = new Map<string, { operation: string; count: number }>();
  for (const { status, operation, method, path, query, request_body } of requests) {
    if (status !== TOO_MANY) continue;
    const key = `${method} ${path}?${query} ${request_body}`;
    const known = counts.get(key) ?? { operation, count: 0 };
    known.count++;
    counts.set(key, known);
  }
  return [...counts.values()].sort((one, other) => other.count - one.count).find(({ count }) => count > REFUSED_MAX);
}

const TOO_MANY = 429;
