/** The door of the businesses room. */
import type { Room } from "#graph/room";
import { businessMigrations } from "./businesses.migrations.ts";
import { findBusiness, hasPerson, leaveBusinesses } from "./businesses.store.ts";
import { businessSection } from "./businesses.world.ts";

export const businesses: Room = {
  name: "businesses",
  migrations: businessMigrations,
  nodeTypes: [{ type: "business", policy: "nobody" }],
  sections: [businessSection],
  forgetOwner: leaveBusinesses,
  registerReaders(readers) {
    readers.register("business", { hasPerson, exists: async (reader, business) => (await findBusiness(reader, business)) !== undefined });
  },
};
