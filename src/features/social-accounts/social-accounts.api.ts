/** The facts about social accounts, and the functions for policies, that other features may import from the social-accounts feature. */
import type { FactsOf } from "#auth/app-facts";
import { type PageRole, pageTasksOf } from "#auth/page-policies";
import { definePolicy, type PolicyInput } from "#auth/policy";
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Awaitable } from "#kernel/turns";
import type { Reader } from "#storage/database";
import type { PageRequest } from "#storage/keyset";

export interface SocialAccountFacts {
  readonly id: NodeId;
  readonly username: string;
  /** The id of the account as a recipient of messages (D1, D-52). Requests can also address an account by its social-scoped id. */
  readonly social_scoped_id: NodeId | undefined;
  /** The page that the account belongs to. */
  readonly page: NodeId | undefined;
  /** The person behind the account. */
  readonly user: NodeId | undefined;
  readonly professional: boolean;
  /** The apps that the account is connected to. */
  readonly app_connections: readonly string[];
}

interface SocialAccountPort {
  /** Lists accounts ordered by id. The parameter `page` says how many accounts the function returns at most. */
  listAccounts(reader: Reader, page: PageRequest): Promise<readonly SocialAccountFacts[]>;
  findAccount(reader: Reader, account: NodeId): Promise<SocialAccountFacts | undefined>;
  /** Returns the accounts of the page, ordered by id. */
  accountsOfPage(reader: Reader, page: NodeId): Promise<readonly SocialAccountFacts[]>;
  /** Returns a map from the ids of accounts to their usernames. The map leaves out the ids of missing accounts. */
  findUsernames(reader: Reader, accounts: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

declare module "#kernel/ports" {
  interface Ports {
    social_account: SocialAccountPort;
  }
}

/** The cached facts of an account. The key is the account's id; the store invalidates the facts when the account changes. */
export const socialAccountFact = "social_account";

export function socialAccountOf(account: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Awaitable<SocialAccountFacts | undefined> {
  return facts<SocialAccountFacts>(socialAccountFact).get(account, () => ports.get("social_account").findAccount(reader, account));
}

/** Returns the caller's role on the page that the node's account belongs to. */
export async function roleOnPageOfAccount({ token, node, reader, ports, facts }: PolicyInput): Promise<PageRole | undefined> {
  const account = await socialAccountOf(node.owner, reader, ports, facts);
  if (account?.page === undefined || token.user === undefined) return undefined;
  return pageTasksOf(account.page, token.user, reader, ports, facts);
}

/**
 * Returns whether the caller may see the account: the caller has a token of the account or of its page, is the person behind the account, or has a
 * role on the account's page.
 */
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
