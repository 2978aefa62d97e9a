import { definePolicy } from "#auth/policy";
import { socialAccountOf } from "#features/social-accounts/api";
import { taskMissing } from "#kernel/errors";
import { flows, isCovered, isOfFlow, missingForSelfMessaging } from "./self-messaging.flows.ts";

/** D-13, D-52, D-133, SELF-4 to SELF-11, SELF-17, SELF-18. */
export const selfMessagingPolicy = definePolicy({
  name: "selfMessaging",
  summary:
    "a token of the account, or of its page; the account is professional and connected to the app, and the app has messaging access and, at access level standard, a role for the person behind the account",
  kinds: ["page", "social_user"],
  scopes: flows.page.messages,
  // D-52: the id of another account is for the caller one that does not exist.
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
