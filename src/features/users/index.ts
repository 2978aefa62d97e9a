/** The public API of the users feature, which stores the people who use the platform. */
import { definePolicy } from "#auth/policy";
import { defineFeature } from "#graph/contract/feature";
import { namedNode } from "#graph/contract/named-node";
import { userMigrations, userTable } from "./users.store.ts";
import { userSection } from "./users.world.ts";

/** D-165: the policy of reading a user. */
const ownUser = definePolicy({
  name: "ownUser",
  summary: "the user's own token",
  kinds: ["user", "system_user"],
  scopes: [],
  canSee: ({ token, node }) => (token.type === "user" || token.type === "system_user") && token.user === node.id,
});

export const users = defineFeature({
  name: "users",
  migrations: userMigrations,
  policies: [ownUser],
  nodeTypes: [namedNode({ type: "user", policy: ownUser, operation: "readUser", find: userTable.find })],
  worldSections: [userSection],
  ports: () => ({
    user: {
      listPeople: async (reader, page) => (await userTable.list(reader, page)).rows,
      findPerson: userTable.find,
    },
  }),
});
