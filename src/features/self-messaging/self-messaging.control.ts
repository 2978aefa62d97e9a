/** What a person does in the app: each act yields its webhook (operating.md: in-app). */
import { type Static, Type } from "typebox";
import { unprocessable } from "#control-contract/errors";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import type { SocialAccountFacts } from "#features/social-accounts/api";
import { worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import { TEXT_CHARACTERS_MAX } from "./self-messaging.contract.ts";
import { type CommentField, comment, pressButton, writeToSelf } from "./self-messaging.events.ts";
import type { CommentedMedia, Recipient } from "./self-messaging.payloads.ts";

const closed = { additionalProperties: false };
/** As long as the captions of such platforms. */
const COMMENT_CHARACTERS_MAX = 2_200;

const message = Type.Object({ social_account: worldId, text: Type.String({ minLength: 1, maxLength: TEXT_CHARACTERS_MAX }) }, closed);
const postback = Type.Object(
  {
    social_account: worldId,
    title: Type.String({ description: "of the button" }),
    payload: Type.String({ description: "of the button" }),
    mid: Type.String({ minLength: 1, description: "the message that the button stood in" }),
  },
  closed,
);
const newComment = Type.Object(
  {
    social_account: { ...worldId, description: "the author of the comment" },
    media: { ...worldId, description: "on whose owner's post" },
    text: Type.String({ minLength: 1, maxLength: COMMENT_CHARACTERS_MAX }),
  },
  closed,
);
const made = Type.Object({ id: Type.String() });
const success = Type.Object({ success: Type.Boolean() });

async function accountOf(reader: Reader, world: World, id: NodeId): Promise<SocialAccountFacts> {
  const account = await world.ports.get("social_account").findAccount(reader, id);
  if (account === undefined) throw unprocessable(`there is no social account ${id}`, "social_account");
  return account;
}

async function recipientOf(reader: Reader, world: World, id: NodeId): Promise<Recipient> {
  const account = await accountOf(reader, world, id);
  const { social_scoped_id } = account;
  if (social_scoped_id === undefined)
    throw unprocessable(`the social account ${id} has no social_scoped_id, so it cannot get messages`, "social_account");
  return { ...account, social_scoped_id };
}

async function mediaOf(reader: Reader, world: World, id: NodeId): Promise<CommentedMedia> {
  const node = await findNode(reader, id);
  const media = node?.type === "media" ? await world.ports.get("media").find(reader, node.owner, id) : undefined;
  if (node === undefined || media === undefined) throw unprocessable(`there is no media ${id}`, "media");
  return { id, owner: node.owner, media_product_type: media.media_product_type };
}

const sendInApp = ({ world, body }: ControlRequest<unknown, Static<typeof message>>) =>
  world.database.write(async (tx) => ({ id: await writeToSelf(tx, world, await recipientOf(tx, world, body.social_account), body.text) }));

const pressInApp = ({ world, body: { social_account, ...pressed } }: ControlRequest<unknown, Static<typeof postback>>) =>
  world.database.write(async (tx) => {
    await pressButton(tx, world, await recipientOf(tx, world, social_account), pressed);
    return { success: true };
  });

const commentInApp =
  (field: CommentField) =>
  ({ world, body }: ControlRequest<unknown, Static<typeof newComment>>) =>
    world.database.write(async (tx) => {
      const from = await accountOf(tx, world, body.social_account);
      return { id: await comment(tx, world, from, await mediaOf(tx, world, body.media), body.text, field) };
    });

const IN_APP = "/v1/worlds/{w}/in-app";

export const selfMessagingControlRoutes: readonly ControlRoute[] = [
  route({
    method: "POST",
    path: `${IN_APP}/self-message`,
    operation: "sendInApp",
    summary: "The account writes to itself in the app, which yields the echo",
    body: message,
    response: made,
    errors: [404, 413, 422],
    handle: sendInApp,
  }),
  route({
    method: "POST",
    path: `${IN_APP}/postback`,
    operation: "pressInApp",
    summary: "The account presses a button in a message to itself",
    body: postback,
    response: success,
    errors: [404, 413, 422],
    handle: pressInApp,
  }),
  route({
    method: "POST",
    path: `${IN_APP}/comment`,
    operation: "commentInApp",
    summary: "The account comments on a post, its own or another's",
    body: newComment,
    response: made,
    errors: [404, 413, 422],
    handle: commentInApp("comments"),
  }),
  route({
    method: "POST",
    path: `${IN_APP}/live-comment`,
    operation: "commentLiveInApp",
    summary: "The account comments on a live video, its own or another's",
    body: newComment,
    response: made,
    errors: [404, 413, 422],
    handle: commentInApp("live_comments"),
  }),
];
