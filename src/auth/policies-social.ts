/** Policies of professional social accounts: E1 (and whatever else hangs on an account). */
import { permissionMissing, taskMissing } from "#kernel/errors";
import { type PageRole, pageTasksOf } from "./page-tasks.ts";
import type { Policy, PolicyInput } from "./policy.ts";
import { socialAccountOf } from "./social-accounts.ts";

async function roleOnItsPage({ token, node, reader, ports, facts }: PolicyInput): Promise<PageRole | undefined> {
  const account = await socialAccountOf(node.owner, reader, ports, facts);
  if (account?.page === undefined || token.user === undefined) return undefined;
  return pageTasksOf(account.page, token.user, reader, ports, facts);
}

/** The account's own token, a token of its page, the person behind it, or a person with a role on its page. */
async function canSeeAccount(input: PolicyInput): Promise<boolean> {
  const { token, node, reader, ports, facts } = input;
  const account = await socialAccountOf(node.owner, reader, ports, facts);
  if (account === undefined) return false;
  switch (token.type) {
    case "social_user":
      return token.social_account === account.id;
    case "page":
      return account.page !== undefined && token.page === account.page;
    case "user":
    case "system_user":
      return (token.user !== undefined && token.user === account.user) || (await roleOnItsPage(input)) !== undefined;
    default:
      return false;
  }
}

/** AUTH-14, D-13: the page tasks that match the permissions, any one of them. */
const TAG_TASKS = ["MANAGE", "CREATE_CONTENT", "MODERATE"];
/** AUTH-13: either one, when the role came through the business management tool. */
const BUSINESS_SCOPES = ["ads_management", "ads_read"];

export const socialPolicies = {
  socialAccount: {
    summary: "a token of the account or of its page, or of a person with a role on that page",
    kinds: ["social_user", "page", "user", "system_user"],
    scopes: [],
    canSee: canSeeAccount,
  },

  /** AUTH-9 to AUTH-14. */
  taggedMedia: {
    summary:
      "a user token with a task MANAGE, CREATE_CONTENT or MODERATE on the account's page; ads_management or ads_read besides, if the role is via business",
    kinds: ["user"],
    scopes: ["social_basic", "social_manage_comments", "pages_read_engagement"],
    canSee: canSeeAccount,
    async deny(input) {
      const role = await roleOnItsPage(input);
      if (role === undefined || !TAG_TASKS.some((task) => role.tasks.includes(task)))
        return taskMissing(`one of the page tasks ${TAG_TASKS.join(", ")}`);
      const hasBusinessScope = BUSINESS_SCOPES.some((scope) => input.token.scopes.includes(scope));
      return role.via_business && !hasBusinessScope ? permissionMissing([BUSINESS_SCOPES.join(" or ")]) : undefined;
    },
  },
} satisfies Record<string, Policy>;
