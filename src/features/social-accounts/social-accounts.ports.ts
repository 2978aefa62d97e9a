/** What others ask of professional social accounts. */

import type { FactsOf } from "#auth/facts-of";
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";

export interface SocialAccountFacts {
  readonly id: NodeId;
  readonly username: string;
  /** The id under which the account is a recipient (D1, D-52); it leads to the account. */
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
  findAccount(reader: Reader, account: NodeId): Promise<SocialAccountFacts | undefined>;
  /** Those that belong to the page, by id. */
  accountsOfPage(reader: Reader, page: NodeId): Promise<readonly SocialAccountFacts[]>;
  /** By id, of those that exist. */
  findUsernames(reader: Reader, accounts: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

declare module "#kernel/ports" {
  interface Ports {
    social_account: SocialAccountPort;
  }
}

/** The fact's key is the account's id; the store invalidates it when the account changes. */
export const socialAccountFact = "social_account";

export function socialAccountOf(account: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Promise<SocialAccountFacts | undefined> {
  return facts<SocialAccountFacts>(socialAccountFact).get(account, () => ports.get("social_account").findAccount(reader, account));
}
