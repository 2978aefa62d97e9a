import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { unixSeconds, utcText } from "#kernel/clock";
import { invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import { listDays, type Sum, sumRange, sumUntil } from "./insight-sums.store.ts";
import type { readMediaInsights, readUserInsights } from "./microblog-insights.contract.ts";
import { breakdowns, DAY_SECONDS, dayOf, type MediaMetric, titles, type UserMetric } from "./microblog-insights.metrics.ts";

const insight = <Shape extends object>(node: NodeId, metric: MediaMetric | UserMetric, period: string, shape: Shape) => ({
  name: metric,
  period,
  ...shape,
  ...titles[metric],
  id: `${node}/insights/${metric}/${period}`,
});

/**
 * Returns the latest time at which the range of a request may end, in Unix seconds. The current second is the last second that counts, because
 * activities in the future do not count.
 */
const endOf = (world: OperationRequest["world"]): number => unixSeconds(world.clock) + 1;

const totalOf = (sums: readonly Sum[]): number => sums.reduce((total, { value }) => total + value, 0);

export async function handleReadMediaInsights(request: OperationRequest<Static<typeof readMediaInsights.params>>, reader: Reader) {
  const { node, params, world } = request;
  const data = [];
  for (const metric of new Set(params.metric)) {
    const value = totalOf(await sumUntil(reader, node.id, metric, endOf(world)));
    data.push(insight(node.id, metric, "lifetime", { values: [{ value }] }));
  }
  return { data };
}

type UserRequest = OperationRequest<Static<typeof readUserInsights.params>>;

/** A range of time in Unix seconds, from `since` (included) to `until` (not included). */
interface TimeRange {
  readonly since: number;
  readonly until: number;
}

export async function handleReadUserInsights(request: UserRequest, reader: Reader) {
  const range = rangeOf(request);
  const data: Static<typeof readUserInsights.returns>["data"] = [];
  for (const metric of new Set(request.params.metric)) data.push(await userInsight(request, reader, metric, range));
  return { data };
}

/**
 * F2-5, D-54: returns the range of time of a request, by default yesterday and today. If the request has only `since`, the range ends now. If the
 * request has only `until`, the range begins at the start of the day before the range's last day.
 */
function rangeOf({ params, world }: UserRequest): TimeRange {
  const end = endOf(world);
  const { since, until } = params;
  if (params.metric.includes("follower_demographics") && (since !== undefined || until !== undefined)) {
    throw invalidParameter(since === undefined ? "until" : "since", "cannot be combined with the metric follower_demographics");
  }
  if (since !== undefined && since >= (until ?? end)) throw invalidParameter("since", "must be before until");
  const last = Math.min(until ?? end, end);
  return { since: since ?? Math.max(0, (dayOf(last - 1) - 1) * DAY_SECONDS), until: last };
}

async function userInsight(request: UserRequest, reader: Reader, metric: UserMetric, range: TimeRange) {
  const { node } = request;
  const { since, until } = range;
  switch (metric) {
    case "views":
      return insight(node.id, metric, "day", { values: await series(node.id, reader, metric, range) });
    case "likes":
    case "replies":
    case "reposts":
    case "quotes":
      return insight(node.id, metric, "day", { total_value: { value: totalOf(await sumRange(reader, node.id, metric, since, until)) } });
    case "clicks": {
      const links = await sumRange(reader, node.id, metric, since, until);
      return insight(node.id, metric, "day", { link_total_values: links.map(({ label, value }) => ({ link_url: label, value })) });
    }
    case "followers_count":
      // The metric followers_count is the number of followers at the end of the range.
      return insight(node.id, metric, "day", { total_value: { value: totalOf(await sumUntil(reader, node.id, metric, until)) } });
    case "follower_demographics":
      return insight(node.id, metric, "lifetime", { total_value: { breakdowns: await demographics(request, reader) } });
  }
}

/**
 * Returns a value for each day that is at least partly in the range. If only part of the first or last day is in the range, the value counts only the
 * activities of this part.
 */
async function series(user: NodeId, reader: Reader, metric: UserMetric, { since, until }: TimeRange) {
  const whole = await listDays(reader, user, metric, since, until - DAY_SECONDS + 1);
  const known = new Map(whole.map(({ start, value }) => [start, value]));
  const values = [];
  for (let start = dayOf(since) * DAY_SECONDS; start < until; start += DAY_SECONDS) {
    const end = start + DAY_SECONDS;
    const isCut = start < since || end > until;
    const value = isCut ? totalOf(await sumRange(reader, user, metric, Math.max(start, since), Math.min(end, until))) : (known.get(start) ?? 0);
    values.push({ value, end_time: utcText(end) });
  }
  return values;
}

/** D-54 [clients]: an account with fewer followers has no demographics, because small groups of followers could identify a person. */
const FOLLOWERS_MIN = 100;

/** Returns the groups of followers by one breakdown, or by all four breakdowns, the largest group first. */
async function demographics({ node, params, world }: UserRequest, reader: Reader) {
  const end = endOf(world);
  if (world.profile === "clients" && totalOf(await sumUntil(reader, node.id, "followers_count", end)) < FOLLOWERS_MIN) {
    throw invalidParameter("metric", `follower_demographics needs at least ${FOLLOWERS_MIN} followers`);
  }
  const found = [];
  for (const breakdown of params.breakdown === undefined ? breakdowns : [params.breakdown]) {
    const groups = await sumUntil(reader, node.id, breakdown, end);
    // The method `sumUntil` returns the groups of followers ordered by label, and sorting them by size preserves this order for groups of equal size.
    groups.sort((a, b) => b.value - a.value);
    found.push({ dimension_keys: [breakdown], results: groups.map(({ label, value }) => ({ dimension_values: [label], value })) });
  }
  return found;
}
