/** Checks the whole document of a small made-up interface that has each type of contract. */
import { expect, test } from "bun:test";
import { servedNow } from "#graph/contract/openapi/document";
import { calendar, documentOf } from "./small-interface.ts";

type Json = Readonly<Record<string, unknown>>;
interface Operation extends Json {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly headers: Json; readonly content?: { readonly "application/json": Json } }>
  >;
}

/** The operations, by method and path. */
function operationsOf(document: { paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }): Record<string, Operation> {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, one]) => [`${method} ${path}`, one] as const),
  );
  return Object.fromEntries(operations);
}

const strict = documentOf();
const operation = (address: string, document = strict): Operation => operationsOf(document)[address] as Operation;
const refer = (kind: string, ...names: string[]) => names.map((name) => ({ $ref: `#/components/${kind}/${name}` }));
const shared = (...names: string[]) => refer("parameters", ...names);
const schema = (name: string, more: object = {}) => ({ $ref: `#/components/schemas/${name}`, ...more });
const text = { type: "string" };
const version = (description: string, ...versions: string[]) => ({
  name: "version",
  in: "path",
  required: true,
  description,
  schema: { ...text, enum: versions },
});
const platform = version("The interface version. Without this segment, the request uses the app's default version.", "v20.0", "v26.0");
const principal = {
  ...{ name: "id", in: "path", required: true, description: "A node's id, or `me` for the node of the token: its user, page, account or app." },
  schema: { ...text, pattern: "^([1-9][0-9]{0,18}|me)$" },
};
const page = ["fields", "limit", "before", "after", "appsecret_proof", "if_none_match"];
const withoutResponses = ({ responses: _, ...rest }: Operation) => rest;

test("addresses are sorted by path, and D-03: one without a version is beside one with it", () => {
  const names = Object.entries(operationsOf(strict)).map(([address, { operationId }]) => [address, operationId]);
  expect(names).toEqual([
    ["get /lookup", "lookUp"],
    ["get /pages/{id}/notes", "listNotesUnderPagesWithoutVersion"],
    ["get /{id}/notes", "listNotesWithoutVersion"],
    ["get /{version}/pages/{id}/notes", "listNotesUnderPages"],
    ["get /{version}/{id}", "getNode"],
    ["delete /{version}/{id}", "deleteNote"],
    ["post /{version}/{id}/notes", "createNote"],
    ["get /{version}/{id}/notes", "listNotes"],
  ]);
});

test("a write has its parameters in the body or in their places, and accepts no others if it is closed", () => {
  const body = { schema: schema("CreateNoteRequest") };
  const form = { ...body, encoding: { tags: { contentType: "application/json" } } };
  expect(withoutResponses(operation("post /{version}/{id}/notes"))).toEqual({
    ...{ operationId: "createNote", summary: "Creates a note.", tags: ["page"], "x-plaza-operations": ["createNote"], "x-plaza-clauses": ["A1-1"] },
    description: "Creates a note.\n\nA token may also be in the body, as `access_token`.",
    security: [{ bearer: [] }, { access_token: [] }],
    parameters: [
      ...[platform, principal, { name: "at", in: "query", description: "The parameter `at`.", schema: text, required: false }],
      ...shared("fields", "appsecret_proof"),
    ],
    requestBody: { required: true, content: { "application/json": body, "application/x-www-form-urlencoded": form, "multipart/form-data": form } },
  });
  const { schemas } = strict.components;
  expect(schemas.CreateNoteRequest).toMatchObject({
    required: ["name"],
    properties: { name: text, metadata: {}, locale: {} },
    additionalProperties: false,
  });
  // D-50: a closed operation has no parameter `fields`.
  expect(Object.keys(schemas.CreateNoteRequest.properties).filter((name) => ["fields", "limit", "before", "after", "ids"].includes(name))).toEqual(
    [],
  );
  const open = documentOf({ profile: "clients" }).components.schemas.CreateNoteRequest;
  expect(open).toEqual({ type: "object", properties: { name: text, tags: { type: "array", items: text } }, required: ["name"] });
  expect(schemas.CreateNoteResponse).toEqual({ anyOf: [{ type: "object", required: ["id"], properties: { id: text } }, schema("BlueNote")] });
});

