import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import { nodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import { deleteMedia, findMedia, insertMedia, listAllMedia, listTaggedAccounts, type MediaRow, saveMedia } from "./tagged-media.store.ts";

const optionalText = Type.Optional(Type.String());
const count = Type.Integer({ minimum: 0, default: 0 });

const entry = Type.Object(
  {
    id: worldId,
    owner: worldId,
    media_type: Type.Unsafe<string>({ enum: ["IMAGE", "VIDEO", "CAROUSEL_ALBUM"], default: "IMAGE" }),
    media_product_type: Type.Unsafe<string>({ enum: ["FEED", "REELS", "STORY", "AD"], default: "FEED" }),
    caption: optionalText,
    timestamp: Type.Optional(worldTime),
    private: Type.Boolean({ default: false }),
    tagged: Type.Array(worldId, { default: [] }),
    media_url: optionalText,
    permalink: optionalText,
    thumbnail_url: optionalText,
    shortcode: optionalText,
    like_count: count,
    comments_count: count,
    children: Type.Array(worldId, { default: [] }),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof entry>;

function rowOf(input: WorldEntry, now: number): MediaRow {
  const { private: isPrivate, tagged: _, children, timestamp = now, ...rest } = input as Entry;
  const { caption = null, media_url = null, permalink = null, thumbnail_url = null, shortcode = null } = rest;
  const texts = { caption, media_url, permalink, thumbnail_url, shortcode };
  return { ...rest, ...texts, timestamp, is_private: isPrivate ? 1 : 0, children: JSON.stringify(children) };
}

/** E1: only tags by others count, so an owner's tag of itself is not stored. */
const taggedBy = (input: WorldEntry): string[] => (input as Entry).tagged.filter((account) => account !== (input as Entry).owner);

async function entryOf(reader: Reader, row: MediaRow): Promise<WorldEntry> {
  const { is_private, children, ...rest } = row;
  const present = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  return {
    ...present,
    private: is_private === 1,
    tagged: await listTaggedAccounts(reader, row.owner, row.id),
    children: JSON.parse(children) as string[],
  };
}

export const mediaSection: WorldSection = {
  key: "media",
  entry,
  references: (input) => {
    const { owner, tagged, children } = input as Entry;
    return [
      { path: "owner", types: ["social_account"], id: owner },
      ...tagged.map((id, index) => ({ path: `tagged[${index}]`, types: ["social_account"], id })),
      ...children.map((id, index) => ({ path: `children[${index}]`, types: ["media"], id, owner })),
    ];
  },
  insert: (tx, input, world) => insertMedia(tx, rowOf(input, Math.floor(world.clock.nowMs() / 1000)), taggedBy(input)),
  async find(reader, id) {
    const node = await findNode(reader, nodeId(id));
    const row = node?.type === "media" ? await findMedia(reader, node.owner, id) : undefined;
    return row === undefined ? undefined : entryOf(reader, row);
  },
  async list(reader, page) {
    const found = await listAllMedia(reader, page);
    return { ...found, rows: await Promise.all(found.rows.map((row) => entryOf(reader, row))) };
  },
  async replace(tx, input, world) {
    const row = rowOf(input, Math.floor(world.clock.nowMs() / 1000));
    if ((await findMedia(tx, nodeId(row.owner), row.id)) === undefined) throw new WorldProblem("owner", "cannot change");
    await saveMedia(tx, row, taggedBy(input));
  },
  async remove(tx, id) {
    const node = await findNode(tx, nodeId(id));
    return node?.type === "media" && (await deleteMedia(tx, node.owner, id));
  },
};
