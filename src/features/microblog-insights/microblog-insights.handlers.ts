import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { unixSeconds } from "#kernel/clock";
import { invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import { EARLIEST_SECONDS, type readMediaInsights, type readUserInsights } from "./microblog-insights.contract.ts";
import { breakdowns, DAY_SECONDS, dayOf, type MediaMetric, momentText, titles, type UserMetric } from "./microblog-insights.metrics.ts";
import { listDays, listDemographics, listLinks, readTotals } from "./microblog-insights.store.ts";

const insight = <Shape extends object>(node: NodeId, metric: MediaMetric | UserMetric, period: string, shape: Shape) => ({
  name: metric,
  period,
  ...shape,
  ...titles[metric],
  id: `${node}/insights/${metric}/${period}`,
});

export async function handleReadMediaInsights(request: OperationRequest<Static<typeof readMediaInsights.params>>, reader: Reader) {
  const { node, params } = request;
  const totals = await readTotals(reader, node.id);
  return {
    data: [...new Set(params.metric)].map((metric) => insight(node.id, metric, "lifetime", { values: [{ value: totals.get(metric) ?? 0 }] })),
  };
}

type UserRequest = OperationRequest<Static<typeof readUserInsights.params>>;

/** The range of a request in days since 1970 (UTC), both included. */
interface Days {
  readonly first: number;
  readonly last: number;
}

export async function handleReadUserInsights(request: UserRequest, reader: Reader) {
  const days = daysOf(request);
  const data: Static<typeof readUserInsights.returns>["data"] = [];
  for (const metric of new Set(request.params.metric)) data.push(await userInsight(request, reader, metric, days));
  return { data };
}

/** F2-5, D-54: by default yesterday and today. With only `since` the range ends today; with only `until` it contains the last two days before it. */
function daysOf({ params, world }: UserRequest): Days {
  const now = unixSeconds(world.clock);
  const { since, until } = params;
  if (params.metric.includes("follower_demographics") && (since !== undefined || until !== undefined)) {
    throw invalidParameter(since === undefined ? "until" : "since", "cannot be combined with the metric follower_demographics");
  }
  const earliest = world.profile === "clients" ? EARLIEST_SECONDS : 0;
  if (since !== undefined && since < earliest) throw invalidParameter("since", `must not be before ${earliest}`);
  if (until !== undefined && until < earliest) throw invalidParameter("until", `must not be before ${earliest}`);
  // A range may end in the future, but nothing is counted after today.
  const last = Math.min(dayOf(now), until === undefined ? dayOf(now) : dayOf(until - 1));
  const first = since === undefined ? last - 1 : dayOf(since);
  if (since !== undefined && since >= (until ?? now + 1)) throw invalidParameter("since", "must be before until");
  return { first, last };
}

async function userInsight(request: UserRequest, reader: Reader, metric: UserMetric, { first, last }: Days) {
  const { node } = request;
  switch (metric) {
    case "views": {
      const known = new Map((await listDays(reader, node.id, metric, first, last)).map(({ day, value }) => [day, value]));
      const values = [];
      for (let day = first; day <= last; day++) values.push({ value: known.get(day) ?? 0, end_time: momentText((day + 1) * DAY_SECONDS) });
      return insight(node.id, metric, "day", { values });
    }
    case "likes":
    case "replies":
    case "reposts":
    case "quotes": {
      const value = (await listDays(reader, node.id, metric, first, last)).reduce((sum, day) => sum + day.value, 0);
      return insight(node.id, metric, "day", { total_value: { value } });
    }
    case "clicks":
      return insight(node.id, metric, "day", { link_total_values: await listLinks(reader, node.id, first, last) });
    case "followers_count":
      return insight(node.id, metric, "day", { total_value: { value: (await readTotals(reader, node.id)).get(metric) ?? 0 } });
    case "follower_demographics":
      return insight(node.id, metric, "lifetime", { total_value: { breakdowns: await demographics(request, reader) } });
  }
}

/** D-54 [clients]: groups of fewer followers could identify a person. */
const FOLLOWERS_MIN = 100;

/** Of one breakdown, or of all four. */
async function demographics({ node, params, world }: UserRequest, reader: Reader) {
  if (world.profile === "clients") {
    const followers = (await readTotals(reader, node.id)).get("followers_count") ?? 0;
    if (followers < FOLLOWERS_MIN) throw invalidParameter("metric", `follower_demographics needs at least ${FOLLOWERS_MIN} followers`);
  }
  const found = [];
  for (const breakdown of params.breakdown === undefined ? breakdowns : [params.breakdown]) {
    const rows = await listDemographics(reader, node.id, breakdown);
    found.push({ dimension_keys: [breakdown], results: rows.map(({ dimension_value, value }) => ({ dimension_values: [dimension_value], value })) });
  }
  return found;
}
