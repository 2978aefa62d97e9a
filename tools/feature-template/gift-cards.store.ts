import { ownedNodeTable } from "#graph/worlds/nodes.store";
import type { Migration } from "#storage/database";
import type { Row } from "#storage/sql";

export const giftCardMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: ["CREATE TABLE gift_cards (page BIGINT NOT NULL, id BIGINT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (page, id)) WITHOUT ROWID"],
  },
];

export interface GiftCardRow extends Row {
  id: string;
  page: string;
  name: string;
}

export const giftCardTable = ownedNodeTable<GiftCardRow>({ table: "gift_cards", nodeType: "gift_card", owner: "page", columns: ["name"] });
