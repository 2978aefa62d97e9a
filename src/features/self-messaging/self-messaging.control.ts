/**
 * The control routes that simulate the actions of a person in the app. For each simulated action, Plaza sends the webhook that the action causes
 * (operating.md: in-app).
 */
import { type Static, Type } from "typebox";
import { unprocessable } from "#control-contract/errors";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import type { SocialAccountFacts } from "#features/social-accounts/api";
import { having } from "#graph/schema/schema-node";
import { worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { TEXT_CHARACTERS_MAX } from "./self-messaging.contract.ts";
import { type CommentedMedia, type CommentField, comment, pressButton, type Recipient, writeToSelf } from "./self-messaging.events.ts";
import { readThread, THREAD_MESSAGES_MAX } from "./self-messaging.store.ts";
import { LIVE_PRODUCT_TYPE } from "./self-messaging.webhooks.ts";

const closed = { additionalProperties: false };
/** The longest comment. The length of a comment has the same limit as that of captions on platforms of this kind. */
const COMMENT_CHARACTERS_MAX = 2_200;

const account = { ...worldId, description: "the id of the account that writes to itself" };
const message = Type.Object(
  { social_account: account, text: Type.String({ minLength: 1, maxLength: TEXT_CHARACTERS_MAX, description: "the message" }) },
  closed,
);
const postback = Type.Object(
  {
    social_account: account,
    title: Type.String({ maxLength: TEXT_CHARACTERS_MAX, description: "the text of the button" }),
    payload: Type.String({ maxLength: TEXT_CHARACTERS_MAX, description: "the payload of the button" }),
    mid: Type.String({ minLength: 1, maxLength: TEXT_CHARACTERS_MAX, description: "the id of the message that has the button" }),
  },
  closed,
);
const newComment = Type.Object(
  {
    social_account: { ...worldId, description: "the id of the account that writes the comment" },
    media: { ...worldId, description: "the id of the media that the comment is about" },
    text: Type.String({ minLength: 1, maxLength: COMMENT_CHARACTERS_MAX, description: "the comment" }),
  },
  closed,
);
const newLiveComment = Type.Object(
  {
    ...newComment.properties,
    media: Type.Optional({ ...worldId, description: "the id of the media that the comment is about; give either `media` or `live_video`" }),
    live_video: Type.Optional({ ...worldId, description: "the id of a published live video, of a page that has a social account" }),
  },
  { ...closed, anyOf: [having("live_video"), having("media")], not: having("media", "live_video") },
);
const made = Type.Object({ id: Type.String() });
const threadQuery = Type.Object({ social_account: { ...worldId, description: "the id of the account whose thread is read" } });
const thread = Type.Object({
  data: Type.Array(
    Type.Object({
      mid: Type.String({ description: "the id of the message; for a pressed button, the id of the message that has the button" }),
      time: Type.Number({ description: "the world's time when the message was sent or the button was pressed, in Unix seconds" }),
      app: Type.Optional(Type.String({ description: "the app that sent the message; absent if the person wrote it or pressed the button" })),
      text: Type.String({ description: "the text of the message or of the button" }),
      payload: Type.Optional(Type.String({ description: "the payload of a pressed button; absent for a message" })),
    }),
  ),
});

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
  });

/**
 * D-406: returns the messages of an account's thread in the order in which they were sent. The order of the messages stays right if the world's clock
 * is set back.
 */
async function readInApp({ world, query: { social_account } }: ControlRequest<Static<typeof threadQuery>>) {
  const { reader } = world.database;
  const { id } = await accountOf(reader, world, social_account);
  const messages = await readThread(reader, id);
  return {
    data: messages.map(({ mid, time_ms, app, text, payload }) => ({
      ...{ mid, time: time_ms / 1_000, text },
      ...(app === null ? {} : { app }),
      ...(payload === null ? {} : { payload }),
    })),
  };
}

/**
 * Finds a live video and the account that it belongs to. If the page of the video has several accounts, the video belongs to the author of the
 * comment if the author is one of these accounts, otherwise to the first account.
 */
async function liveVideoOf(reader: Reader, world: World, id: NodeId, author: SocialAccountFacts): Promise<CommentedMedia> {
  const node = await findNode(reader, id);
  if (node?.type !== "live_video") throw unprocessable(`there is no live video ${id}`, "live_video");
  if (!(await world.ports.get("live_video").isShown(reader, node.owner, id)))
    throw unprocessable(`the live video ${id} is not published, so nobody can comment on it`, "live_video");
  const owners = await world.ports.get("social_account").accountsOfPage(reader, node.owner);
  const owner = owners.find((account) => account.id === author.id) ?? owners[0];
  if (owner === undefined) throw unprocessable(`the page ${node.owner} of the live video ${id} has no social account`, "live_video");
  return { id, owner: owner.id, media_product_type: LIVE_PRODUCT_TYPE };
}

interface NewComment {
  readonly text: string;
  readonly from: SocialAccountFacts;
}

async function commentOnMedia(tx: Transaction, world: World, { from, text }: NewComment, id: NodeId, field: CommentField): Promise<unknown> {
  const media = await mediaOf(tx, world, id);
  await world.ports.get("media_writes").countComment(tx, media.owner, id);
  return { id: await comment(tx, world, from, media, text, field) };
}

const commentInApp = ({ world, body }: ControlRequest<unknown, Static<typeof newComment>>) =>
  world.database.write(async (tx) =>
    commentOnMedia(tx, world, { from: await accountOf(tx, world, body.social_account), text: body.text }, body.media, "comments"),
  );

const commentLiveInApp = ({ world, body }: ControlRequest<unknown, Static<typeof newLiveComment>>) =>
  world.database.write(async (tx) => {
    const { media, live_video, text } = body;
    const from = await accountOf(tx, world, body.social_account);
    if (live_video === undefined) return commentOnMedia(tx, world, { from, text }, media as NodeId, "live_comments");
    return { id: await comment(tx, world, from, await liveVideoOf(tx, world, live_video, from), text, "live_comments") };
  });

const IN_APP = "/v1/worlds/{w}/in-app";

export const selfMessagingControlRoutes: readonly ControlRoute[] = [
  route(`POST ${IN_APP}/self-message`, "sendInApp", {
    summary: "Sends a message of an account to itself, as a person does in the app; subscribed apps get its echo",
    body: message,
    response: made,
    errors: [422],
    handle: sendInApp,
  }),
  route(`GET ${IN_APP}/messages`, "readInApp", {
    summary: `Lists the last ${THREAD_MESSAGES_MAX} messages of an account with itself, oldest first, with the buttons that were pressed`,
    query: threadQuery,
    response: thread,
    errors: [422],
    handle: readInApp,
  }),
  route(`POST ${IN_APP}/postback`, "pressInApp", {
    summary: "Presses a button in a message of an account to itself, as a person does in the app",
    body: postback,
    errors: [422],
    handle: pressInApp,
  }),
  route(`POST ${IN_APP}/comment`, "commentInApp", {
    summary: "Comments as an account, on its own post or on another account's post",
    body: newComment,
    response: made,
    errors: [422],
    handle: commentInApp,
  }),
  route(`POST ${IN_APP}/live-comment`, "commentLiveInApp", {
    summary: "Comments as an account on its own live video or on another account's, or on a media object as if the object were a live video",
    body: newLiveComment,
    response: made,
    errors: [422],
    handle: commentLiveInApp,
  }),
];
