/** The public API of the pages feature, which stores pages, the people who write to them, and the roles of users on them. */

import { defineFeature } from "#graph/contract/feature";
import { namedNode } from "#graph/contract/named-node";
import { pageMessaging, pageNodePolicy } from "./pages.api.ts";
import { deleteRolesOfUser, findRole, hasPerson, hasRoleOnAny, listPagesOfUser, pageMigrations, pageTable } from "./pages.store.ts";
import { erasePerson, pageSection } from "./pages.world.ts";

export const pages = defineFeature({
  name: "pages",
  migrations: pageMigrations,
  policies: [pageMessaging, pageNodePolicy],
  nodeTypes: [
    namedNode({ type: "page", policy: pageMessaging, reading: pageNodePolicy, operation: "readPage", find: pageTable.find }),
    { type: "page_person", policy: pageMessaging },
  ],
  worldSections: [pageSection],
  onOwnerDeleted: deleteRolesOfUser,
  erasePerson,
  needs: ["label_writes", "webhook_subscription", "webhook_subscription_writes"],
  ports: () => ({
    page_role: { findRole, hasRoleOnAny },
    page: {
      hasPerson,
      findName: async (reader, page) => (await pageTable.find(reader, page))?.name,
      findNames: pageTable.findNames,
      pagesOf: listPagesOfUser,
    },
  }),
});
