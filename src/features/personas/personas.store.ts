import { ownedNodeTable } from "#graph/worlds/nodes.store";
import type { Migration } from "#storage/database";
import type { Row } from "#storage/sql";

export const personaMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE personas (page BIGINT NOT NULL, id BIGINT NOT NULL, name TEXT NOT NULL, profile_picture_url TEXT NOT NULL,
        PRIMARY KEY (page, id)) WITHOUT ROWID`,
    ],
  },
];

export interface PersonaRow extends Row {
  id: string;
  page: string;
  name: string;
  profile_picture_url: string;
}

export const personaTable = ownedNodeTable<PersonaRow>({
  table: "personas",
  nodeType: "persona",
  owner: "page",
  columns: ["name", "profile_picture_url"],
});
