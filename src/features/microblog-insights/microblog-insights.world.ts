import { Type } from "typebox";
import type { WorldSection } from "#graph/contract/feature";
import { closedMap, idOf, WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { ownedSection, section } from "#graph/worlds/file/section";
import { unixSeconds } from "#kernel/clock";
import { addToSums, listRecorded, type SumRow } from "./insight-sums.store.ts";
import { mediaMetrics, type RecordedMetric, recordedMetrics, userMetrics } from "./microblog-insights.metrics.ts";
import {
  deleteMedia,
  type FollowerRow,
  findMedia,
  insertMedia,
  listAllFollowers,
  listAllMedia,
  recordFollowers,
  updateMedia,
} from "./microblog-insights.store.ts";

export const microblogMediaSection = ownedSection({
  key: "microblog_media",
  nodeType: "microblog_media",
  owner: "owner",
  entry: closedMap({ id: worldId, owner: idOf("microblog_user"), text: Type.String({ default: "" }), timestamp: Type.Optional(worldTime) }),
  insert: (tx, given, { clock }) => insertMedia(tx, { timestamp: unixSeconds(clock), ...given }),
  find: findMedia,
  list: listAllMedia,
  replace: (tx, given, { clock }) => updateMedia(tx, { timestamp: unixSeconds(clock), ...given }),
  remove: deleteMedia,
});

/** The largest value of one entry, so that sums stay far below 2^53. */
const VALUE_MAX = 1_000_000_000;

/** Activities are stored only as sums, the shortest of which are for one second, so a single activity cannot be read, updated or removed. */
const recordsOnly = {
  identity: [],
  find: async () => undefined,
  replace: async () => {
    throw new WorldProblem("", "is a record, which cannot be changed");
  },
  remove: async () => false,
} as const satisfies Partial<WorldSection>;

/** Returns the node types that have the metric. An activity of another type is refused, because no request could read its count. */
function targetTypes(metric: RecordedMetric): string[] {
  const types: string[] = [];
  if ((mediaMetrics as readonly string[]).includes(metric)) types.push("microblog_media");
  if ((userMetrics as readonly string[]).includes(metric)) types.push("microblog_user");
  return types;
}

export const activitySection = section({
  ...recordsOnly,
  key: "activity",
  entry: closedMap({
    target: worldId,
    metric: Type.Unsafe<RecordedMetric>({ enum: [...recordedMetrics] }),
    time: Type.Optional(worldTime),
    value: Type.Integer({ minimum: 0, maximum: VALUE_MAX, default: 1 }),
    link_url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
  }),
  references: ({ metric, target }) => [{ path: "target", types: targetTypes(metric), id: target }],
  async insert(tx, { target, metric, time = undefined, value, link_url = undefined }, { clock }) {
    if (link_url !== undefined && metric !== "clicks") throw new WorldProblem("link_url", "is allowed only for the metric clicks");
    if (link_url === undefined && metric === "clicks") throw new WorldProblem("link_url", "is required for the metric clicks");
    await addToSums(tx, { target, metric, start: time ?? unixSeconds(clock), label: link_url ?? "", value });
    return true;
  },
  list: listRecorded,
  entryOf: ({ target, metric, start, label, value }: SumRow) => ({ target, metric, time: start, link_url: label === "" ? undefined : label, value }),
});

const group = Type.String({ maxLength: 100, default: "" });

export const followersSection = section({
  ...recordsOnly,
  key: "followers",
  entry: closedMap({
    microblog_user: idOf("microblog_user"),
    country: group,
    city: group,
    age: group,
    gender: group,
    count: Type.Integer({ minimum: 0, maximum: VALUE_MAX, default: 1 }),
    time: Type.Optional(worldTime),
  }),
  async insert(tx, { count, ...rest }, { clock }) {
    await recordFollowers(tx, { time: unixSeconds(clock), ...rest, value: count });
    return true;
  },
  list: listAllFollowers,
  entryOf: ({ value, ...rest }: FollowerRow) => ({ ...rest, count: value }),
});
