import { type Static, Type } from "typebox";
import { findNode } from "#graph/nodes.store";
import type { WorldSection } from "#graph/room";
import { worldId } from "#graph/world-words";
import { nodeId } from "#kernel/ids";
import { PERSONA_NAME_CHARACTERS_MAX, PICTURE_URL_CHARACTERS_MAX } from "./personas.contract.ts";
import { deletePersona, findPersona, insertPersona, listAllPersonas, updatePersona } from "./personas.store.ts";

const entry = Type.Object(
  {
    id: worldId,
    page: worldId,
    name: Type.Optional(Type.String({ minLength: 1, maxLength: PERSONA_NAME_CHARACTERS_MAX, default: "Persona" })),
    profile_picture_url: Type.Optional(Type.String({ maxLength: PICTURE_URL_CHARACTERS_MAX, default: "https://example.com/persona.png" })),
  },
  { additionalProperties: false },
);
type Entry = Required<Static<typeof entry>>;

export const personaSection: WorldSection = {
  key: "personas",
  entry,
  references: (given) => [{ path: "page", types: ["page"], id: (given as Entry).page }],
  insert: (tx, given) => {
    const { id, page, name, profile_picture_url } = given as Entry;
    return insertPersona(tx, page, id, { name, profile_picture_url });
  },
  async find(reader, id) {
    const node = await findNode(reader, nodeId(id));
    return node?.type === "persona" ? findPersona(reader, node.owner, id) : undefined;
  },
  list: listAllPersonas,
  replace: (tx, given) => {
    const { id, page, name, profile_picture_url } = given as Entry;
    return updatePersona(tx, page, id, { name, profile_picture_url });
  },
  async remove(tx, id) {
    const node = await findNode(tx, nodeId(id));
    return node?.type === "persona" && (await deletePersona(tx, node.owner, id));
  },
};
