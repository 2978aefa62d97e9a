import { Type } from "typebox";
import { closedMap, idOf, worldId } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import { GIFT_CARD_NAME_CHARACTERS_MAX } from "./gift-cards.contract.ts";
import { giftCardTable } from "./gift-cards.store.ts";

export const giftCardSection = ownedSection({
  ...giftCardTable,
  key: "gift_cards",
  entry: closedMap({
    id: worldId,
    page: idOf("page"),
    name: Type.String({ minLength: 1, maxLength: GIFT_CARD_NAME_CHARACTERS_MAX, default: "Gift card" }),
  }),
});
