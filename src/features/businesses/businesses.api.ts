/** The port, the policy and the function `worksFor` of the businesses feature, which other features may import. */
import type { FactsOf } from "#auth/app-facts";
import { definePolicy } from "#auth/policy";
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";

interface BusinessPort {
  exists(reader: Reader, business: NodeId): Promise<boolean>;
  hasPerson(reader: Reader, business: NodeId, user: NodeId): Promise<boolean>;
}

declare module "#kernel/ports" {
  interface Ports {
    business: BusinessPort;
  }
}

/**
 * The cached fact that a person works for a business. The cache has no entry for a person who does not work for the business. The store removes the
 * cached fact when a person leaves the business.
 */
export const businessPersonFact = "business_person";
export const businessPersonKey = (business: string, user: string): string => `${business} ${user}`;

export async function worksFor(business: NodeId, user: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Promise<boolean> {
  const load = async () => ((await ports.get("business").hasPerson(reader, business, user)) ? true : undefined);
  return (await facts<true>(businessPersonFact).get(businessPersonKey(business, user), load)) === true;
}

/** D-165: the policy of reading a business. */
export const ownBusiness = definePolicy({
  name: "ownBusiness",
  summary: "a token of a person who works for the business",
  kinds: ["user", "system_user"],
  scopes: [],
  canSee: ({ token, node, reader, ports, facts }) =>
    (token.type === "user" || token.type === "system_user") && token.user !== undefined && worksFor(node.id, token.user, reader, ports, facts),
});
