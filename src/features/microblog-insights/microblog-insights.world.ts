import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import { unixSeconds } from "#kernel/clock";
import { nodeId } from "#kernel/ids";
import { addToSums, listRecorded, type SumRow } from "./insight-sums.store.ts";
import { mediaMetrics, type RecordedMetric, recordedMetrics, userMetrics } from "./microblog-insights.metrics.ts";
import { deleteMedia, findMedia, insertMedia, listAllFollowers, listAllMedia, recordFollowers, updateMedia } from "./microblog-insights.store.ts";

const closed = { additionalProperties: false };

const mediaEntry = Type.Object({ id: worldId, owner: worldId, text: Type.String({ default: "" }), timestamp: Type.Optional(worldTime) }, closed);
type MediaEntry = Static<typeof mediaEntry>;

export const microblogMediaSection: WorldSection = {
  key: "microblog_media",
  entry: mediaEntry,
  references: (input) => [{ path: "owner", types: ["microblog_user"], id: (input as MediaEntry).owner }],
  insert: (tx, input, world) => insertMedia(tx, { ...(input as MediaEntry), timestamp: (input as MediaEntry).timestamp ?? unixSeconds(world.clock) }),
  async find(reader, id) {
    const node = await findNode(reader, nodeId(id));
    return node?.type === "microblog_media" ? findMedia(reader, node.owner, id) : undefined;
  },
  list: listAllMedia,
  async replace(tx, input, world) {
    const { owner, id, timestamp = unixSeconds(world.clock) } = input as MediaEntry;
    if ((await findMedia(tx, owner, id)) === undefined) throw new WorldProblem("owner", "cannot change");
    await updateMedia(tx, { ...(input as MediaEntry), timestamp });
  },
  async remove(tx, id) {
    const node = await findNode(tx, nodeId(id));
    return node?.type === "microblog_media" && (await deleteMedia(tx, node.owner, id));
  },
};

/** Of one entry, so that sums stay far below 2^53. */
const VALUE_MAX = 1_000_000_000;

const activityEntry = Type.Object(
  {
    target: worldId,
    metric: Type.Unsafe<(typeof recordedMetrics)[number]>({ enum: [...recordedMetrics] }),
    time: Type.Optional(worldTime),
    value: Type.Integer({ minimum: 0, maximum: VALUE_MAX, default: 1 }),
    link_url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
  },
  closed,
);
type ActivityEntry = Static<typeof activityEntry>;

/** Activities are stored only as sums, of each second at the finest, so that none can be read, updated or removed by itself. */
const recordsOnly = {
  identity: [],
  find: async () => undefined,
  replace: async () => {
    throw new WorldProblem("", "is a record, which cannot be changed");
  },
  remove: async () => false,
} as const satisfies Partial<WorldSection>;

/** The types that have the metric. Others are refused, because no request could read the count. */
function targetTypes(metric: RecordedMetric): string[] {
  const types: string[] = [];
  if ((mediaMetrics as readonly string[]).includes(metric)) types.push("microblog_media");
  if ((userMetrics as readonly string[]).includes(metric)) types.push("microblog_user");
  return types;
}

export const activitySection: WorldSection = {
  ...recordsOnly,
  key: "activity",
  entry: activityEntry,
  references: (input) => [{ path: "target", types: targetTypes((input as ActivityEntry).metric), id: (input as ActivityEntry).target }],
  async insert(tx, input, world) {
    const { target, metric, time = unixSeconds(world.clock), value, link_url } = input as ActivityEntry;
    if (link_url !== undefined && metric !== "clicks") throw new WorldProblem("link_url", "is allowed only for the metric clicks");
    if (link_url === undefined && metric === "clicks") throw new WorldProblem("link_url", "is required for the metric clicks");
    await addToSums(tx, { target, metric, start: time, label: link_url ?? "", value });
    return true;
  },
  async list(reader, page) {
    const found = await listRecorded(reader, page);
    const entryOf = ({ target, metric, start, label, value }: SumRow): WorldEntry => ({
      ...{ target, metric, time: start },
      ...(label === "" ? {} : { link_url: label }),
      value,
    });
    return { ...found, rows: found.rows.map(entryOf) };
  },
};

const group = Type.String({ maxLength: 100, default: "" });
const followersEntry = Type.Object(
  {
    microblog_user: worldId,
    country: group,
    city: group,
    age: group,
    gender: group,
    count: Type.Integer({ minimum: 0, maximum: VALUE_MAX, default: 1 }),
    time: Type.Optional(worldTime),
  },
  closed,
);
type FollowersEntry = Static<typeof followersEntry>;

export const followersSection: WorldSection = {
  ...recordsOnly,
  key: "followers",
  entry: followersEntry,
  references: (input) => [{ path: "microblog_user", types: ["microblog_user"], id: (input as FollowersEntry).microblog_user }],
  async insert(tx, input, world) {
    const { count, time = unixSeconds(world.clock), ...rest } = input as FollowersEntry;
    await recordFollowers(tx, { ...rest, time, value: count });
    return true;
  },
  async list(reader, page) {
    const found = await listAllFollowers(reader, page);
    return { ...found, rows: found.rows.map(({ value, ...rest }) => ({ ...rest, count: value })) };
  },
};
