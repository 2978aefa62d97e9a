import type { Migration } from "#storage/database";

export const giftCardMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: ["CREATE TABLE gift_cards (page BIGINT NOT NULL, id BIGINT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (page, id)) WITHOUT ROWID"],
  },
];
