/** The public API of the pages feature. */

import { defineFeature } from "#graph/contract/feature";
import { pageMigrations } from "./pages.migrations.ts";
import { pageMessaging } from "./pages.policies.ts";
import { deleteRolesOfUser, findPage, findPageNames, findRole, hasPerson } from "./pages.store.ts";
import "./pages.ports.ts";
import { erasePerson, pageSection } from "./pages.world.ts";

export const pages = defineFeature({
  name: "pages",
  migrations: pageMigrations,
  policies: [pageMessaging],
  nodeTypes: [
    { type: "page", policy: pageMessaging },
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
