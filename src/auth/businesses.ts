/** Who works for a business. The businesses feature registers the reader. */
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";
import type { FactsOf } from "./facts-of.ts";

interface BusinessPort {
  exists(reader: Reader, business: NodeId): Promise<boolean>;
  hasPerson(reader: Reader, business: NodeId, user: NodeId): Promise<boolean>;
}

declare module "#kernel/ports" {
  interface Ports {
    business: BusinessPort;
  }
}

/** The fact is only ever kept as true; the businesses feature invalidates it when somebody leaves. */
export const businessPersonFact = "business_person";
export const businessPersonKey = (business: string, user: string): string => `${business} ${user}`;

export async function worksFor(business: NodeId, user: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Promise<boolean> {
  const load = async () => ((await ports.get("business").hasPerson(reader, business, user)) ? true : undefined);
  return (await facts<true>(businessPersonFact).get(businessPersonKey(business, user), load)) === true;
}
