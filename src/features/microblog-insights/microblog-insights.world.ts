import { Type } from "typebox";
import type { WorldSection } from "#graph/contract/feature";
import { having, PROBLEM } from "#graph/schema/schema-node";
import { closedMap, described, idOf, WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { ownedSection, section } from "#graph/worlds/file/section";
import { unixSeconds } from "#kernel/clock";
import { addToSums, listRecorded, type SumRow } from "./insight-sums.store.ts";
import { mediaMetrics, type RecordedMetric, recordedMetrics, userMetrics } from "./microblog-insights.metrics.ts";
import { deleteMedia, type FollowerRow, listAllFollowers, mediaTable, recordFollowers } from "./microblog-insights.store.ts";

export const microblogMediaSection = ownedSection({
  ...mediaTable,
  key: "microblog_media",
  entry: closedMap(
    {
      id: described("the post's id", worldId),
      owner: described("the microblog account that published the post", idOf("microblog_user")),
      text: Type.String({ default: "", description: "the post's text" }),
      timestamp: Type.Optional(described("the time of the post (default: now)", worldTime)),
    },
    "a post of a microblog account",
  ),
  insert: (tx, given, { clock }) => mediaTable.insert(tx, { timestamp: unixSeconds(clock), ...given }),
  replace: (tx, given, { clock }) => mediaTable.replace(tx, { timestamp: unixSeconds(clock), ...given }),
  remove: deleteMedia,
});

/** The largest value of one activity in a world file. The limit keeps sums far below 2^53. */
const VALUE_MAX = 1_000_000_000;

/**
 * The world sections of activities and followers cannot read, change or remove a single entry, because the store adds each entry to sums and does not
 * keep it.
 */
const recordsOnly = {
  identity: [],
  find: async () => undefined,
  replace: async () => {
    throw new WorldProblem("", "is a record, which cannot be changed");
  },
  remove: async () => false,
} as const satisfies Partial<WorldSection>;

/**
 * Returns the node types that have the metric. If an activity belongs to a node of another type, the activity is refused, because no request could
 * read its count.
 */
function targetTypes(metric: RecordedMetric): string[] {
  const types: string[] = [];
  if ((mediaMetrics as readonly string[]).includes(metric)) types.push("microblog_media");
  if ((userMetrics as readonly string[]).includes(metric)) types.push("microblog_user");
  return types;
}

export const activitySection = section({
  ...recordsOnly,
  key: "activity",
  entry: closedMap(
    {
      target: described("the post or the microblog account that was seen, liked and so on", idOf(["microblog_media", "microblog_user"])),
      metric: Type.Unsafe<RecordedMetric>({ enum: [...recordedMetrics], description: "the metric of the insights whose value grows" }),
      time: Type.Optional(described("the time of the activity (default: now)", worldTime)),
      value: Type.Integer({ minimum: 0, maximum: VALUE_MAX, default: 1, description: "the number that is added to the metric" }),
      link_url: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 2_048,
          description: "the link that was clicked; required for the metric clicks, and allowed only with that metric",
        }),
      ),
    },
    "activity that the insights of a microblog account or post count",
    {
      if: { properties: { metric: { const: "clicks" } } },
      // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
      then: having("link_url"),
      else: { not: { ...having("link_url"), [PROBLEM]: "is allowed only for the metric clicks" } },
    },
  ),
  references: ({ metric, target }) => [{ path: "target", types: targetTypes(metric), id: target }],
  async insert(tx, { target, metric, time = undefined, value, link_url = undefined }, { clock }) {
    await addToSums(tx, { target, metric, start: time ?? unixSeconds(clock), label: link_url ?? "", value });
    return true;
  },
  list: listRecorded,
  entryOf: ({ target, metric, start, label, value }: SumRow) => ({ target, metric, time: start, link_url: label === "" ? undefined : label, value }),
});

const group = (description: string) => Type.String({ maxLength: 100, default: "", description });

export const followersSection = section({
  ...recordsOnly,
  key: "followers",
  entry: closedMap(
    {
      microblog_user: described("the microblog account that the group follows", idOf("microblog_user")),
      country: group("the followers' country, e.g. DE"),
      city: group("the followers' city"),
      age: group("the followers' age, e.g. 25-34"),
      gender: group("the followers' gender, e.g. F"),
      count: Type.Integer({ minimum: 0, maximum: VALUE_MAX, default: 1, description: "the number of followers in the group" }),
      time: Type.Optional(described("the time at which the group began to follow the account (default: now)", worldTime)),
    },
    "a group of followers of a microblog account",
  ),
  async insert(tx, { count, ...rest }, { clock }) {
    await recordFollowers(tx, { time: unixSeconds(clock), ...rest, value: count });
    return true;
  },
  list: listAllFollowers,
  entryOf: ({ value, ...rest }: FollowerRow) => ({ ...rest, count: value }),
});