test("a list has a page, D-161: parameters of plain values with commas, and the versions of its calendar that serve now", () => {
  const ads = { servers: [{ url: "https://ads.test", description: "The surface ads" }] };
  const marketing = version(
    "The interface version. An app cannot use a marketing version that is older than the newest one at the app's first use of the marketing interface. A request in a deprecated version (v1.0) may be upgraded to a later version.",
    ...["v2.0", "v3.0"],
  );
  const tags = { name: "tags", in: "query", description: "Some tags.", schema: { type: "array", items: text, description: "Some tags." } };
  const own = [
    { ...tags, required: false, style: "form", explode: false },
    { name: "size", in: "query", description: "The parameter `size`.", schema: { type: "integer" }, required: true },
  ];
  const listed = withoutResponses(operation("get /{version}/{id}/notes"));
  expect(listed).toEqual({
    ...{
      operationId: "listNotes",
      summary: "Lists notes.",
      tags: ["page"],
      ...ads,
      "x-plaza-operations": ["listNotes"],
      "x-plaza-clauses": ["A1-1"],
    },
    description: "Lists notes.\n\nThe query's `access_token` is accepted only while the app is in development mode.",
    security: [{ bearer: [] }, { access_token: [] }],
    parameters: [marketing, principal, ...own, ...shared(...page)],
  });
  const parameters = [principal, ...own, ...shared(...page)];
  for (const address of ["get /{id}/notes", "get /pages/{id}/notes"]) expect(operation(address)).toMatchObject({ parameters, ...ads });
  const none = documentOf({ now: 99, calendar: { ...calendar, marketing: calendar.marketing.slice(1) } });
  expect((operation("get /{version}/{id}/notes", none).parameters as { description: string }[])[0]?.description).not.toContain("deprecated");
});

test("an address that node types share has a schema for each of them", () => {
  expect(withoutResponses(operation("get /{version}/{id}"))).toEqual({
    ...{
      operationId: "getNode",
      summary: "GET for blue_note, page",
      tags: ["blue_note", "page"],
      "x-plaza-operations": ["readBlueNote", "readPage"],
    },
    ...{ "x-plaza-clauses": ["A1-1", "A1-2", "A1-3"] },
    description: [
      ...["Reads a blue_note: its declared fields.", "Reads a page: its declared fields."],
      ...[
        "The tokens in the query, the body and the header must be the same, or must belong to the same app.",
        "A token may also be in the body, as `access_token`.",
      ],
    ].join("\n\n"),
    security: [{ access_token: [], oauth_token: [], bearer: [] }, { bearer: [] }, { access_token: [] }],
    parameters: [platform, principal, ...shared("fields", "appsecret_proof", "if_none_match")],
  });
  expect(operation("get /{version}/{id}").responses[200]?.content).toEqual({
    "application/json": { schema: { anyOf: [schema("BlueNote", { "x-plaza-type": "blue_note" }), schema("Page", { "x-plaza-type": "page" })] } },
  });
  const alone = documentOf({ type: "blue_note" });
  expect(Object.keys(operationsOf(alone))).toEqual(["get /{version}/{id}", "delete /{version}/{id}"]);
  expect((operation("get /{version}/{id}", alone).parameters as object[])[1]).toMatchObject({
    description: "A node's id.",
    schema: { pattern: "^[1-9][0-9]{0,18}$" },
  });
  expect(operation("get /{version}/{id}", alone)).toMatchObject({ operationId: "readBlueNote", summary: "Reads a blue_note: its declared fields." });
});

test("a read without a node names its headers, and in `clients` it may have no token", () => {
  expect(withoutResponses(operation("get /lookup"))).toEqual({
    ...{ operationId: "lookUp", summary: "Looks up.", description: "Looks up.", tags: ["lookup"], security: [{ access_token: [] }] },
    parameters: [
      { name: "name", in: "query", description: "The parameter `name`.", schema: text, required: true },
      { name: "X-Why", in: "header", required: true, description: "Why.", schema: { ...text, enum: ["because"] } },
      { name: "X-How", in: "header", required: false, description: "How.", schema: text },
      ...shared("appsecret_proof", "if_none_match"),
    ],
    ...{ "x-plaza-operations": ["lookUp"], "x-plaza-clauses": ["A1-1"] },
  });
  const clients = documentOf({ profile: "clients" });
  const ways = [{ bearer: [] }, { access_token: [] }, { oauth_token: [] }];
  expect(operation("get /lookup", clients)).toMatchObject({
    security: [...ways, {}],
    description: "Looks up.\n\nA token may also be in the body, as `access_token`.",
  });
  expect(operation("delete /{version}/{id}", clients).security).toEqual(ways);
  // D-55: in the response profile `clients`, the operation is served on more APIs of the graph.
  expect(operation("get /{id}/notes", clients).servers).toEqual([
    { url: "https://ads.test", description: "The surface ads" },
    { url: "https://base.test", description: "The surface base" },
  ]);
  const onAds = documentOf({ surface: "ads" });
  expect(Object.keys(operationsOf(onAds))).toHaveLength(4);
  expect([onAds.servers, operation("get /{id}/notes", onAds).servers]).toEqual([
    [{ url: "https://ads.test", description: "The surface ads" }],
    undefined,
  ]);
});

