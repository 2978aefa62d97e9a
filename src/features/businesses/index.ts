/** The door of the businesses room. */
import type { Room } from "#graph/room";
import { businessMigrations } from "./businesses.migrations.ts";
import { businessSection } from "./businesses.world.ts";

export const businesses: Room = {
  name: "businesses",
  migrations: businessMigrations,
  nodeTypes: [{ type: "business", policy: "nobody" }],
  sections: [businessSection],
};
