/** The public API of the tagged-media feature, which lists the media in which an account is tagged (E1). */

import { nobody } from "#auth/policy";
import { defineFeature } from "#graph/contract/feature";
import { serveListOf } from "#graph/contract/operation";
import { BUSINESS_SCOPES, listTags, professionalAccount, taggedMediaPolicy } from "./tagged-media.contract.ts";
import { countComment, deleteMediaOfAccount, listTaggedMedia, mediaTable, publicChildren, taggedMediaMigrations } from "./tagged-media.store.ts";
import { mediaSection } from "./tagged-media.world.ts";

export const taggedMedia = defineFeature({
  name: "tagged-media",
  migrations: taggedMediaMigrations,
  policies: [professionalAccount, taggedMediaPolicy],
  scopes: BUSINESS_SCOPES,
  nodeTypes: [{ type: "media", policy: nobody }],
  operations: [serveListOf(listTags, listTaggedMedia)],
  worldSections: [mediaSection],
  needs: ["social_account"],
  onOwnerDeleted: deleteMediaOfAccount,
  ports: () => ({
    media: { find: mediaTable.find, publicChildren },
    media_writes: { countComment },
  }),
});
