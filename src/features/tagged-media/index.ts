/** The public API of the tagged-media feature, which lists the media in which an account is tagged (E1). */

import { nobody } from "#auth/policy";
import { defineFeature } from "#graph/contract/feature";
import { serveList } from "#graph/contract/operation";
import { BUSINESS_SCOPES, listTags, professionalAccount, taggedMediaPolicy } from "./tagged-media.contract.ts";
import { taggedMediaMigrations } from "./tagged-media.migrations.ts";
import { countComment, deleteMediaOfAccount, findMedia, listTaggedMedia, publicChildren } from "./tagged-media.store.ts";
import { mediaSection } from "./tagged-media.world.ts";

export const taggedMedia = defineFeature({
  name: "tagged-media",
  migrations: taggedMediaMigrations,
  policies: [professionalAccount, taggedMediaPolicy],
  scopes: BUSINESS_SCOPES,
  nodeTypes: [{ type: "media", policy: nobody }],
  operations: [serveList(listTags, (request, reader) => listTaggedMedia(reader, request.node.id, request.page))],
  worldSections: [mediaSection],
  needs: ["social_account"],
  onOwnerDeleted: deleteMediaOfAccount,
  ports: () => ({
    media: { find: findMedia, publicChildren },
    media_writes: { countComment },
  }),
});
