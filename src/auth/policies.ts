/**
 * D-16: for one app and principal, everything that a token may do is decided in this table.
 *
 * `sees` says whether the caller may know that the node exists; where it says no, the response is that of a missing node
 * (D-14). `refuses` says what else is missing once the node is seen. Scopes are checked in between.
 */
import { type GraphError, taskMissing } from "#kernel/errors";
import type { PageTask } from "./page-tasks.ts";
import { pageTasksOf } from "./page-tasks.ts";
import { appEventPolicies } from "./policies-app-events.ts";
import { catalogPolicies } from "./policies-catalogs.ts";
import { chatappPolicies } from "./policies-chatapp.ts";
import { livePolicies } from "./policies-live.ts";
import { microblogPolicies } from "./policies-microblog.ts";
import { socialPolicies } from "./policies-social.ts";
import { webhookPolicies } from "./policies-webhooks.ts";
import type { Policy, PolicyInput } from "./policy.ts";

/** A page token of that page, or a person (or system user) with any role on it. */
async function canSeePage({ token, node, reader, ports, facts }: PolicyInput): Promise<boolean> {
  if (token.type === "page") return token.page === node.owner;
  if (token.type !== "user" && token.type !== "system_user") return false;
  return token.user !== undefined && (await pageTasksOf(node.owner, token.user, reader, ports, facts)) !== undefined;
}

function onPage(summary: string, scopes: readonly string[], anyOf: readonly PageTask[]): Policy {
  return {
    summary,
    kinds: ["page", "user", "system_user"],
    scopes,
    canSee: (input) => (input.token.type === "page" ? input.token.page === input.node.owner : canSeePage(input)),
    deny: (input) => (input.token.type === "page" ? undefined : denyPerson(input, anyOf)),
  };
}

async function denyPerson({ token, node, reader, ports, facts }: PolicyInput, anyOf: readonly PageTask[]): Promise<GraphError | undefined> {
  if (token.user === undefined) return undefined;
  const role = await pageTasksOf(node.owner, token.user, reader, ports, facts);
  return anyOf.some((task) => role?.tasks.includes(task)) ? undefined : taskMissing(`the page task ${anyOf.join(" or ")}`);
}

export const policies = {
  /** D-13, A: `pages_messaging` on that page, with page task MESSAGING for a user token. */
  pageMessaging: onPage("a token of the page, or of a person with task MESSAGING on it", ["pages_messaging"], ["MESSAGING"]),

  /** AUTH-16, D-55: the tester rule is the operation's own; any live token may ask. */
  inspection: { summary: "a microblog tester of the inspected token's app", kinds: ["microblog_user", "app"], scopes: [], canSee: () => true },

  /** The app itself: its own app token, or a person with a role on it. */
  ownApp: {
    summary: "a token of that app: an app token, or of one of its administrators or developers",
    kinds: ["app", "user", "system_user"],
    scopes: [],
    canSee: ({ token, node }) => token.app === node.id,
    async deny({ token, node, reader, ports }) {
      if (token.type === "app" || token.user === undefined) return undefined;
      const roles = await ports.get("app").rolesOf(reader, node.id, token.user);
      return roles.some((role) => role === "administrator" || role === "developer")
        ? undefined
        : taskMissing("the role administrator or developer on the app");
    },
  },

  ...socialPolicies,
  ...webhookPolicies,
  ...chatappPolicies,
  ...catalogPolicies,
  ...livePolicies,
  ...microblogPolicies,
  ...appEventPolicies,

  /** For node types that the interface never shows as such. */
  nobody: { summary: "nobody", kinds: [], scopes: [], canSee: () => false },
} satisfies Record<string, Policy>;

export type PolicyName = keyof typeof policies;

export const policyOf = (name: PolicyName): Policy => policies[name];
