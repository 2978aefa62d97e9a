/** Social accounts: messages to oneself, and webhooks about accounts (D1, D-52, D-133, D-134). */

import { problemOf } from "../credentials.ts";
import type { Failure } from "../errors.ts";
import type { SocialAccount, Token, TokenKind } from "../nodes.ts";
import type { Operation, Turn } from "../operations.ts";
import { type Reply, success } from "../replies.ts";
import { asObject, characters, parameter, type Surface } from "../requests.ts";
import { accountOfScoped, emit, type World } from "../world.ts";

const MESSAGES = ["social_business_basic", "social_business_manage_messages"] as const;
const COMMENTS = ["social_business_basic", "social_business_manage_comments"] as const;
const COMMENTS_OF_PAGE = ["social_basic", "social_manage_comments", "pages_read_engagement"] as const;

/**
 * Whether an account is professional and connected to an app with messaging access. At the access level `standard`, the account's person also needs a
 * role on the app.
 */
function isOnboarded(world: World, { professional, app_connections, user }: SocialAccount, id: string): boolean {
  const app = world.apps.get(id);
  if (app === undefined || !professional || !app_connections.includes(id) || !app.messaging_access) return false;
  return app.access_level === "advanced" || app.roles.some((role) => role.user !== undefined && role.user === user);
}

/** Whether a token gives its app access to the data of the account. An app without a token for the account gets no webhooks of the account. */
function givesAccess(world: World, token: Token, { id, page: pageId }: SocialAccount, field: string): boolean {
  const { type, scopes, data_access_expires_at: end } = token;
  if (problemOf(world, token) !== undefined || (end !== 0 && end <= world.now)) return false;
  const has = (all: readonly string[]): boolean => all.every((scope) => scopes.includes(scope));
  if (type === "social_user") return token.social_account === id && has(field === "messages" ? MESSAGES : COMMENTS);
  if (type !== "page" || token.page !== pageId || pageId === undefined) return false;
  if (field === "messages") return has(MESSAGES);
  const isViaBusiness = world.pages.get(pageId)?.roles.find(({ user }) => user === token.user)?.via_business === true;
  return has(isViaBusiness ? [...COMMENTS_OF_PAGE, "ads_management", "ads_read"] : COMMENTS_OF_PAGE);
}

function emitOfAccount(world: World, account: SocialAccount, field: string, value: unknown): void {
  for (const app of world.apps.keys()) {
    emit(world, { app, object: "social", entity: account.id, field, value }, () => {
      const own = world.subscriptions.get(app)?.get("social");
      if (own?.fields.has(field) !== true || !isOnboarded(world, account, app)) return undefined;
      const hasAccess = [...world.tokens.values()].some((token) => token.app === app && givesAccess(world, token, account, field));
      world.reach(hasAccess ? "accountWebhook" : "accountWithoutToken");
      return hasAccess ? own.callback : undefined;
    });
  }
}

export function emitEcho(world: World, account: SocialAccount, mid: string, text: string): void {
  emitOfAccount(world, account, "messages", {
    ...{ sender: { id: account.id }, recipient: { id: account.social_scoped_id }, timestamp: world.now * 1000 },
    message: { mid, text, is_echo: true, is_self: true },
  });
}

export function emitPostback(world: World, account: SocialAccount, { title, payload, mid }: Readonly<Record<string, string>>): void {
  emitOfAccount(world, account, "messages", {
    ...{ sender: { id: account.social_scoped_id }, recipient: { id: account.id }, timestamp: world.now * 1000, is_self: true },
    postback: { title, payload, mid },
  });
}

/** Emits the webhook of a comment to the owner of the media (D-134). */
export function emitComment(world: World, from: SocialAccount, { media: id = "", text }: Readonly<Record<string, string>>, comment: string): void {
  const media = world.media.get(id);
  const owner = world.social_accounts.get(media?.owner ?? "");
  if (media === undefined || owner === undefined) return;
  const self = owner.id === from.id ? { self_social_scoped_id: from.social_scoped_id } : {};
  emitOfAccount(world, owner, "comments", {
    ...{ id: comment, text, from: { id: from.id, username: from.username, ...self } },
    media: { id, media_product_type: media.media_product_type },
  });
}

/** The text of the message in the request, or the error in it. */
function readText({ world, request, fail }: Turn): string | Failure {
  const message = asObject(parameter(request, "message"));
  const { text, quick_replies } = message ?? {};
  if (quick_replies !== undefined) world.reach("quickReplies");
  if (typeof text === "string" && characters(text) >= 1 && characters(text) <= 1000 && quick_replies === undefined) return text;
  if (quick_replies === undefined) world.reach("messageText");
  return fail("invalidParameter");
}

function sendSelfMessage(turn: Turn): Reply {
  const { world, node } = turn;
  const text = readText(turn);
  if (typeof text !== "string") return text;
  const id = turn.observedId() ?? "an id";
  emitEcho(world, accountOfScoped(world, node) as SocialAccount, id, text);
  return success({ id });
}

const flow = (surface: Surface, kind: TokenKind): Operation => ({
  ...{
    name: "sendSelfMessage",
    method: "POST",
    edge: "messages",
    on: "social_scoped_account",
    surfaces: [surface],
    form: "wrapped",
    scheme: "header",
  },
  ...{ kinds: [kind], scopes: MESSAGES },
  hasTask: (world, { app }, node) => isOnboarded(world, accountOfScoped(world, node) as SocialAccount, app),
  reply: sendSelfMessage,
});

export const accountOperations: readonly Operation[] = [flow("base", "page"), flow("social_login", "social_user")];
