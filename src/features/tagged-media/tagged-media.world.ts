import { type Static, Type } from "typebox";
import { closedMap, idOf, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { deleteMedia, findMedia, insertMedia, listAllMedia, listTaggedAccounts, type MediaRow, saveMedia } from "./tagged-media.store.ts";

const optionalText = Type.Optional(Type.String());
const count = Type.Integer({ minimum: 0, default: 0 });

const entry = closedMap({
  id: worldId,
  owner: idOf("social_account"),
  media_type: Type.Unsafe<string>({ enum: ["IMAGE", "VIDEO", "CAROUSEL_ALBUM"], default: "IMAGE" }),
  media_product_type: Type.Unsafe<string>({ enum: ["FEED", "REELS", "STORY", "AD"], default: "FEED" }),
  caption: optionalText,
  timestamp: Type.Optional(worldTime),
  private: Type.Boolean({ default: false }),
  tagged: Type.Array(idOf("social_account"), { default: [] }),
  media_url: optionalText,
  permalink: optionalText,
  thumbnail_url: optionalText,
  shortcode: optionalText,
  like_count: count,
  comments_count: count,
  children: Type.Array(idOf("media", "owner"), { default: [] }),
});
type Entry = Static<typeof entry>;

function rowOf({ private: isPrivate, tagged: _, children, ...rest }: Entry, { clock }: World): MediaRow {
  const absent = { caption: null, media_url: null, permalink: null, thumbnail_url: null, shortcode: null, timestamp: unixSeconds(clock) };
  return { ...absent, ...rest, is_private: isPrivate ? 1 : 0, children: JSON.stringify(children) };
}

/** E1: returns the accounts that are tagged in a media object. An account that tags itself does not count, so such a tag is not stored. */
const taggedBy = ({ tagged, owner }: Entry): string[] => tagged.filter((account) => account !== owner);

export const mediaSection = ownedSection({
  key: "media",
  nodeType: "media",
  owner: "owner",
  entry,
  insert: (tx, given, world) => insertMedia(tx, rowOf(given, world), taggedBy(given)),
  find: findMedia,
  list: listAllMedia,
  entryOf: async ({ is_private, children, ...rest }: MediaRow, reader) => ({
    ...rest,
    private: is_private === 1,
    tagged: await listTaggedAccounts(reader, rest.owner, rest.id),
    children: JSON.parse(children),
  }),
  replace: (tx, given, world) => saveMedia(tx, rowOf(given, world), taggedBy(given)),
  remove: deleteMedia,
});
