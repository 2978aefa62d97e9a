/** Policies of webhook subscriptions, and of what an account sends to itself. */
import { otherRecipient, taskMissing } from "#kernel/errors";
import type { Policy } from "./policy.ts";
import { flows, isCovered, isOfFlow, missingForSelfMessaging } from "./self-messaging.ts";
import { socialAccountOf } from "./social-accounts.ts";

export const webhookPolicies = {
  /** D-60. */
  appSubscriptions: { summary: "the app's own app token", kinds: ["app"], scopes: [], canSee: ({ token, node }) => token.app === node.id },

  /** D-60: the calling app is subscribed, or lists who is. */
  pageSubscriptions: { summary: "a token of the page", kinds: ["page"], scopes: [], canSee: ({ token, node }) => token.page === node.owner },

  /** D-13, D-52, D-133, SELF-4 to SELF-11, SELF-17, SELF-18. */
  selfMessaging: {
    summary:
      "a token of the account, or of its page; the account is professional and connected to the app, and the app has messaging access and, at access level standard, a role for the person behind the account",
    kinds: ["page", "social_user"],
    scopes: flows.page.messages,
    // D-52: whoever sends to another account's id is told just that.
    canSee: () => true,
    async deny({ token, app, node, reader, ports, facts }) {
      const account = await socialAccountOf(node.owner, reader, ports, facts);
      if (account === undefined || !isOfFlow(token, account)) return otherRecipient();
      const missing = missingForSelfMessaging(account, app, await isCovered(reader, ports, account, app));
      return missing === undefined ? undefined : taskMissing(missing);
    },
  },
} satisfies Record<string, Policy>;
