import { Type } from "typebox";
import { closedMap, idOf, WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import { PERSONA_NAME_CHARACTERS_MAX, PICTURE_URL_CHARACTERS_MAX } from "./personas.contract.ts";
import { isWebAddress } from "./personas.handlers.ts";
import { deletePersona, findPersona, insertPersona, listAllPersonas, type NewPersona, updatePersona } from "./personas.store.ts";

/** D-41: validates an entry like A8. */
function checked({ name, profile_picture_url }: NewPersona): NewPersona {
  if (name.trim() === "") throw new WorldProblem("name", "must not be empty");
  if (!isWebAddress(profile_picture_url)) throw new WorldProblem("profile_picture_url", "must be an http or https address");
  return { name: name.trim(), profile_picture_url };
}

export const personaSection = ownedSection({
  key: "personas",
  nodeType: "persona",
  owner: "page",
  entry: closedMap({
    id: worldId,
    page: idOf("page"),
    name: Type.String({ minLength: 1, maxLength: PERSONA_NAME_CHARACTERS_MAX, default: "Persona" }),
    profile_picture_url: Type.String({ maxLength: PICTURE_URL_CHARACTERS_MAX, default: "https://example.com/persona.png" }),
  }),
  insert: async (tx, entry) => insertPersona(tx, entry.page, entry.id, checked(entry)),
  find: findPersona,
  list: listAllPersonas,
  replace: (tx, entry) => updatePersona(tx, entry.page, entry.id, checked(entry)),
  remove: deletePersona,
});
