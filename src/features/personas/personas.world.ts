import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import { nodeId } from "#kernel/ids";
import { PERSONA_NAME_CHARACTERS_MAX, PICTURE_URL_CHARACTERS_MAX } from "./personas.contract.ts";
import { isWebAddress } from "./personas.handlers.ts";
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

/** D-41: validates an entry like A8. */
function readNewPersona(input: WorldEntry): { name: string; profile_picture_url: string } {
  const { name, profile_picture_url } = input as Entry;
  if (name.trim() === "") throw new WorldProblem("name", "must not be empty");
  if (!isWebAddress(profile_picture_url)) throw new WorldProblem("profile_picture_url", "must be an http or https address");
  return { name: name.trim(), profile_picture_url };
}

export const personaSection: WorldSection = {
  key: "personas",
  entry,
  references: (input) => [{ path: "page", types: ["page"], id: (input as Entry).page }],
  async insert(tx, input) {
    const { id, page } = input as Entry;
    return insertPersona(tx, page, id, readNewPersona(input));
  },
  async find(reader, id) {
    const node = await findNode(reader, nodeId(id));
    return node?.type === "persona" ? findPersona(reader, node.owner, id) : undefined;
  },
  list: listAllPersonas,
  async replace(tx, input) {
    const { id, page } = input as Entry;
    if ((await findPersona(tx, page, id)) === undefined) throw new WorldProblem("page", "cannot change");
    await updatePersona(tx, page, id, readNewPersona(input));
  },
  async remove(tx, id) {
    const node = await findNode(tx, nodeId(id));
    return node?.type === "persona" && (await deletePersona(tx, node.owner, id));
  },
};