test("a response has the headers of its operation and its status, and each status the forms of its errors", () => {
  const carried = (address: string) =>
    Object.fromEntries(Object.entries(operation(address).responses).map(([status, { headers }]) => [status, Object.keys(headers).slice(4).join()]));
  const plain = { 400: "", 401: "www-authenticate", 403: "", 408: "", 413: "", 429: "retry-after", 431: "", 500: "", 503: "retry-after" };
  expect(carried("post /{version}/{id}/notes")).toEqual({ 200: "", ...plain });
  expect(carried("get /lookup")).toEqual({ 200: "etag", 304: "etag", ...plain });
  expect(carried("get /{version}/{id}")).toEqual({ 200: "etag", 304: "etag", 404: "", ...plain });
  const more = (by: string, statuses: object) =>
    Object.fromEntries(Object.entries(statuses).map(([status, names]) => [status, names === "" ? by : `${names},${by}`]));
  expect(carried("delete /{version}/{id}")).toEqual(more("deprecation", { 200: "", ...plain }));
  expect(carried("get /{id}/notes")).toEqual(more("x-ad-api-version-warning", { 200: "etag", 304: "etag", ...plain }));
  expect([operation("delete /{version}/{id}").deprecated, operation("get /lookup").deprecated]).toEqual([true, undefined]);
  const forms = (address: string, status: number) => JSON.stringify(operation(address).responses[status]?.content).match(/\w+Error/g);
  expect([forms("get /lookup", 403), forms("delete /{version}/{id}", 403), forms("delete /{version}/{id}", 401)]).toEqual([
    ["WrappedError"],
    ["FlatError", "WrappedError"],
    ["WrappedError"],
  ]);
  const { description } = operation("delete /{version}/{id}").responses[403] ?? { description: "" };
  expect(description).toContain("Code 10: the token lacks a scope that the operation needs.\n\nCode 200:");
  expect(description).toContain("Code 190: a required access token is missing.");
  expect(description).toContain("Code 190, subcode 463: the access token expired.");
  expect(operation("delete /{version}/{id}").responses[400]?.description).toContain("Code 2635:");
  expect(operation("get /lookup").responses[400]?.description).not.toContain("Code 2635:");
});

test("the document itself names its version, its tags and the schemas that it uses", () => {
  const { openapi, info, servers, tags, components } = strict;
  expect([openapi, info.version, servers]).toEqual(["3.1.0", "v26.0", [{ url: "https://base.test", description: "The surface base" }]]);
  expect(tags.map(({ name }: { name: string }) => name)).toEqual(["blue_note", "lookup", "page"]);
  // In the document, each schema comes after the schemas that it refers to.
  expect(Object.keys(components.schemas)).toEqual([
    ...[
      "BlueNote",
      "CreateNoteRequest",
      "CreateNoteResponse",
      "FlatError",
      "ListNotesItem",
      "ListNotesResponse",
      "LookUpResponse",
      "Page",
      "Success",
      "WrappedError",
    ],
  ]);
  expect(components.schemas.Page).toEqual({
    type: "object",
    required: ["id"],
    properties: { id: text, text, notes: schema("ListNotesResponse") },
    additionalProperties: false,
  });
  expect(components.schemas.WrappedError).toEqual({
    type: "object",
    required: ["error"],
    properties: { error: schema("FlatError") },
    additionalProperties: false,
  });
  expect(Object.keys(components.parameters)).toEqual([...page]);
  expect(components.parameters.limit.schema).toEqual({ type: "integer", minimum: 1, default: 25 });
  const headers = Object.keys(components.headers);
  expect([headers.includes("link"), headers.length]).toEqual([false, 9]);
  expect(Object.keys(components.securitySchemes)).toEqual(["access_token", "oauth_token", "bearer"]);
  const alone = documentOf({ type: "lookup" }).components;
  expect([Object.keys(alone.securitySchemes), Object.keys(alone.parameters)]).toEqual([["access_token"], ["appsecret_proof", "if_none_match"]]);
  const { FlatError } = documentOf({ profile: "clients" }).components.schemas;
  expect([Object.keys(FlatError.properties).at(-1), "error" in components.schemas.FlatError.properties]).toEqual(["error", false]);
});

test("two documents of one calendar differ if a version began or ended in between", () => {
  expect([0, 49, 50, 99, 100, 101].map((now) => servedNow({ calendar, now }))).toEqual(
    ["1000", "1000", "1010", "1010", "2110", "2211"].map((marketing) => `${marketing}11`),
  );
  const later = { ...calendar, platform: [...calendar.platform, { version: 28, released: 100 }] };
  expect([99, 100].map((now) => servedNow({ calendar: later, now }).slice(4))).toEqual(["110", "111"]);
  expect([99, 100].map((now) => documentOf({ calendar: later, now }).info.version)).toEqual(["v26.0", "v28.0"]);
  expect([99, 100].map((now) => JSON.stringify(documentOf({ calendar: later, now }).paths).includes('"v28.0"'))).toEqual([false, true]);
});
