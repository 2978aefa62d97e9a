import { type Static, Type } from "typebox";
import type { WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import { nodeId } from "#kernel/ids";
import { GIFT_CARD_NAME_CHARACTERS_MAX } from "./gift-cards.contract.ts";
import { deleteGiftCard, findGiftCard, insertGiftCard, listAllGiftCards, updateGiftCard } from "./gift-cards.store.ts";

const entry = Type.Object(
  { id: worldId, page: worldId, name: Type.Optional(Type.String({ minLength: 1, maxLength: GIFT_CARD_NAME_CHARACTERS_MAX, default: "Gift card" })) },
  { additionalProperties: false },
);
type Entry = Required<Static<typeof entry>>;

export const giftCardSection: WorldSection = {
  key: "gift_cards",
  entry,
  references: (given) => [{ path: "page", types: ["page"], id: (given as Entry).page }],
  insert: (tx, given) => {
    const { id, page, name } = given as Entry;
    return insertGiftCard(tx, page, id, name);
  },
  async find(reader, id) {
    const node = await findNode(reader, nodeId(id));
    return node?.type === "gift_card" ? findGiftCard(reader, node.owner, id) : undefined;
  },
  list: listAllGiftCards,
  async replace(tx, given) {
    const { id, page, name } = given as Entry;
    if ((await findGiftCard(tx, page, id)) === undefined) throw new WorldProblem("page", "cannot change");
    await updateGiftCard(tx, page, id, name);
  },
  async remove(tx, id) {
    const node = await findNode(tx, nodeId(id));
    return node?.type === "gift_card" && (await deleteGiftCard(tx, node.owner, id));
  },
};
