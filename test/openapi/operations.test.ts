/** Checks that the document describes each operation: parameters, body, security and responses. */
import { expect, test } from "bun:test";
import { type DocumentOptions, documentOf, type Operation } from "./documents.ts";

interface Whole extends Operation {
  readonly description: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, { schema: object; encoding?: object }>> };
  readonly responses: Readonly<Record<string, { readonly content?: object; readonly headers: object; readonly description: string }>>;
}

interface Placed {
  readonly path: string;
  readonly method: string;
  readonly operation: Whole;
}

const placedIn = (options: DocumentOptions = {}): Placed[] =>
  Object.entries(documentOf(options).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation: operation as Whole })),
  );

const all = placedIn();

const named = (id: string, options?: DocumentOptions): Whole => {
  const found = (options === undefined ? all : placedIn(options)).find(({ operation }) => operation.operationId === id);
  if (found === undefined) throw new Error(`no operation ${id}`);
  return found.operation;
};

/** The names of an operation's parameters. The document refers to shared parameters by `$ref`. */
const namesOf = ({ parameters }: Operation): string[] =>
  parameters.map((one) => one.name ?? String(one.$ref?.replace("#/components/parameters/", "")));

const headersOf = (operation: Whole, status: string): string[] => Object.keys(operation.responses[status]?.headers ?? {});

test("D-34: only a read accepts an entity tag, and then returns 304 without a body", () => {
  for (const { path, method, operation } of all) {
    const { operationId, responses } = operation;
    const isRead = method === "get";
    const [isAsked, notModified] = [namesOf(operation).includes("if_none_match"), responses["304"]];
    expect({ operationId, path, isAsked, hasStatus: notModified !== undefined, content: notModified?.content }).toEqual({
      ...{ operationId, path, isAsked: isRead, hasStatus: isRead, content: undefined },
    });
    const tagged = Object.keys(responses).filter((status) => headersOf(operation, status).includes("etag"));
    expect({ operationId, tagged }).toEqual({ operationId, tagged: isRead ? ["200", "304"] : [] });
  }
});

test("each response has its trace id, its version, its usage, and the headers of its status", () => {
  const always = ["x-pf-trace-id", "pf-api-version", "x-app-usage", "x-business-use-case-usage"];
  for (const { operation } of all) {
    const { operationId, responses } = operation;
    const isMarketing = /Catalog|Feed|Upload|ArticlesAndPublications/.test(operation["x-plaza-operations"].join());
    for (const status of Object.keys(responses)) {
      const headers = headersOf(operation, status);
      expect({ operationId, status, always: headers.slice(0, 4), retry: headers.includes("retry-after") }).toEqual({
        ...{ operationId, status, always, retry: status === "429" || status === "503" },
      });
      expect({ operationId, status, challenge: headers.includes("www-authenticate"), warning: headers.includes("x-ad-api-version-warning") }).toEqual(
        {
          ...{ operationId, status, challenge: status === "401", warning: isMarketing },
        },
      );
      if (status !== "304") expect(Object.keys(responses[status]?.content ?? {})).toEqual(["application/json"]);
    }
  }
});

test("lists accept a page, nodes with fields a selection, and every operation a proof", () => {
  for (const { operation } of all) {
    const names = namesOf(operation);
    const isList = operation["x-plaza-operations"].every((name) => name.startsWith("list")) && operation.operationId !== "listRequiredActions";
    expect({ id: operation.operationId, page: names.filter((name) => ["limit", "before", "after"].includes(name)) }).toEqual({
      ...{ id: operation.operationId, page: isList ? ["limit", "before", "after"] : [] },
    });
    if (isList) expect(names).toContain("fields");
    expect(names).toContain("appsecret_proof");
  }
  const taking = (...ids: string[]) => ids.filter((id) => namesOf(named(id)).includes("fields"));
  expect(taking("getNode", "createLabel", "createLiveVideo", "createCatalog", "attachLabel", "deleteNode", "readUserInsights")).toEqual([
    ...["getNode", "createLabel", "createLiveVideo"],
  ]);
});

