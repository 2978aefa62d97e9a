/** The public API of the businesses feature. */
import { nobody } from "#auth/policy";
import { defineFeature } from "#graph/contract/feature";
import { businessMigrations } from "./businesses.migrations.ts";
import { findBusiness, hasPerson, leaveBusinesses } from "./businesses.store.ts";
import { businessSection } from "./businesses.world.ts";

export const businesses = defineFeature({
  name: "businesses",
  migrations: businessMigrations,
  nodeTypes: [{ type: "business", policy: nobody }],
  worldSections: [businessSection],
  onOwnerDeleted: leaveBusinesses,
  ports: () => ({
    business: { hasPerson, exists: async (reader, business) => (await findBusiness(reader, business)) !== undefined },
  }),
});
