/**
 * Which apps receive which webhooks of an account (SELF-4 to SELF-19, D-52). An app receives an event when all of these hold:
 *
 * | condition | clauses |
 * | --- | --- |
 * | the account is professional and connected to the app | SELF-17 |
 * | the app has messaging access | SELF-18 |
 * | its access level is advanced, or the account's person has a role on it | SELF-4, SELF-5 |
 * | it is subscribed to the field for the object `social` | SELF-15, SELF-16, SELF-19 |
 * | it has a valid token of either flow with that flow's scopes for the field | SELF-6 to SELF-14 |
 */
import type { AppFacts } from "#auth/app-facts";
import { type LiveToken, listLiveTokens } from "#auth/tokens.store";
import type { SocialAccountFacts } from "#features/social-accounts/api";
import { type NodeId, nodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";
import type { EventFacts } from "#webhooks/ports";
import {
  BUSINESS_ROLE_SCOPES,
  flows,
  isCovered,
  missingForSelfMessaging,
  type SelfMessagingField,
  selfMessagingFields,
} from "./self-messaging.flows.ts";

interface HeldToken extends Pick<LiveToken, "type" | "scopes"> {
  /** Whether the user of a page token has the role on the page through the business management tool. */
  readonly isRoleViaBusiness: boolean;
}

export interface OnboardingFacts {
  readonly field: SelfMessagingField;
  readonly account: Pick<SocialAccountFacts, "professional" | "app_connections">;
  readonly app: Pick<AppFacts, "id" | "messaging_access" | "access_level">;
  readonly isPersonOnApp: boolean;
  readonly isSubscribed: boolean;
  /** The app's valid tokens of the account and of its page. */
  readonly tokens: readonly HeldToken[];
}

/** Pure; defined for every combination of facts. */
export function receivesWebhook({ field, account, app, isPersonOnApp, isSubscribed, tokens }: OnboardingFacts): boolean {
  return isSubscribed && missingForSelfMessaging(account, app, isPersonOnApp) === undefined && tokens.some((token) => suffices(token, field));
}

function suffices({ type, scopes, isRoleViaBusiness }: HeldToken, field: SelfMessagingField): boolean {
  // SELF-14.
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
  // Checked first, because most connected apps are not subscribed.
  const app = isSubscribed ? await ports.get("app").findFacts(reader, id) : undefined;
  if (app === undefined) return undefined;
  const tokens: HeldToken[] = [];
  for (const token of await tokensOf(reader, id, account, nowSeconds)) {
    tokens.push({ ...token, isRoleViaBusiness: await isRoleViaBusiness(reader, ports, account, token) });
  }
  return { field, account, app, isSubscribed, isPersonOnApp: await isCovered(reader, ports, account, app), tokens };
}

/** The app's live tokens of the account and of its page. */
async function tokensOf(reader: Reader, app: NodeId, { id, page }: SocialAccountFacts, nowSeconds: number): Promise<LiveToken[]> {
  const own = await listLiveTokens(reader, app, "social_user", id, nowSeconds);
  return page === undefined ? own : [...own, ...(await listLiveTokens(reader, app, "page", page, nowSeconds))];
}

async function isRoleViaBusiness(reader: Reader, ports: PortRegistry, { page }: SocialAccountFacts, { type, user }: LiveToken): Promise<boolean> {
  if (type !== "page" || page === undefined || user === undefined) return false;
  return (await ports.get("page_role").findRole(reader, page, user))?.via_business === true;
}
