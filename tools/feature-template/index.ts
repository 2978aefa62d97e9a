/** The public API of the gift-cards feature. */

import { pageMessaging } from "#features/pages/api";
import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveListOf, serveWrite } from "#graph/contract/operation";
import { createGiftCard, deleteGiftCardOperation, giftCardNode, listGiftCards, readGiftCard } from "./gift-cards.contract.ts";
import { handleCreateGiftCard, handleDeleteGiftCard } from "./gift-cards.handlers.ts";
import { type GiftCardRow, giftCardMigrations, giftCardTable } from "./gift-cards.store.ts";
import { giftCardSection } from "./gift-cards.world.ts";

export const giftCards = defineFeature({
  name: "gift-cards",
  migrations: giftCardMigrations,
  nodeTypes: [
    nodeType<GiftCardRow>({
      type: "gift_card",
      policy: pageMessaging,
      reading: { ...readGiftCard, set: giftCardNode, find: (_request, reader, node) => giftCardTable.find(reader, node.owner, node.id) },
    }),
  ],
  operations: [
    serveListOf(listGiftCards, giftCardTable.listOf),
    serveWrite(createGiftCard, handleCreateGiftCard),
    serveWrite(deleteGiftCardOperation, handleDeleteGiftCard),
  ],
  worldSections: [giftCardSection],
  onOwnerDeleted: giftCardTable.removeAllOf,
});
