/** The public API of the businesses feature, which stores businesses and the people who work for them. */
import { defineFeature } from "#graph/contract/feature";
import { namedNode } from "#graph/contract/named-node";
import { ownBusiness } from "./businesses.api.ts";
import { businessMigrations, businessTable, hasPerson, leaveBusinesses } from "./businesses.store.ts";
import { businessSection } from "./businesses.world.ts";

export const businesses = defineFeature({
  name: "businesses",
  migrations: businessMigrations,
  policies: [ownBusiness],
  nodeTypes: [namedNode({ type: "business", policy: ownBusiness, operation: "readBusiness", find: businessTable.find })],
  worldSections: [businessSection],
  onOwnerDeleted: leaveBusinesses,
  ports: () => ({
    business: { hasPerson, exists: async (reader, business) => (await businessTable.find(reader, business)) !== undefined },
  }),
});
