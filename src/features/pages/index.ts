/** The public API of the pages feature. */
import type { Feature } from "#graph/contract/feature";
import { pageMigrations } from "./pages.migrations.ts";
import { deleteRolesOfUser, findPage, findRole, hasPerson } from "./pages.store.ts";
import { pageSection } from "./pages.world.ts";

export const pages: Feature = {
  name: "pages",
  migrations: pageMigrations,
  nodeTypes: [
    { type: "page", policy: "pageMessaging" },
    { type: "page_person", policy: "pageMessaging" },
  ],
  sections: [pageSection],
  forgetOwner: deleteRolesOfUser,
  registerPorts(ports) {
    ports.register("page", { findRole, hasPerson, findName: async (reader, page) => (await findPage(reader, page))?.name });
  },
};