test("only a POST has a body: JSON, or a form in which lists and objects are JSON; it is required if a part of it is", () => {
  for (const { method, operation } of all) {
    const { operationId, requestBody } = operation;
    const types = Object.keys(requestBody?.content ?? {});
    const expected = method === "post" ? ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"] : [];
    expect({ operationId, types }).toEqual({ operationId, types: expected });
  }
  // In a multipart body, a file is a part of its own.
  const bodies = (id: string) => Object.values(named(id).requestBody?.content ?? {}).map(({ schema }) => schema);
  const request = { $ref: "#/components/schemas/CreateUploadRequest" };
  expect(bodies("createUpload")).toEqual([request, request, { $ref: "#/components/schemas/CreateUploadForm" }]);
  const { CreateUploadForm, CreateUploadRequest } = documentOf().components.schemas;
  const file = { type: "string", format: "binary", description: "the feed file, as a file of multipart/form-data" };
  expect(CreateUploadForm).toMatchObject({ properties: { file, url: {} } });
  expect(CreateUploadRequest).toHaveProperty("properties.url");
  expect(CreateUploadRequest).not.toHaveProperty("properties.file");
  const encodings = (id: string) => Object.values(named(id).requestBody?.content ?? {}).map(({ encoding }) => encoding);
  const json = { contentType: "application/json" };
  expect(encodings("createFeed")).toEqual([undefined, { schedule: json, update_schedule: json }, { schedule: json, update_schedule: json }]);
  expect(encodings("createPersona")).toEqual([undefined, undefined, undefined]);
  const needed = (...ids: string[]) => ids.filter((id) => named(id).requestBody?.required);
  expect(needed("createFeed", "createPersona", "createLabel", "postNode", "createLiveVideo")).toEqual(["createFeed", "createPersona", "createLabel"]);
});

test("parameters of a read are in the query, and required if all operations at the address require them", () => {
  const own = (id: string) =>
    named(id)
      .parameters.filter((one) => one.in === "query")
      .map(({ name, required, explode }) => ({ name, required, explode }));
  expect(own("readUserInsights")).toEqual([
    { name: "metric", required: true, explode: false },
    { name: "since", required: false, explode: undefined },
    { name: "until", required: false, explode: undefined },
    { name: "breakdown", required: false, explode: undefined },
  ]);
  expect(own("detachLabel")).toEqual([{ name: "user", required: true, explode: undefined }]);
  expect(own("createPersona")).toEqual([]);
});

test("D-81: the version parameter of a marketing operation names deprecated ones, that of another operation the default", () => {
  const text = (id: string) => named(id).parameters.find(({ name }) => name === "version")?.description;
  expect(text("createFeed")).toEndWith("A request in a deprecated version (v20.0, v21.0, v22.0, v23.0, v24.0) may be upgraded to a later version.");
  expect(text("createFeed")).not.toContain("default version");
  expect(text("createLabel")).toBe("The interface version. Without this segment, the request uses the app's default version.");
  expect(text("createCatalogWithoutVersion")).toBeUndefined();
});

test("D-93: in the clients profile a token may be anywhere, and if an app says so absent", () => {
  const anywhere = [{ bearer: [] }, { access_token: [] }, { oauth_token: [] }];
  expect(named("createLabel", { profile: "clients" }).security).toEqual(anywhere);
  expect(named("reportAppEvents", { profile: "clients" }).security).toEqual([...anywhere, {}]);
  const notes = (id: string, profile: "strict" | "clients") => named(id, { profile }).description.split("\n\n").slice(1);
  expect(notes("createLabel", "strict")).toEqual([
    "The tokens in the query, the body and the header must be the same, or must belong to the same app.",
  ]);
  expect(notes("createLabel", "clients")).toEqual(["A token may also be in the body, as `access_token`."]);
  expect(notes("createCatalog", "strict")).toEqual(["The query's `access_token` is accepted only while the app is in development mode."]);
});

test("an operation that several node types share is named by its method and edge, and lists the types", () => {
  const { summary, tags, deprecated } = named("getSubscribedApps");
  expect(summary).toStartWith("GET for ");
  expect(tags.length).toBeGreaterThan(1);
  expect(summary).toBe(`GET for ${tags.join(", ")}`);
  expect(deprecated).toBeUndefined();
  expect(named("reportAppEvents").deprecated).toBe(true);
});

test("a document has only the schemas that its operations use", () => {
  for (const type of ["label", "product_feed"] as const) {
    const document = documentOf({ type });
    const text = JSON.stringify(document);
    const { components } = document as unknown as { components: Record<string, Record<string, object>> };
    const unused = Object.entries(components).flatMap(([kind, of]) =>
      Object.keys(of).filter((name) => !text.includes(kind === "securitySchemes" ? `"${name}":[]` : `"#/components/${kind}/${name}"`)),
    );
    expect({ type, unused }).toEqual({ type, unused: [] });
  }
  const has = (type: string) => Object.keys((documentOf({ type }).components as unknown as { headers: object }).headers);
  expect([has("label").includes("x-ad-api-version-warning"), has("product_feed").includes("x-ad-api-version-warning")]).toEqual([false, true]);
});
