/** Lookups in the registry, by address and by the shape of a request (D-20, D-38, D-81, D-90, D-93). */
import { describe, expect, test } from "bun:test";
import { type TSchema, Type } from "typebox";
import { definePolicy, nobody, ownApp } from "#auth/policy";
import { type Feature, readSetting } from "./feature.ts";
import { type Field, type FieldSet, type NodeType, type Operation, type Served, serveList, serveRead, serveWrite } from "./operation.ts";
import { Registry } from "./registry.ts";
import { responseSchema } from "./response-schemas.ts";

const open = definePolicy({ ...nobody, name: "open", scopes: ["notes"] });
const wide = definePolicy({ ...nobody, name: "wide" });
const field = (more: Partial<Field> = {}): Field => ({ schema: Type.String(), policy: open, ...more });
const access = {
  ...{ clauses: ["A1-2", "A1-3", "LIM-4", "C2-1"], decisions: [], surfaces: ["base"], versions: "platform", scheme: "anywhere" },
  ...{ policy: open, errorForm: "wrapped", errors: [] },
} as const;
const operation = { ...access, summary: "Does something.", params: Type.Object({ name: Type.String(), size: Type.Optional(Type.Integer()) }) };

const note: FieldSet = { fields: { id: field(), text: field(), ours: field({ onlyIn: "clients" }) }, defaults: ["id"] };
const pen: FieldSet = {
  fields: {
    id: field(),
    note: field({ reference: { type: "note", idOf: () => null } }),
    box: field({ nested: { set: () => note, load: async () => [] } }),
    boxes: field({ nested: { set: () => note, isList: true, load: async () => [] } }),
    place: field({ schema: Type.Object({ at: Type.Object({ id: Type.String(), x: Type.Number() }), name: Type.String() }) }),
    places: field({ schema: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })) }),
  },
  defaults: ["id"],
  required: ["id", "place"],
};

const reading = (name: string, set: FieldSet) => ({ ...access, operation: name, set, find: async () => undefined });
const nodeTypes = [
  { type: "note", policy: open, reading: reading("readNote", note) },
  { type: "pen", policy: wide, reading: reading("readPen", pen) },
  { type: "shelf", policy: wide },
] as unknown as NodeType[];

const serving = (contract: object): Served => {
  const whole = { ...operation, ...contract } as never as Operation;
  if (whole.kind === "list") return serveList(whole as never, (async () => ({})) as never);
  return whole.kind === "read" ? serveRead(whole as never, (async () => ({})) as never) : serveWrite(whole as never, (async () => ({})) as never);
};
const list = (name: string, contract: object) => serving({ kind: "list", method: "GET", operation: name, items: note, ...contract });
const read = (name: string, contract: object) => serving({ kind: "read", method: "GET", operation: name, returns: Type.Object({}), ...contract });
const write = (name: string, contract: object) =>
  serving({ kind: "write", method: "POST", operation: name, returns: Type.Object({ success: Type.Boolean() }), ...contract });

const headers = { deprecation: "@1" };
const tokenless = () => true;
const operations = [
  list("listNotes", { on: "shelf", edge: "notes", itemType: "note", errorForm: "flat", scheme: "pageMessaging", headers }),
  list("listNotesOfPen", { on: "pen", edge: "notes", scheme: "bearer", extras: Type.Object({ count: Type.Integer() }), cursorsOnly: true }),
  write("createNote", { on: "shelf", edge: "notes", visibility: ownApp, readBack: { type: "note", set: note } }),
  write("deleteNote", { on: "note", edge: null, method: "DELETE" }),
  write("open", { on: "shelf", edge: "lid", scheme: "query", tokenless, alsoUnder: "desks" }),
  write("openOfPen", { on: "pen", edge: "lid", scheme: "query", tokenless }),
  read("look", { on: "pen", edge: "lid", scheme: "query", alsoUnder: "desks" }),
  read("lookUp", { on: null, edge: "lookup", versions: "unversioned", errorForm: "flat" }),
];
const tiny: Feature = {
  name: "tiny",
  migrations: [],
  policies: [open, wide],
  scopes: ["more"],
  nodeTypes,
  operations,
  fieldExtensions: [{ on: "note", name: "colour", field: field({ schema: Type.Integer() }) }],
};
const registry = new Registry([tiny]);
const operationAt = (type: string, method: string, edge?: string) => registry.find(type, method, edge)?.access.operation;

