/** Insights of the microblog: sums of recorded counts, exact to the second (F1, F2, D-54, D-120). */

import type { Operation, Turn } from "../operations.ts";
import { anyText, Hole, type Reply, success } from "../replies.ts";
import { asList, asText, parameter } from "../requests.ts";
import type { World } from "../world.ts";

const OF_MEDIA = ["views", "likes", "replies", "reposts", "quotes", "shares"];
const OF_USER = ["views", "likes", "replies", "reposts", "quotes", "clicks", "followers_count", "follower_demographics"];
const BREAKDOWNS = ["country", "city", "age", "gender"] as const;
const DAY = 86_400;
/** The earliest time of a range in the response profile `clients` (D-54). */
const EARLIEST = 1_712_991_600;
const FOLLOWERS_MIN = 100;

interface Range {
  readonly since: number;
  readonly until: number;
}

const insight = (node: string, name: string, period: string, values: object): unknown => ({
  ...{ name, period, title: anyText, description: anyText, id: `${node}/insights/${name}/${period}` },
  ...values,
});

/** The sum of a metric from `since` on and before `until`. */
function sumOf({ activity }: World, target: string, metric: string, { since, until }: Range, link?: string): number {
  const counted = activity.filter((one) => one.target === target && one.metric === metric && one.time >= since && one.time < until);
  return counted.filter(({ link_url }) => link === undefined || link_url === link).reduce((sum, { value }) => sum + value, 0);
}

/** The end of a range that reaches to the present: a second that has begun counts. */
const endOf = ({ now }: World): number => now + 1;

function metricsOf({ world, request }: Turn, known: readonly string[]): readonly string[] | undefined {
  const metrics = asList(request, "metric");
  if (metrics !== null && metrics !== undefined && metrics.length > 0 && metrics.every((metric) => known.includes(metric)))
    return [...new Set(metrics)];
  world.reach("insightMetric");
  return undefined;
}

function readMediaInsights(turn: Turn): Reply {
  const { world, node, fail } = turn;
  const metrics = metricsOf(turn, OF_MEDIA);
  if (metrics === undefined) return fail("invalidParameter");
  const all = { since: 0, until: endOf(world) };
  return success({ data: metrics.map((name) => insight(node, name, "lifetime", { values: [{ value: sumOf(world, node, name, all) }] })) });
}

function readMoment({ request }: Turn, name: string): number | false | undefined {
  const given = parameter(request, name);
  if (given === undefined) return undefined;
  const text = asText(given) ?? "";
  return /^-?\d+$/.test(text) ? Number(text) : false;
}

/** The time range of the request; undefined if the range is refused. */
function readRange(turn: Turn, metrics: readonly string[]): Range | undefined {
  const { world } = turn;
  const [since, until] = [readMoment(turn, "since"), readMoment(turn, "until")];
  const earliest = world.profile === "clients" ? EARLIEST : 0;
  const isBoth = metrics.includes("follower_demographics") && (since !== undefined || until !== undefined);
  if (isBoth) world.reach("insightDemographicsRange");
  if (since === false || until === false || isBoth) return undefined;
  if ((since ?? earliest) < earliest || (until ?? earliest) < earliest || (since !== undefined && since >= (until ?? endOf(world)))) {
    world.reach("insightRange");
    return undefined;
  }
  const last = Math.min(until ?? endOf(world), endOf(world));
  return { since: since ?? Math.max(0, (Math.floor((last - 1) / DAY) - 1) * DAY), until: last };
}

const dayEnd = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}+0000`;

function series(world: World, node: string, { since, until }: Range): unknown[] {
  const days: unknown[] = [];
  for (let start = Math.floor(since / DAY) * DAY; start < until; start += DAY) {
    const cut = { since: Math.max(start, since), until: Math.min(start + DAY, until) };
    days.push({ value: sumOf(world, node, "views", cut), end_time: dayEnd(start + DAY) });
  }
  return days;
}

/** Expects these values in any order, because no decision orders them. */
const inAnyOrder = (expected: readonly unknown[]): Hole =>
  new Hole("the same in any order", (actual) => {
    const texts = (all: readonly unknown[]) => all.map((one) => JSON.stringify(Object.entries(one as object).sort())).sort();
    const isSame = Array.isArray(actual) && JSON.stringify(texts(actual)) === JSON.stringify(texts(expected));
    return isSame ? undefined : `${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`;
  });

function followersAt({ followers }: World, node: string, until: number): World["followers"] {
  return followers.filter(({ microblog_user, time }) => microblog_user === node && time < until);
}

function demographics({ world, request, node }: Turn): unknown[] {
  const asked = parameter(request, "breakdown");
  return BREAKDOWNS.filter((breakdown) => asked === undefined || asked === breakdown).map((breakdown) => {
    const groups = new Map<string, number>();
    for (const some of followersAt(world, node, endOf(world))) groups.set(some[breakdown], (groups.get(some[breakdown]) ?? 0) + some.count);
    // Followers without a value for the breakdown do not form a group.
    const results = [...groups].filter(([label, value]) => label !== "" && value > 0).map(([label, value]) => ({ dimension_values: [label], value }));
    return { dimension_keys: [breakdown], results: inAnyOrder(results) };
  });
}

function readUserInsights(turn: Turn): Reply {
  const { world, request, node, fail } = turn;
  const metrics = metricsOf(turn, OF_USER);
  const range = readRange(turn, metrics ?? []);
  const breakdown = parameter(request, "breakdown");
  const isBreakdown = breakdown === undefined || BREAKDOWNS.some((one) => one === breakdown);
  if (metrics === undefined || range === undefined || !isBreakdown) return fail("invalidParameter");
  const levelAt = (until: number): number => followersAt(world, node, until).reduce((sum, { count }) => sum + count, 0);
  if (metrics.includes("follower_demographics") && world.profile === "clients" && levelAt(endOf(world)) < FOLLOWERS_MIN) {
    world.reach("insightFollowersMin");
    return fail("invalidParameter");
  }
  world.reach("insightSums");
  const links = [...new Set(world.activity.flatMap(({ link_url }) => link_url ?? []))];
  const clicks = links.map((link_url) => ({ value: sumOf(world, node, "clicks", range, link_url), link_url })).filter(({ value }) => value > 0);
  const valuesOf = (metric: string): object => {
    if (metric === "views") return { values: series(world, node, range) };
    if (metric === "clicks") return { link_total_values: inAnyOrder(clicks) };
    if (metric === "follower_demographics") return { total_value: { breakdowns: demographics(turn) } };
    return { total_value: { value: metric === "followers_count" ? levelAt(range.until) : sumOf(world, node, metric, range) } };
  };
  return success({
    data: metrics.map((metric) => insight(node, metric, metric === "follower_demographics" ? "lifetime" : "day", valuesOf(metric))),
  });
}

const common = {
  method: "GET",
  surfaces: ["microblog"],
  form: "wrapped",
  scheme: "query",
  kinds: ["microblog_user"],
  scopes: ["microblog_basic", "microblog_manage_insights"],
  hasTask: () => true,
} as const;

export const insightOperations: readonly Operation[] = [
  { ...common, name: "readMediaInsights", edge: "insights", on: "microblog_media", reply: readMediaInsights },
  { ...common, name: "readUserInsights", edge: "microblog_insights", on: "microblog_user", reply: readUserInsights },
];
