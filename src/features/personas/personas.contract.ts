import { Type } from "typebox";
import { pageField, pageMessaging } from "#features/pages/api";
import { type Access, type Field, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import { filledText } from "#graph/schema/schema-node";
import type { PersonaRow } from "./personas.store.ts";

/** D-41: the longest name of a persona. */
const PERSONA_NAME_CHARACTERS_MAX = 50;
/** The longest web address of a picture. The limit exists because browsers and CDNs refuse much longer addresses. */
const PICTURE_URL_CHARACTERS_MAX = 2_048;

/** D-41: the schemas of a persona's name and picture. The address of the picture is stored as it was sent. */
export const personaWords = {
  name: { ...filledText(PERSONA_NAME_CHARACTERS_MAX), description: "the persona's name" },
  profile_picture_url: { maxLength: PICTURE_URL_CHARACTERS_MAX, format: "web-address", description: "the address of the persona's picture" },
};

const access = {
  surfaces: ["base"],
  versions: "platform",
  scheme: "pageMessaging",
  policy: pageMessaging,
  errorForm: "flat",
} as const satisfies Partial<Access>;

const text: Field<PersonaRow> = { schema: Type.String(), policy: pageMessaging };

export const personaNode: FieldSet<PersonaRow> = {
  fields: { id: text, name: text, profile_picture_url: text, page: pageField(pageMessaging) },
  defaults: ["id", "name", "profile_picture_url"],
};

/** D-41: personas can also be read and deleted by id. */
export const readPersona = { ...access, operation: "readPersona", clauses: ["A-9", "A-10", "A-11"], decisions: ["D-41"], errors: [] } as const;

export const listPersonas = listOperation({
  ...access,
  operation: "listPersonas",
  summary: "Lists the active personas of a page, newest first.",
  clauses: ["A7-1", "A7-2", "A7-3", "A7-4", "A7-5", "A7-6", "A7-7", "A7-8"],
  decisions: ["D-41", "D-92", "D-96"],
  on: "page",
  edge: "personas",
  params: Type.Object({}),
  items: personaNode,
  itemType: "persona",
  errors: [],
});

export const createPersona = writeOperation({
  ...access,
  operation: "createPersona",
  summary: "Creates a persona of a page. Name and picture are sent in the body or in the query.",
  clauses: ["A8-1", "A8-2", "A8-3", "A8-5", "A8-6", "A8-7", "A8-8", "A8-9", "A-12"],
  decisions: ["D-41"],
  on: "page",
  method: "POST",
  edge: "personas",
  params: Type.Object({ name: Type.String(personaWords.name), profile_picture_url: Type.String(personaWords.profile_picture_url) }),
  returns: Type.Object({ id: Type.String() }),
  readBack: { type: "persona", set: personaNode },
  errors: ["invalidParameter"],
});

export const deletePersonaOperation = writeOperation({
  ...access,
  operation: "deletePersona",
  summary: "Deletes a persona. A deleted persona is no longer listed (D-41).",
  clauses: [],
  decisions: ["D-41"],
  on: "persona",
  method: "DELETE",
  edge: null,
  params: Type.Object({}),
  returns: Type.Object({ success: Type.Boolean() }),
  errors: [],
});
