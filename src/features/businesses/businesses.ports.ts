/** What others ask of businesses, and who works for one. */

import type { FactsOf } from "#auth/facts-of";
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

/** The fact is only ever kept as true; the store invalidates it when somebody leaves. */
export const businessPersonFact = "business_person";
export const businessPersonKey = (business: string, user: string): string => `${business} ${user}`;

export async function worksFor(business: NodeId, user: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Promise<boolean> {
  const load = async () => ((await ports.get("business").hasPerson(reader, business, user)) ? true : undefined);
  return (await facts<true>(businessPersonFact).get(businessPersonKey(business, user), load)) === true;
}
