/** The public API of the businesses feature. */
import { defineFeature, nodeType } from "#graph/contract/feature";
import { ownBusiness } from "./businesses.api.ts";
import { businessNode, readBusiness } from "./businesses.contract.ts";
import { businessMigrations } from "./businesses.migrations.ts";
import { type BusinessRow, findBusiness, hasPerson, leaveBusinesses } from "./businesses.store.ts";
import { businessSection } from "./businesses.world.ts";

export const businesses = defineFeature({
  name: "businesses",
  migrations: businessMigrations,
  policies: [ownBusiness],
  nodeTypes: [
    nodeType<BusinessRow>({
      type: "business",
      policy: ownBusiness,
      reading: { ...readBusiness, set: businessNode, find: (_request, reader, node) => findBusiness(reader, node.id) },
    }),
  ],
  worldSections: [businessSection],
  onOwnerDeleted: leaveBusinesses,
  ports: () => ({
    business: { hasPerson, exists: async (reader, business) => (await findBusiness(reader, business)) !== undefined },
  }),
});
