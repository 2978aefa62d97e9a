/** The public API of the personas feature, which serves the display identities of a page's bot (A7 and A8). */

import { pageMessaging } from "#features/pages/api";
import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveListOf, serveWrite } from "#graph/contract/operation";
import { createPersona, deletePersonaOperation, listPersonas, personaNode, readPersona } from "./personas.contract.ts";
import { handleCreatePersona, handleDeletePersona } from "./personas.handlers.ts";
import { type PersonaRow, personaMigrations, personaTable } from "./personas.store.ts";
import { personaSection } from "./personas.world.ts";

export const personas = defineFeature({
  name: "personas",
  migrations: personaMigrations,
  nodeTypes: [
    nodeType<PersonaRow>({
      type: "persona",
      policy: pageMessaging,
      reading: { ...readPersona, set: personaNode, find: (_request, reader, node) => personaTable.find(reader, node.owner, node.id) },
    }),
  ],
  operations: [
    serveListOf(listPersonas, personaTable.listOf),
    serveWrite(createPersona, handleCreatePersona),
    serveWrite(deletePersonaOperation, handleDeletePersona),
  ],
  worldSections: [personaSection],
  onOwnerDeleted: personaTable.removeAllOf,
});
