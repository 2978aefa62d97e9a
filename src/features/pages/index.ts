/** The public API of the pages feature. */

import { defineFeature, nodeType } from "#graph/contract/feature";
import { pageMessaging, pageNodePolicy } from "./pages.api.ts";
import { pageNode, readPage } from "./pages.contract.ts";
import { pageMigrations } from "./pages.migrations.ts";
import { deleteRolesOfUser, findPage, findPageNames, findRole, hasPerson, type PageRow } from "./pages.store.ts";
import { erasePerson, pageSection } from "./pages.world.ts";

export const pages = defineFeature({
  name: "pages",
  migrations: pageMigrations,
  policies: [pageMessaging, pageNodePolicy],
  nodeTypes: [
    nodeType<PageRow>({
      type: "page",
      policy: pageMessaging,
      reading: { ...readPage, set: pageNode, find: (_request, reader, node) => findPage(reader, node.id) },
    }),
    { type: "page_person", policy: pageMessaging },
  ],
  worldSections: [pageSection],
  onOwnerDeleted: deleteRolesOfUser,
  erasePerson,
  needs: ["label_writes", "webhook_subscription", "webhook_subscription_writes"],
  ports: () => ({
    page_role: { findRole },
    page: { hasPerson, findName: async (reader, page) => (await findPage(reader, page))?.name, findNames: findPageNames },
  }),
});
