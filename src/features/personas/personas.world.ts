import { Type } from "typebox";
import { closedMap, described, idOf, worldId } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import { personaWords } from "./personas.contract.ts";
import { personaTable } from "./personas.store.ts";

export const personaSection = ownedSection({
  ...personaTable,
  key: "personas",
  entry: closedMap(
    {
      id: described("the persona's id", worldId),
      page: described("the page that speaks as the persona", idOf("page")),
      name: Type.String({ ...personaWords.name, default: "Persona" }),
      profile_picture_url: Type.String({ ...personaWords.profile_picture_url, default: "https://example.com/persona.png" }),
    },
    "a persona: a name and picture with which a page writes messages",
  ),
});
