/** The door of the users room. */
import type { Room } from "#graph/room";
import { userMigrations } from "./users.migrations.ts";
import { userSection } from "./users.world.ts";

export const users: Room = {
  name: "users",
  migrations: userMigrations,
  nodeTypes: [{ type: "user", policy: "nobody" }],
  sections: [userSection],
};
