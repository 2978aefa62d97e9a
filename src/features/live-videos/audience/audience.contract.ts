import { type TSchema, Type } from "typebox";
import { pageSet } from "#features/pages/api";
import { type Access, type Field, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import { utcText } from "#kernel/clock";
import { COMMENT_CHARACTERS_MAX } from "../live-videos.limits.ts";
import { liveVideo } from "../live-videos.policies.ts";
import type { CommentRow, ReactionRow } from "./audience.store.ts";

/**
 * LIVE-26: only the original page may read and write comments and reactions, so these operations have the policy of the original page. Pages that
 * share the video cannot access its comments and reactions.
 */
const access = {
  surfaces: ["base"],
  versions: "platform",
  scheme: "anywhere",
  policy: liveVideo,
  visibility: liveVideo,
  errorForm: "wrapped",
} as const satisfies Partial<Access> & { visibility: Access["policy"] };

const plain = (schema: TSchema) => ({ schema, policy: liveVideo }) as const;
const text = plain(Type.String());

const actorSet = pageSet(liveVideo, ["id", "name"]);

/** The page or person that comments or reacts. Only a page has a `name`, because the interface shows no names of people. */
const from: Field = {
  ...plain(Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) })),
  nested: {
    set: () => actorSet,
    load: async (_request, _reader, rows) => rows.map(({ actor }) => ({ id: String(actor) })),
  },
};

const commentSet: FieldSet<CommentRow> = {
  fields: { id: text, message: text, from: from as Field<CommentRow>, created_time: { ...text, of: (row) => utcText(row.created_time) } },
  defaults: ["id", "message", "from", "created_time"],
};

/** D-113: the types of reactions. */
export const reactionTypes = ["LIKE", "LOVE", "CARE", "HAHA", "WOW", "SAD", "ANGRY"] as const;
const reactionType = Type.Union(reactionTypes.map((type) => Type.Literal(type)));

/** The fields of a reaction. The id of a reaction is the id of its actor, because each actor has at most one reaction to a video. */
const reactionSet: FieldSet<ReactionRow> = {
  fields: { id: { ...text, of: (row) => row.actor }, from: from as Field<ReactionRow>, type: plain(reactionType) },
  defaults: ["id", "type"],
};

export const listComments = listOperation({
  ...access,
  operation: "listLiveComments",
  summary: "Lists the comments on a live video, newest first. Only for its original page (D-51).",
  clauses: ["LIVE-26"],
  decisions: ["D-51"],
  on: "live_video",
  edge: "comments",
  params: Type.Object({}),
  items: commentSet,
  errors: [],
});

export const createComment = writeOperation({
  ...access,
  operation: "createLiveComment",
  summary: "Comments on a live video as the page or the person of the token.",
  clauses: ["LIVE-26"],
  decisions: ["D-51", "D-134"],
  on: "live_video",
  method: "POST",
  edge: "comments",
  params: Type.Object({ message: Type.String({ minLength: 1, maxLength: COMMENT_CHARACTERS_MAX, description: "the comment" }) }),
  returns: Type.Object({ id: Type.String() }),
  errors: ["invalidParameter"],
});

export const listReactions = listOperation({
  ...access,
  operation: "listLiveReactions",
  summary: "Lists the reactions to a live video, newest first. Only for its original page (D-51).",
  clauses: ["LIVE-26"],
  decisions: ["D-51"],
  on: "live_video",
  edge: "reactions",
  params: Type.Object({}),
  items: reactionSet,
  keyColumns: 2,
  errors: [],
});

export const createReaction = writeOperation({
  ...access,
  operation: "createLiveReaction",
  summary: "Reacts to a live video as the page or the person of the token. A second reaction replaces the first.",
  clauses: ["LIVE-26"],
  decisions: ["D-51"],
  on: "live_video",
  method: "POST",
  edge: "reactions",
  params: Type.Object({ type: Type.Unsafe<(typeof reactionTypes)[number]>({ ...reactionType, description: "how" }) }),
  returns: Type.Object({ success: Type.Boolean() }),
  errors: ["invalidParameter"],
});
