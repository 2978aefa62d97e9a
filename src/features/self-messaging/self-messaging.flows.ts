/**
 * The onboarding table of self messaging (SELF-4 to SELF-19, D-52): what an app needs of an account before it may send for
 * it and get its webhooks. D1's policy asks it, and so does the port that says which app gets which webhook.
 *
 * | | flow with user token | flow with page token |
 * | --- | --- | --- |
 * | token | of the account | of the account's page |
 * | messages | social_business_basic, social_business_manage_messages | the same |
 * | comments, live_comments | social_business_basic, social_business_manage_comments | social_basic, social_manage_comments, pages_read_engagement; ads_management and ads_read besides, if the role is via business |
 */

import type { AppFacts } from "#auth/app-facts";
import type { Token } from "#auth/token";
import type { SocialAccountFacts } from "#features/social-accounts/api";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";

/** SELF-15, SELF-16. */
export const selfMessagingFields = ["messages", "comments", "live_comments"] as const;
export type SelfMessagingField = (typeof selfMessagingFields)[number];

const MESSAGE_SCOPES = ["social_business_basic", "social_business_manage_messages"];

/** By the kind of token that a flow uses (SELF-6, SELF-7): the scopes for each field. */
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

/** SELF-14: both, for comments in the flow with page token. */
export const BUSINESS_ROLE_SCOPES: readonly string[] = ["ads_management", "ads_read"];

/** Whether the token is one of a flow for this account: its own, or its page's. */
export function isOfFlow(token: Pick<Token, "type" | "page" | "social_account">, account: SocialAccountFacts): boolean {
  if (token.type === "social_user") return token.social_account === account.id;
  return token.type === "page" && token.page !== undefined && token.page === account.page;
}

/** `isPersonOnApp`: the person behind the account has a role on the app. Returns what is missing, in words. */
export function missingForSelfMessaging(
  account: Pick<SocialAccountFacts, "professional" | "app_connections">,
  app: Pick<AppFacts, "id" | "messaging_access" | "access_level">,
  isPersonOnApp: boolean,
): string | undefined {
  if (!account.professional) return "a professional account";
  if (!account.app_connections.includes(app.id)) return "an account that is connected to the app";
  if (!app.messaging_access) return "business messaging access of the app";
  // SELF-4, SELF-5, D-52: standard access covers accounts of people with a role on the app, advanced all.
  if (app.access_level === "standard" && !isPersonOnApp) return "advanced access, or a role on the app for the person behind the account";
  return undefined;
}

/** Whether standard access covers the account. Where the level does not ask it, no role is looked up. */
export async function isCovered(
  reader: Reader,
  ports: PortRegistry,
  account: Pick<SocialAccountFacts, "user">,
  app: Pick<AppFacts, "id" | "access_level">,
): Promise<boolean> {
  if (app.access_level === "advanced") return true;
  return account.user !== undefined && (await ports.get("app").rolesOf(reader, app.id, account.user)).length > 0;
}