describe("by its address", () => {
  test("an operation, or a read of a node, is found by its address, and by no other", () => {
    expect([operationAt("note", "GET"), operationAt("pen", "GET"), operationAt("note", "DELETE"), operationAt("shelf", "POST", "notes")]).toEqual([
      ...["readNote", "readPen", "deleteNote", "createNote"],
    ]);
    expect([operationAt("shelf", "GET"), operationAt("note", "POST"), operationAt("shelf", "GET", "lookup"), operationAt("none", "GET")]).toEqual(
      Array(4).fill(undefined),
    );
    expect([
      registry.findLiteral("GET", "lookup")?.access.operation,
      registry.findLiteral("POST", "lookup"),
      registry.findLiteral("GET", "notes"),
    ]).toEqual([...["lookUp", undefined, undefined]]);
  });

  test("an endpoint knows its place, its methods, its names in calendars, and who may know of its node", () => {
    const facts = (type: string, method: string, edge?: string) => {
      const { nodeType, paramNames, names, visibility } = registry.find(type, method, edge) ?? {};
      return { nodeType, paramNames, names, visibility: visibility?.name };
    };
    const paramNames = ["name", "size"];
    expect(facts("note", "GET")).toEqual({ nodeType: "note", paramNames: [], names: ["readNote", "A1", "C2"], visibility: "open" });
    expect(facts("shelf", "GET", "notes")).toEqual({ nodeType: "shelf", paramNames, names: ["listNotes", "notes", "A1", "C2"], visibility: "wide" });
    expect(facts("shelf", "POST", "notes")).toMatchObject({ visibility: ownApp.name });
    expect(facts("note", "DELETE")).toEqual({ nodeType: "note", paramNames, names: ["deleteNote", "A1", "C2"], visibility: "open" });
    expect(facts("", "GET", "lookup")).toEqual({ nodeType: undefined, paramNames, names: ["lookUp", "lookup", "A1", "C2"], visibility: "open" });
    expect(registry.find("note", "GET", undefined)?.readParams({ name: "x" })).toEqual({});
    expect(registry.find("shelf", "GET", "notes")?.readParams({ name: "x", other: 1 })).toEqual({ name: "x" });
  });
});

