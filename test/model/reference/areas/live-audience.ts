/** Comments and reactions on live videos, on the page where the video began (D-51, D-113, LIVE-26). */

import type { Failure } from "../errors.ts";
import { objectShape, type Shape } from "../fields.ts";
import { replyWithList } from "../lists.ts";
import type { LiveVideo } from "../nodes.ts";
import type { Operation, Turn } from "../operations.ts";
import { type Reply, success } from "../replies.ts";
import { asText, characters, parameter } from "../requests.ts";
import type { World } from "../world.ts";
import { isPublished, isTakenDown } from "./live-states.ts";
import { OF_OWN_PAGE } from "./live-videos.ts";
import { time } from "./tagged-media.ts";

const from: Shape = { ...objectShape("id", "name"), always: ["id"] };
const commentShape: Shape = {
  fields: { ...objectShape("id", "message", "created_time").fields, from },
  defaults: ["id", "message", "from", "created_time"],
  always: ["id"],
};
const reactionShape: Shape = { fields: { id: true, type: true, from }, defaults: ["id", "type"], always: ["id"] };

const videoOf = ({ world, node }: Turn): LiveVideo => world.live_videos.get(node) as LiveVideo;

/** The actor as responses show it: pages with their name, and people without a name. */
function shownActor({ pages }: World, id: string): unknown {
  const name = pages.get(id)?.name;
  return name === undefined ? { id } : { id, name };
}

function listComments(turn: Turn): Reply | Failure[] {
  const rows = videoOf(turn).comments.map(({ id, message, actor, created_time }) => ({
    key: BigInt(id),
    value: { id, message, from: shownActor(turn.world, actor), created_time: time(created_time) },
  }));
  return replyWithList(turn, { list: `listLiveComments ${turn.node}`, rows, shape: commentShape });
}

/** A number that is greater than every id, so that rows of the same second have an order. */
const IDS = 2n ** 63n;

function listReactions(turn: Turn): Reply | Failure[] {
  const rows = [...videoOf(turn).reactions].map(([actor, { type, time: at }]) => ({
    key: BigInt(at) * IDS + BigInt(actor),
    value: { id: actor, type, from: shownActor(turn.world, actor) },
  }));
  return replyWithList(turn, { list: `listLiveReactions ${turn.node}`, rows, shape: reactionShape });
}

/** The actor of a request. A user token acts as its person, any other token as the page. */
function actorOf({ tokens: [{ type, user }], ...turn }: Turn): string {
  return type === "user" && user !== undefined ? user : videoOf({ ...turn, tokens: [] as never }).page;
}

function isClosed(turn: Turn): boolean {
  const video = videoOf(turn);
  if (isTakenDown(video)) turn.world.reach("liveTakenDown");
  else if (!isPublished(video)) turn.world.reach("liveUnpublished");
  return !isPublished(video);
}

function comment(turn: Turn): Reply {
  const { world, request, fail } = turn;
  const message = asText(parameter(request, "message"));
  if (message === undefined || characters(message) < 1 || characters(message) > 8_000) {
    world.reach("liveText");
    return fail("invalidParameter");
  }
  if (isClosed(turn)) return fail("invalidParameter");
  const id = turn.mint();
  videoOf(turn).comments.push({ id, actor: actorOf(turn), message, created_time: world.now });
  return success({ id });
}

const TYPES: readonly unknown[] = ["LIKE", "LOVE", "CARE", "HAHA", "WOW", "SAD", "ANGRY"];

function react(turn: Turn): Reply {
  const { world, request, fail } = turn;
  const type = parameter(request, "type");
  if (!TYPES.includes(type) || isClosed(turn)) return fail("invalidParameter");
  const { reactions } = videoOf(turn);
  const actor = actorOf(turn);
  if (reactions.has(actor)) world.reach("liveReactionTwice");
  reactions.set(actor, { type: String(type), time: world.now });
  return success({ success: true });
}

const ofVideo = { ...OF_OWN_PAGE, on: "live_video" } as const;

export const audienceOperations: readonly Operation[] = [
  { ...ofVideo, name: "listLiveComments", method: "GET", edge: "comments", reply: listComments },
  { ...ofVideo, name: "createLiveComment", method: "POST", edge: "comments", reply: comment },
  { ...ofVideo, name: "listLiveReactions", method: "GET", edge: "reactions", reply: listReactions },
  { ...ofVideo, name: "createLiveReaction", method: "POST", edge: "reactions", reply: react },
];
