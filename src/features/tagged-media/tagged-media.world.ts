import { type Static, Type } from "typebox";
import { closedMap, described, idOf, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { deleteMedia, insertMedia, listTaggedAccounts, type MediaRow, mediaTable, replaceMedia } from "./tagged-media.store.ts";

const optionalText = (description: string) => Type.Optional(Type.String({ description }));
const count = (description: string) => Type.Integer({ minimum: 0, default: 0, description });

const entry = closedMap(
  {
    id: described("the id of the media object", worldId),
    owner: described("the social account that published the media object", idOf("social_account")),
    media_type: Type.Unsafe<string>({
      enum: ["IMAGE", "VIDEO", "CAROUSEL_ALBUM"],
      default: "IMAGE",
      description: "a picture, a video or an album",
    }),
    media_product_type: Type.Unsafe<string>({
      enum: ["FEED", "REELS", "STORY", "AD"],
      default: "FEED",
      description: "the part of the social network in which the media object appears",
    }),
    caption: optionalText("the text below the media object"),
    timestamp: Type.Optional(described("the time of publication (default: now)", worldTime)),
    private: Type.Boolean({ default: false, description: "whether the media object is private; tagged accounts do not list private media" }),
    tagged: Type.Array(idOf("social_account"), { default: [], description: "the social accounts that are tagged in the media object" }),
    media_url: optionalText("the address of the picture or video"),
    permalink: optionalText("the address of the page of the media object"),
    thumbnail_url: optionalText("the address of a small picture of a video"),
    shortcode: optionalText("the short name in the page's address"),
    like_count: count("the number of likes"),
    comments_count: count("the number of comments"),
    children: Type.Array(idOf("media", "owner"), { default: [], description: "the media of an album, which belong to the same account" }),
  },
  "a picture, video or album of a social account",
);
type Entry = Static<typeof entry>;

function rowOf({ private: isPrivate, tagged: _, children, ...rest }: Entry, { clock }: World): MediaRow {
  const absent = { caption: null, media_url: null, permalink: null, thumbnail_url: null, shortcode: null, timestamp: unixSeconds(clock) };
  return { ...absent, ...rest, is_private: isPrivate ? 1 : 0, children: JSON.stringify(children) };
}

/** E1: returns the accounts that are tagged in a media object. If an account tags itself, the tag is ignored and not stored. */
const taggedBy = ({ tagged, owner }: Entry): string[] => tagged.filter((account) => account !== owner);

export const mediaSection = ownedSection({
  ...mediaTable,
  key: "media",
  entry,
  insert: (tx, given, world) => insertMedia(tx, rowOf(given, world), taggedBy(given)),
  entryOf: async ({ is_private, children, ...rest }: MediaRow, reader) => ({
    ...rest,
    private: is_private === 1,
    tagged: await listTaggedAccounts(reader, rest.owner, rest.id),
    children: JSON.parse(children),
  }),
  replace: (tx, given, world) => replaceMedia(tx, rowOf(given, world), taggedBy(given)),
  remove: deleteMedia,
});
