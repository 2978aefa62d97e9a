/** The public API of the businesses feature. */
import type { Feature } from "#graph/contract/feature";
import { businessMigrations } from "./businesses.migrations.ts";
import { findBusiness, hasPerson, leaveBusinesses } from "./businesses.store.ts";
import { businessSection } from "./businesses.world.ts";

export const businesses: Feature = {
  name: "businesses",
  migrations: businessMigrations,
  nodeTypes: [{ type: "business", policy: "nobody" }],
  sections: [businessSection],
  forgetOwner: leaveBusinesses,
  registerPorts(ports) {
    ports.register("business", { hasPerson, exists: async (reader, business) => (await findBusiness(reader, business)) !== undefined });
  },
};
