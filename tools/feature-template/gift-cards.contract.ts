import { Type } from "typebox";
import { pageMessaging } from "#features/pages/api";
import { type Access, type Field, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import type { GiftCardRow } from "./gift-cards.store.ts";

/** The greatest number of characters in the name of a gift card. */
export const GIFT_CARD_NAME_CHARACTERS_MAX = 80;

/** The access that all operations of the feature have: surfaces, tokens and callers, and the form of errors. */
const access = {
  surfaces: ["base"],
  versions: "platform",
  scheme: "anywhere",
  policy: pageMessaging,
  errorForm: "wrapped",
} as const satisfies Partial<Access>;

const text: Field<GiftCardRow> = { schema: Type.String(), policy: pageMessaging };

export const giftCardNode: FieldSet<GiftCardRow> = { fields: { id: text, name: text }, defaults: ["id", "name"] };

export const readGiftCard = { ...access, operation: "readGiftCard", clauses: [], decisions: [], errors: [] } as const;

export const listGiftCards = listOperation({
  ...access,
  operation: "listGiftCards",
  summary: "Lists the gift cards of a page, newest first.",
  clauses: [],
  decisions: [],
  on: "page",
  edge: "gift_cards",
  params: Type.Object({}),
  items: giftCardNode,
  errors: [],
});

export const createGiftCard = writeOperation({
  ...access,
  operation: "createGiftCard",
  summary: "Creates a gift card of a page.",
  clauses: [],
  decisions: [],
  on: "page",
  method: "POST",
  edge: "gift_cards",
  params: Type.Object({ name: Type.String({ minLength: 1, maxLength: GIFT_CARD_NAME_CHARACTERS_MAX }) }),
  returns: Type.Object({ id: Type.String() }),
  readBack: { type: "gift_card", set: giftCardNode },
  errors: [],
});

export const deleteGiftCardOperation = writeOperation({
  ...access,
  operation: "deleteGiftCard",
  summary: "Deletes a gift card.",
  clauses: [],
  decisions: [],
  on: "gift_card",
  method: "DELETE",
  edge: null,
  params: Type.Object({}),
  returns: Type.Object({ success: Type.Boolean() }),
  errors: [],
});
