/** Media in which other accounts tagged a professional account (E1, D-35, D-53). */

import type { Failure } from "../errors.ts";
import { objectShape, type Shape } from "../fields.ts";
import { replyWithList } from "../lists.ts";
import type { Media, Token } from "../nodes.ts";
import type { Operation, Turn } from "../operations.ts";
import type { Reply } from "../replies.ts";
import { Hole } from "../replies.ts";
import type { World } from "../world.ts";

const NAMES = [
  ...["id", "caption", "comments_count", "like_count", "media_product_type", "media_type", "media_url", "owner", "permalink", "shortcode"],
  ...["thumbnail_url", "timestamp", "username"],
] as const;

const owner: Shape = { ...objectShape("id", "username"), defaults: ["id"], always: ["id"] };
const child: Shape = { fields: { ...objectShape(...NAMES).fields, owner }, defaults: ["id"], always: ["id"] };
const shape: Shape = { ...child, fields: { ...child.fields, children: { ...child, isEdge: true } } };

/** Expects a time of ISO 8601 that means this moment. */
export const time = (seconds: number): Hole =>
  new Hole(`the time ${seconds}`, (actual) =>
    typeof actual === "string" && Date.parse(actual.replace(/([+-]\d\d)(\d\d)$/, "$1:$2")) === seconds * 1000
      ? undefined
      : `${JSON.stringify(actual)} is not ${seconds}`,
  );

function shown(world: World, media: Media): Record<string, unknown> {
  const { children, private: _, tagged: __, timestamp, ...plain } = media;
  const { id, username } = world.social_accounts.get(media.owner) ?? {};
  return { ...plain, timestamp: time(timestamp), username, owner: { id, username }, ...childrenOf(world, media) };
}

function childrenOf(world: World, { children }: Media): { children?: unknown } {
  const open = children.flatMap((id) => world.media.get(id) ?? []).filter((one) => !one.private);
  return open.length === 0 ? {} : { children: { data: open.map((one) => shown(world, one)) } };
}

function isProfessional(world: World, node: string): boolean {
  const is = world.social_accounts.get(node)?.professional === true;
  if (!is) world.reach("tagsProfessional");
  return is;
}

/** A number that is greater than every id, so that rows of the same second have an order. */
const IDS = 2n ** 63n;

function listTags(turn: Turn): Reply | Failure[] {
  const { world, node } = turn;
  const all = [...world.media.values()].filter(({ tagged, owner: by }) => tagged.includes(node) && by !== node);
  if (all.some((one) => one.private)) world.reach("tagsPrivate");
  const rows = all.filter((one) => !one.private).map((one) => ({ key: BigInt(one.timestamp) * IDS + BigInt(one.id), value: shown(world, one) }));
  return replyWithList(turn, { list: `listTags ${node}`, rows, shape, hasLinks: false });
}

const TASKS: readonly string[] = ["MANAGE", "CREATE_CONTENT", "MODERATE"];

function mayRead(world: World, token: Token, node: string): boolean {
  const page = world.pages.get(world.social_accounts.get(node)?.page ?? "");
  const role = page?.roles.find(({ user }) => user === token.user);
  return token.type !== "user" || (role?.tasks.some((task) => TASKS.includes(task)) ?? false);
}

/** Whether a person lacks the ads scopes: a role that came through the business tool also needs one of two scopes. */
function lacksAds(world: World, token: Token, node: string): boolean {
  const page = world.pages.get(world.social_accounts.get(node)?.page ?? "");
  const isViaBusiness = page?.roles.find(({ user }) => user === token.user)?.via_business === true;
  if (isViaBusiness) world.reach("tagsViaBusiness");
  return isViaBusiness && !token.scopes.includes("ads_read") && !token.scopes.includes("ads_management");
}

export const mediaOperations: readonly Operation[] = [
  {
    ...{ name: "listTags", method: "GET", edge: "tags", on: "social_account", surfaces: ["base"], form: "wrapped", scheme: "query", kinds: ["user"] },
    scopes: ["social_basic", "social_manage_comments", "pages_read_engagement"],
    isThere: isProfessional,
    lacksScope: lacksAds,
    hasTask: mayRead,
    reply: listTags,
  },
];
