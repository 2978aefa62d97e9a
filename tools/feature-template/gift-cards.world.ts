import { Type } from "typebox";
import { closedMap, idOf, worldId } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import { GIFT_CARD_NAME_CHARACTERS_MAX } from "./gift-cards.contract.ts";
import { deleteGiftCard, findGiftCard, insertGiftCard, listAllGiftCards, updateGiftCard } from "./gift-cards.store.ts";

export const giftCardSection = ownedSection({
  key: "gift_cards",
  nodeType: "gift_card",
  owner: "page",
  entry: closedMap({
    id: worldId,
    page: idOf("page"),
    name: Type.String({ minLength: 1, maxLength: GIFT_CARD_NAME_CHARACTERS_MAX, default: "Gift card" }),
  }),
  insert: (tx, { id, page, name }) => insertGiftCard(tx, page, id, name),
  find: findGiftCard,
  list: listAllGiftCards,
  replace: (tx, { id, page, name }) => updateGiftCard(tx, page, id, name),
  remove: deleteGiftCard,
});
