/**
 * The onboarding table of self messaging (SELF-4 to SELF-19, D-52): the conditions under which an app may send messages for an account and gets the
 * account's webhooks.
 *
 * | | flow with user token | flow with page token |
 * | --- | --- | --- |
 * | token | of the account | of the account's page |
 * | messages | social_business_basic, social_business_manage_messages | the same |
 * | comments, live_comments | social_business_basic, social_business_manage_comments | social_basic, social_manage_comments, pages_read_engagement; ads_management and ads_read besides, if the role is via business |
 *
 * An app receives an event of an account if all of the following conditions hold:
 *
 * | condition | clauses |
 * | --- | --- |
 * | the account is professional and connected to the app | SELF-17 |
 * | the app has messaging access | SELF-18 |
 * | the app's access level is advanced, or the account's person has a role on it | SELF-4, SELF-5 |
 * | the app is subscribed to the field for the object `social` | SELF-15, SELF-16, SELF-19 |
 * | the app has a valid token of either flow with that flow's scopes for the field | SELF-6 to SELF-14 |
 */
import type { AppFacts } from "#auth/app-facts";
import { definePolicy } from "#auth/policy";
import type { Token } from "#auth/token";
import { type LiveToken, listLiveTokens } from "#auth/tokens.store";
import { type SocialAccountFacts, socialAccountOf } from "#features/social-accounts/api";
import { taskMissing } from "#kernel/errors";
import { type NodeId, nodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";
import type { EventFacts } from "#webhooks/ports";

/** SELF-15, SELF-16: the webhook fields of self messaging. */
const selfMessagingFields = ["messages", "comments", "live_comments"] as const;
export type SelfMessagingField = (typeof selfMessagingFields)[number];

const MESSAGE_SCOPES = ["social_business_basic", "social_business_manage_messages"];

/** The scopes that each webhook field needs, by the kind of token that the flow uses (SELF-6, SELF-7). */
export const flows: Readonly<Record<"social_user" | "page", Readonly<Record<SelfMessagingField, readonly string[]>>>> = {
  social_user: {
    messages: MESSAGE_SCOPES,
    comments: ["social_business_basic", "social_business_manage_comments"],
    live_comments: ["social_business_basic", "social_business_manage_comments"],
  },
  page: {
    messages: MESSAGE_SCOPES,
    comments: ["social_basic", "social_manage_comments", "pages_read_engagement"],
    live_comments: ["social_basic", "social_manage_comments", "pages_read_engagement"],
  },
};

/**
 * SELF-14: the further scopes that a page token needs for comments if the user's role on the page was given through a business. Such a page token
 * needs both `ads_management` and `ads_read`.
 */
export const BUSINESS_ROLE_SCOPES: readonly string[] = ["ads_management", "ads_read"];

/** Returns whether a token can be used for the account: the token belongs to the account itself, or to the account's page. */
function isOfFlow(token: Pick<Token, "type" | "page" | "social_account">, account: SocialAccountFacts): boolean {
  if (token.type === "social_user") return token.social_account === account.id;
  return token.type === "page" && token.page !== undefined && token.page === account.page;
}

/**
 * Returns a text with the condition that the app lacks for sending messages for the account, or undefined if the app meets all conditions.
 * `isPersonOnApp` says whether the person behind the account has a role on the app.
 */
function missingForSelfMessaging(
  account: Pick<SocialAccountFacts, "professional" | "app_connections">,
  app: Pick<AppFacts, "id" | "messaging_access" | "access_level">,
  isPersonOnApp: boolean,
): string | undefined {
  if (!account.professional) return "a professional account";
  if (!account.app_connections.includes(app.id)) return "an account that is connected to the app";
  if (!app.messaging_access) return "business messaging access of the app";
  // SELF-4, SELF-5, D-52: standard access covers the accounts of people who have a role on the app; advanced access covers all accounts.
  if (app.access_level === "standard" && !isPersonOnApp) return "advanced access, or a role on the app for the person behind the account";
  return undefined;
}

/**
 * Returns whether the app's access level covers the account. Advanced access covers all accounts, so the function looks up roles only for standard
 * access.
 */
async function isCovered(
  reader: Reader,
  ports: PortRegistry,
  account: Pick<SocialAccountFacts, "user">,
  app: Pick<AppFacts, "id" | "access_level">,
): Promise<boolean> {
  if (app.access_level === "advanced") return true;
  return account.user !== undefined && (await ports.get("app").rolesOf(reader, app.id, account.user)).length > 0;
}

/** The policy of sending a message from an account to itself (D-13, D-52, D-133, SELF-4 to SELF-11, SELF-17, SELF-18). */
export const selfMessagingPolicy = definePolicy({
  name: "selfMessaging",
  summary:
    "a token of the account, or of its page; the account is professional and connected to the app, and the app has messaging access and, at access level standard, a role for the person behind the account",
  kinds: ["page", "social_user"],
  scopes: flows.page.messages,
  // D-52: a caller cannot see the accounts of others, so a request for such an account gets the same error as a request for a missing account.
  async canSee({ token, node, reader, ports, facts }) {
    const account = await socialAccountOf(node.owner, reader, ports, facts);
    return account !== undefined && isOfFlow(token, account);
  },
  async deny({ app, node, reader, ports, facts }) {
    const account = await socialAccountOf(node.owner, reader, ports, facts);
    if (account === undefined) return undefined;
    const missing = missingForSelfMessaging(account, app, await isCovered(reader, ports, account, app));
    return missing === undefined ? undefined : taskMissing(missing);
  },
});

interface HeldToken extends Pick<LiveToken, "type" | "scopes"> {
  /** Whether the user of a page token has a role on the page that was given through the business management tool. */
  readonly isRoleViaBusiness: boolean;
}

export interface OnboardingFacts {
  readonly field: SelfMessagingField;
  readonly account: Pick<SocialAccountFacts, "professional" | "app_connections">;
  readonly app: Pick<AppFacts, "id" | "messaging_access" | "access_level">;
  readonly isPersonOnApp: boolean;
  readonly isSubscribed: boolean;
  /** The valid tokens of the app that belong to the account or to the account's page. */
  readonly tokens: readonly HeldToken[];
}

/** Returns whether the app receives an event of the account. The function is pure: its result depends only on its parameters. */
export function receivesWebhook({ field, account, app, isPersonOnApp, isSubscribed, tokens }: OnboardingFacts): boolean {
  return isSubscribed && missingForSelfMessaging(account, app, isPersonOnApp) === undefined && tokens.some((token) => suffices(token, field));
}

function suffices({ type, scopes, isRoleViaBusiness }: HeldToken, field: SelfMessagingField): boolean {
  // SELF-14: if the user's role comes from a business, webhooks of comments need more scopes.
  const more = type === "page" && field !== "messages" && isRoleViaBusiness ? BUSINESS_ROLE_SCOPES : [];
  return [...flows[type][field], ...more].every((scope) => scopes.includes(scope));
}

const isField = (field: string): field is SelfMessagingField => selfMessagingFields.some((one) => one === field);

export async function subscribersOfSocialAccount(reader: Reader, ports: PortRegistry, event: EventFacts, nowMs: number): Promise<NodeId[]> {
  const { field, entity } = event;
  const account = await ports.get("social_account").findAccount(reader, entity);
  if (account === undefined || !isField(field)) return [];
  const subscribers: NodeId[] = [];
  for (const id of account.app_connections) {
    const facts = await factsOf(reader, ports, nodeId(id), account, field, Math.floor(nowMs / 1000));
    if (facts !== undefined && receivesWebhook(facts)) subscribers.push(facts.app.id);
  }
  return subscribers;
}

async function factsOf(
  reader: Reader,
  ports: PortRegistry,
  id: NodeId,
  account: SocialAccountFacts,
  field: SelfMessagingField,
  nowSeconds: number,
): Promise<OnboardingFacts | undefined> {
  const isSubscribed = await ports.get("webhook_subscription").isSubscribed(reader, id, "social", field);
  // The subscription is checked before the app is read, because most connected apps are not subscribed.
  const app = isSubscribed ? await ports.get("app").findFacts(reader, id) : undefined;
  if (app === undefined) return undefined;
  const tokens: HeldToken[] = [];
  for (const token of await tokensOf(reader, id, account, nowSeconds)) {
    tokens.push({ ...token, isRoleViaBusiness: await isRoleViaBusiness(reader, ports, account, token) });
  }
  return { field, account, app, isSubscribed, isPersonOnApp: await isCovered(reader, ports, account, app), tokens };
}

/** Returns the app's live tokens of the account and of the account's page. */
async function tokensOf(reader: Reader, app: NodeId, { id, page }: SocialAccountFacts, nowSeconds: number): Promise<LiveToken[]> {
  const own = await listLiveTokens(reader, app, "social_user", id, nowSeconds);
  return page === undefined ? own : [...own, ...(await listLiveTokens(reader, app, "page", page, nowSeconds))];
}

async function isRoleViaBusiness(reader: Reader, ports: PortRegistry, { page }: SocialAccountFacts, { type, user }: LiveToken): Promise<boolean> {
  if (type !== "page" || page === undefined || user === undefined) return false;
  return (await ports.get("page_role").findRole(reader, page, user))?.via_business === true;
}
