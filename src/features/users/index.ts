/** The public API of the users feature. */
import { defineFeature, nodeType } from "#graph/contract/feature";
import { ownUser, readUser, userNode } from "./users.contract.ts";
import { userMigrations } from "./users.migrations.ts";
import { findUser, type UserRow } from "./users.store.ts";
import { userSection } from "./users.world.ts";

export const users = defineFeature({
  name: "users",
  migrations: userMigrations,
  policies: [ownUser],
  nodeTypes: [
    nodeType<UserRow>({
      type: "user",
      policy: ownUser,
      reading: { ...readUser, set: userNode, find: (_request, reader, node) => findUser(reader, node.id) },
    }),
  ],
  worldSections: [userSection],
});
