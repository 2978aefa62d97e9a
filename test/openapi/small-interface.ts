/** Defines a small made-up interface, and makes its OpenAPI document. */
import { Type } from "typebox";
import { definePolicy, nobody } from "#auth/policy";
import type { Feature } from "#graph/contract/feature";
import type { OpenapiOptions } from "#graph/contract/openapi/addresses";
import { openapiDocument } from "#graph/contract/openapi/document";
import { type Field, type FieldSet, type NodeType, serveList, serveRead, serveWrite } from "#graph/contract/operation";
import { Registry } from "#graph/contract/registry";
import type { VersionCalendar } from "#graph/versions/calendar";

const open = definePolicy({ ...nobody, name: "open" });
const field = (more: Partial<Field> = {}): Field => ({ schema: Type.String(), policy: open, ...more });
const set: FieldSet = { fields: { id: field(), text: field() }, defaults: ["id"] };
const access = {
  ...{ clauses: ["A1-1"], decisions: [], surfaces: ["base" as const], versions: "platform" as const, scheme: "anywhere" as const },
  ...{ policy: open, errorForm: "wrapped" as const, errors: [] },
};
const reading = (operation: string, more: object = {}) => ({ ...access, operation, set, find: async () => undefined, ...more });
const nodeTypes = [
  { type: "blue_note", policy: open, reading: reading("readBlueNote", { scheme: "pageMessaging", errorForm: "flat", clauses: ["A1-1", "A1-2"] }) },
  { type: "page", policy: open, reading: reading("readPage", { clauses: ["A1-2", "A1-3"] }) },
] as unknown as NodeType[];
const none = Type.Object({});
const handle = (async () => ({})) as never;

const operations = [
  serveWrite(
    {
      ...{ ...access, kind: "write", method: "POST", operation: "createNote", summary: "Creates a note (A1-1).", on: "page", edge: "notes" },
      ...{ params: Type.Object({ name: Type.String(), tags: Type.Optional(Type.Array(Type.String())), at: Type.Optional(Type.String()) }) },
      ...{ places: { at: "query" }, isClosed: true, returns: Type.Object({ id: Type.String() }), readBack: { type: "blue_note", set } },
    },
    handle,
  ),
  serveList(
    {
      ...{ ...access, kind: "list", method: "GET", operation: "listNotes", summary: "Lists notes.", on: "page", edge: "notes", items: set },
      ...{ versions: "marketingOrCurrent", scheme: "catalogCreation", alsoUnder: "pages", surfaces: ["ads"], clientsSurfaces: ["base"] },
      params: Type.Object({ tags: Type.Optional(Type.Array(Type.String(), { description: "Some tags." })), size: Type.Integer() }),
    },
    handle,
  ),
  serveWrite(
    {
      ...{ ...access, kind: "write", method: "DELETE", operation: "deleteNote", summary: "Deletes a note.", on: "blue_note", edge: null },
      ...{ params: none, returns: Type.Object({ success: Type.Boolean() }), headers: { deprecation: "@1" }, errors: ["versionDeprecated"] },
    },
    handle,
  ),
  serveRead(
    {
      ...{ ...access, kind: "read", method: "GET", operation: "lookUp", summary: "Looks up.", on: null, edge: "lookup", versions: "unversioned" },
      ...{ params: Type.Object({ name: Type.String() }), returns: Type.Object({ found: Type.Boolean() }), scheme: "query", tokenless: () => true },
      requestHeaders: {
        "X-Why": { description: "Why.", schema: Type.Literal("because"), isRequired: true },
        "X-How": { description: "How.", schema: Type.String() },
      },
    },
    handle,
  ),
];
const registry = new Registry([{ name: "small", migrations: [], policies: [open], nodeTypes, operations } as Feature]);
export const calendar: VersionCalendar = {
  platform: [
    { version: 20, released: 0 },
    { version: 26, released: 10 },
  ],
  migrationIntents: [],
  marketing: [
    { version: 1, released: 0, until: 100, affects: [] },
    { version: 3, released: 100, until: 101, affects: [] },
    { version: 2, released: 50, until: undefined, affects: [] },
    { version: 4, released: 101, until: undefined, affects: [] },
  ],
  migrations: [],
};
const addresses = Object.fromEntries(
  ["base", "app", "microblog", "ads", "social_login"].map((name) => [name, `https://${name}.test`]),
) as OpenapiOptions["addresses"];
/** The document of the interface at the time 100. */
export const documentOf = (more: Partial<OpenapiOptions> = {}) =>
  JSON.parse(JSON.stringify(openapiDocument(registry, { profile: "strict", calendar, now: 100, addresses, ...more })));
