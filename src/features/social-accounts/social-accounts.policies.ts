/** Policies of professional social accounts, and what the policies of that which hangs on an account are made of. */
import { type PageRole, pageTasksOf } from "#auth/page-tasks";
import { definePolicy, type PolicyInput } from "#auth/policy";
import { socialAccountOf } from "./social-accounts.ports.ts";

/** The role of the caller on the page that the node's account belongs to. */
export async function roleOnPageOfAccount({ token, node, reader, ports, facts }: PolicyInput): Promise<PageRole | undefined> {
  const account = await socialAccountOf(node.owner, reader, ports, facts);
  if (account?.page === undefined || token.user === undefined) return undefined;
  return pageTasksOf(account.page, token.user, reader, ports, facts);
}

/** The account's own token, a token of its page, the person behind it, or a person with a role on its page. */
export async function canSeeAccount(input: PolicyInput): Promise<boolean> {
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
      return (token.user !== undefined && token.user === account.user) || (await roleOnPageOfAccount(input)) !== undefined;
    default:
      return false;
  }
}

export const socialAccount = definePolicy({
  name: "socialAccount",
  summary: "a token of the account or of its page, or of a person with a role on that page",
  kinds: ["social_user", "page", "user", "system_user"],
  scopes: [],
  canSee: canSeeAccount,
});
