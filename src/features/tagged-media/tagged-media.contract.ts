import { type TSchema, Type } from "typebox";
import { socialAccountOf } from "#features/social-accounts/api";
import { type Field, type FieldSet, listOperation } from "#graph/contract/operation";
import { nodeId } from "#kernel/ids";
import { professionalAccount, taggedMediaPolicy } from "./tagged-media.policies.ts";
import type { MediaRow } from "./tagged-media.store.ts";

const plain = (schema: TSchema): Field<MediaRow> => ({ schema, policy: taggedMediaPolicy });
const text = plain(Type.String());
const count = plain(Type.Integer());

/** ISO 8601 in UTC with a numeric offset, `2026-11-18T00:00:00+0000`. */
export const timestampText = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}+0000`;

/** Another media object or account, of which responses contain only the id. */
const idOnly: FieldSet = { fields: { id: { schema: Type.String(), policy: taggedMediaPolicy } }, defaults: ["id"] };

/** D-53. */
const mediaItem: FieldSet<MediaRow> = {
  fields: {
    id: text,
    caption: text,
    comments_count: count,
    like_count: count,
    media_product_type: text,
    media_type: text,
    media_url: text,
    owner: {
      ...plain(Type.Object({ id: Type.String() })),
      nested: { set: () => idOnly, load: async (_request, _reader, row) => ({ id: (row as MediaRow).owner }) },
    },
    permalink: text,
    shortcode: text,
    thumbnail_url: text,
    timestamp: { ...text, of: (row) => timestampText(row.timestamp) },
    username: {
      ...text,
      load: async ({ world }, reader, row) => (await socialAccountOf(nodeId(row.owner), reader, world.ports, world.facts))?.username,
    },
    children: {
      ...plain(Type.Object({ data: Type.Array(Type.Object({ id: Type.String() })) })),
      async load({ world }, reader, row) {
        const ids = await world.ports.get("media").publicChildren(reader, nodeId(row.owner), JSON.parse(row.children) as string[]);
        return ids.length === 0 ? undefined : { data: ids.map((id) => ({ id })) };
      },
    },
  },
  defaults: ["id"],
};

export const listTags = listOperation({
  operation: "listTags",
  summary: "Lists the public media in which others tagged a professional account, newest first.",
  clauses: ["E1-1", "E1-2", "E1-4", "E1-5", "E1-6", "E1-7", "E1-8", "E1-10", "E1-11", "E1-12", "E1-13", "E1-14", "E1-15", "LIST-14", "LIST-15"],
  on: "social_account",
  edge: "tags",
  surfaces: ["base"],
  versions: "platform",
  scheme: "query",
  policy: taggedMediaPolicy,
  visibility: professionalAccount,
  errorForm: "wrapped",
  params: Type.Object({}),
  items: mediaItem,
  cursorsOnly: true,
  keyColumns: 2,
  errors: [],
});
