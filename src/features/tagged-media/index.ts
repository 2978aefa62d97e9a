/** The public API of the tagged-media feature: E1. */

import type { Feature } from "#graph/contract/feature";
import { serveList } from "#graph/contract/operation";
import { listTags } from "./tagged-media.contract.ts";
import { handleListTags } from "./tagged-media.handlers.ts";
import { taggedMediaMigrations } from "./tagged-media.migrations.ts";
import "./tagged-media.ports.ts";
import { countComment, deleteMediaOfAccount, findMedia, publicChildren } from "./tagged-media.store.ts";
import { mediaSection } from "./tagged-media.world.ts";

export const taggedMedia: Feature = {
  name: "tagged-media",
  migrations: taggedMediaMigrations,
  nodeTypes: [{ type: "media", policy: "nobody" }],
  operations: [serveList(listTags, handleListTags)],
  sections: [mediaSection],
  forgetOwner: deleteMediaOfAccount,
  registerPorts(ports) {
    ports.register("media", { find: findMedia, publicChildren, countComment });
  },
};