test("everything that the features define is collected", () => {
  expect(registry.types.map(({ type }) => type)).toEqual(["note", "pen", "shelf"]);
  expect(registry.endpoints.map(({ access: of }) => of.operation)).toEqual([
    ...["readNote", "readPen", "listNotes", "listNotesOfPen", "createNote", "deleteNote", "open", "openOfPen", "look", "lookUp"],
  ]);
  expect(registry.operationsOn("shelf").map(({ access: of }) => of.operation)).toEqual(["listNotes", "createNote", "open"]);
  expect(registry.operationsOn("none")).toEqual([]);
  const operationNames = registry.endpoints.map(({ access: of }) => of.operation);
  expect(registry.endpointNames).toEqual(new Set([...operationNames, "A1", "C2", "notes", "lid", "lookup"]));
  expect([registry.scopes.has("notes"), registry.scopes.has("more"), registry.scopes.has("other")]).toEqual([true, true, false]);
  expect([registry.policies.has(open), registry.policies.has(nobody), registry.errors.has("tokenExpired"), registry.errors.has("none")]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(["text", "colour", "box", "lost"].map(registry.isField)).toEqual([true, true, true, false]);
});

describe("by the form of a request", () => {
  test("D-03: words of addresses are edges, literals, or literals before an id", () => {
    const kinds = (word: string) => [registry.isEdge(word), registry.isLiteral(word), registry.isPrefix(word)];
    expect({ notes: kinds("notes"), lookup: kinds("lookup"), desks: kinds("desks"), none: kinds("none") }).toEqual({
      ...{ notes: [true, false, false], lookup: [false, true, false], desks: [false, false, true], none: [false, false, false] },
    });
    expect([
      registry.isUnder("desks", "lid"),
      registry.isUnder("desks", "notes"),
      registry.isUnder("desks", undefined),
      registry.isUnder("none", "lid"),
    ]).toEqual([...[true, false, false, false]]);
  });

  test("D-20: an edge is flat if one of its operations is; a literal is not", () => {
    expect([registry.isFlatEdge("notes"), registry.isFlatEdge("lid"), registry.isFlatEdge("lookup"), registry.isFlatEdge(undefined)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test("D-90: the headers of an operation are those of its edge and method", () => {
    expect([
      registry.headersOf("GET", "notes"),
      registry.headersOf("POST", "notes"),
      registry.headersOf("GET", "lid"),
      registry.headersOf("GET", undefined),
    ]).toEqual([...[headers, undefined, undefined, undefined]]);
  });

  test("D-90: an edge has the properties that its node types share", () => {
    const scheme = (method: string, edge: string | undefined) => registry.accessByShape(method, edge)?.scheme;
    expect([scheme("GET", "notes"), scheme("POST", "notes"), scheme("GET", "lookup"), scheme("GET", "lid")]).toEqual([
      undefined,
      "anywhere",
      "anywhere",
      "query",
    ]);
    expect([scheme("DELETE", "notes"), scheme("GET", undefined), scheme("GET", "none")]).toEqual([undefined, undefined, undefined]);
    expect([registry.accessByShape("POST", "lid")?.tokenless, registry.accessByShape("GET", "lid")?.tokenless]).toEqual([tokenless, undefined]);
    const other = new Registry([
      { ...tiny, operations: [...operations.slice(0, 5), write("openOfPen", { on: "pen", edge: "lid", scheme: "query" })] },
    ]);
    expect(other.accessByShape("POST", "lid")).toBeUndefined();
  });

  test("D-93: a token is accepted in the places of the method's operations, else of the edge's, else everywhere", () => {
    const places = (method: string, edge: string | undefined) => registry.placesByShape(method, edge).join();
    expect([places("GET", "notes"), places("POST", "notes"), places("POST", "lid")]).toEqual([
      "bearer,access_token,oauth_token",
      "bearer,access_token,body",
      "access_token",
    ]);
    const everywhere = "bearer,access_token,oauth_token,body";
    expect([places("PUT", "notes"), places("PUT", "lid"), places("GET", undefined), places("GET", "none")]).toEqual([
      everywhere,
      "access_token",
      everywhere,
      everywhere,
    ]);
  });
});

describe("D-38: the selectable fields", () => {
  test("of a node are its own, those of other features, its edges, and the fields of nodes that it names", () => {
    const ofPen = registry.types.find(({ type }) => type === "pen")?.reading?.set.fields ?? {};
    expect(Object.keys(ofPen)).toEqual([...Object.keys(pen.fields), "notes"]);
    expect(ofPen.notes).toMatchObject({ policy: open, edge: { operation: "listNotesOfPen" } });
    expect(Object.keys(ofPen.note?.reference?.set?.().fields ?? {})).toEqual(["id", "text", "ours", "colour"]);
    expect(ofPen.box).toBe(pen.fields.box as Field);
  });

  test("of an item or a read-back node are those of its type, and an item has no edges", () => {
    const contractOf = (type: string, method: string) => registry.find(type, method, "notes")?.served?.contract;
    expect(contractOf("shelf", "GET")).toMatchObject({ items: { fields: { colour: {} } } });
    expect(contractOf("pen", "GET")).not.toMatchObject({ items: { fields: { colour: {} } } });
    expect(contractOf("shelf", "POST")).toMatchObject({ readBack: { type: "note", set: { fields: { colour: {}, id: {} } } } });
    expect(contractOf("shelf", "GET")).toMatchObject({ kind: "list", operation: "listNotes" });
  });
});

describe("the schema of a response", () => {
  const schemaOf = (type: string, method: string, edge?: string, profile: "strict" | "clients" = "strict") =>
    JSON.parse(JSON.stringify(responseSchema(registry.find(type, method, edge) as never, profile)));
  const text = { type: "string" };
  const closed = (properties: object, required?: string[]): TSchema =>
    ({ type: "object", ...(required && { required }), properties, additionalProperties: false }) as never;
  const shapeOf = (name: string, schema: TSchema): TSchema => ({ ...schema, "x-plaza-shape-of": name });
  const ofNote = shapeOf("note", closed({ id: text, text, colour: { type: "integer" } }, ["id"]));

  test("of a node has every field of the profile, and the required ones", () => {
    expect(schemaOf("note", "GET")).toEqual(ofNote);
    expect(schemaOf("note", "GET", undefined, "clients").properties.ours).toEqual(text);
    const { properties, required } = schemaOf("pen", "GET");
    expect(required).toEqual(["id", "place"]);
    const plain = closed({ id: text, text }, ["id"]);
    expect([properties.note, properties.box, properties.boxes]).toEqual([ofNote, plain, closed({ data: { type: "array", items: plain } }, ["data"])]);
  });

  test("of an object inside guarantees only its id", () => {
    const { place, places } = schemaOf("pen", "GET").properties;
    expect(place).toEqual({
      type: "object",
      properties: { at: { type: "object", required: ["id"], properties: { id: text, x: { type: "number" } } }, name: text },
    });
    expect(places).toEqual({ type: "array", items: { type: "object", required: ["id"], properties: { id: text, name: text } } });
  });

  test("of a list has its items, its cursors, its links if it has any, and its additions", () => {
    const cursors = closed({ before: text, after: text });
    expect(schemaOf("shelf", "GET", "notes")).toEqual(
      closed({ data: { type: "array", items: ofNote }, paging: closed({ cursors, previous: text, next: text }, ["cursors"]) }, ["data"]),
    );
    const plain = shapeOf("listNotesOfPenItem", closed({ id: text, text }, ["id"]));
    const ofPen = closed({ data: { type: "array", items: plain }, paging: closed({ cursors }, ["cursors"]), count: { type: "integer" } }, ["data"]);
    expect(schemaOf("pen", "GET", "notes")).toEqual(ofPen);
    expect(schemaOf("pen", "GET").properties.notes).toEqual(ofPen);
  });

  test("of another operation is its result, or the node that it reads back", () => {
    const done = { type: "object", required: ["success"], properties: { success: { type: "boolean" } } };
    expect(schemaOf("note", "DELETE")).toEqual(done);
    expect(schemaOf("shelf", "POST", "notes")).toEqual({ anyOf: [done, ofNote] });
    expect(schemaOf("", "GET", "lookup")).toEqual({ type: "object", properties: {} });
    expect(() => responseSchema({ access: { operation: "lost" } } as never, "strict")).toThrow("lost has neither a handler nor declared fields");
  });
});

test("a setting has the operator's value, even an empty one, or its default", () => {
  const setting = { name: "notes_max", value: "N", minimum: 0, default: 7, summary: "" };
  expect([readSetting({ settings: {} }, setting), readSetting({ settings: { notes_max: 0 } }, setting)]).toEqual([7, 0]);
});
