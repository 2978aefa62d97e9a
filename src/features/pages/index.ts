/** The door of the pages room. */
import type { Room } from "#graph/room";
import { pageMigrations } from "./pages.migrations.ts";
import { deleteRolesOfUser, findPage, findRole, hasPerson } from "./pages.store.ts";
import { pageSection } from "./pages.world.ts";

export const pages: Room = {
  name: "pages",
  migrations: pageMigrations,
  nodeTypes: [
    { type: "page", policy: "pageMessaging" },
    { type: "page_person", policy: "pageMessaging" },
  ],
  sections: [pageSection],
  forgetOwner: deleteRolesOfUser,
  registerReaders(readers) {
    readers.register("page", { findRole, hasPerson, findName: async (reader, page) => (await findPage(reader, page))?.name });
  },
};
