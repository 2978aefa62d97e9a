import { expect, test } from "bun:test";
import { pascal } from "#graph/contract/openapi/addresses";
import { withoutCitations } from "#kernel/text";
import { surfaces } from "#surfaces/surfaces";
import { documentOf, endpointsOf, type Operation, registry } from "./documents.ts";

test("every operation is in the document, and nothing else", () => {
  for (const profile of ["strict", "clients"] as const) {
    const { paths } = documentOf({ profile });
    const text = JSON.stringify(paths);
    const named = new Set(Object.values(paths).flatMap((item) => Object.values(item).flatMap((operation) => operation["x-plaza-operations"])));
    const endpoints = endpointsOf(profile);
    expect(named).toEqual(new Set(endpoints.map(({ access }) => access.operation)));
    for (const { served } of endpoints) {
      if (served !== undefined) expect(text).toContain(JSON.stringify(withoutCitations(served.contract.summary)).slice(1, -1));
    }
  }
});

interface Content {
  readonly "application/json": { readonly schema: { readonly $ref?: string; readonly anyOf?: readonly { readonly "x-plaza-type"?: string }[] } };
}

const operationOf = (type: string, id: string): Operation => {
  const found = Object.values(documentOf({ type }).paths).flatMap((item) => Object.values(item).filter(({ operationId }) => operationId === id));
  expect(found).toHaveLength(1);
  return found[0] as Operation;
};

test("the document of a node type calls operations and schemas by the interface's names", () => {
  const { paths, components } = documentOf({ type: "label" });
  const ids = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
  expect(ids.sort()).toEqual(["attachLabel", "deleteLabel", "detachLabel", "readLabel"]);
  expect(Object.keys(components.schemas)).toEqual(["AttachLabelRequest", "FlatError", "PageReference", "Label", "Success", "WrappedError"]);
});

test("the documents of the surfaces have the operations of one surface each", () => {
  const { paths, servers } = documentOf({ surface: "ads" });
  expect(Object.keys(paths).sort()).toEqual([
    "/pages/{id}/owned_product_catalogs",
    "/{id}/owned_product_catalogs",
    "/{version}/pages/{id}/owned_product_catalogs",
    "/{version}/{id}/owned_product_catalogs",
  ]);
  expect(servers).toEqual([{ url: "https://graph.plaza.test/ads", description: "The surface ads" }]);
});

test("AUTH-1: page messaging needs its token in three places at once; other operations need one", () => {
  expect(operationOf("page", "listLabels").security).toEqual([{ access_token: [], oauth_token: [], bearer: [] }]);
  expect(operationOf("app", "listRequiredActions").security).toEqual([{ bearer: [] }]);
  expect(operationOf("page", "createCatalog").security).toEqual([{ bearer: [] }, { access_token: [] }]);
  const shared = documentOf().paths["/{version}/{id}"]?.get as Operation;
  expect(shared.security).toEqual([{ bearer: [] }, { access_token: [] }, { access_token: [], oauth_token: [], bearer: [] }]);
});

test("each operation names the versions that serve it now", () => {
  const versionsOf = (operation: Operation) => operation.parameters.find(({ name }) => name === "version")?.schema?.enum;
  expect(versionsOf(operationOf("migration_intent", "readMigrationIntent"))).toEqual(["v23.0", "v24.0", "v25.0"]);
  expect(versionsOf(operationOf("product_feed", "listArticlesAndPublications"))).toEqual(["v25.0"]);
  expect(versionsOf(operationOf("label", "readLabel"))?.at(-1)).toBe("v26.0");
});

test("`me` is allowed instead of an id if a token belongs to such a node", () => {
  const patternOf = (operation: Operation) => operation.parameters.find(({ name }) => name === "id")?.schema?.pattern;
  expect(patternOf(operationOf("page", "listLabels"))).toBe("^([1-9][0-9]{0,18}|me)$");
  expect(patternOf(operationOf("label", "readLabel"))).toBe("^[1-9][0-9]{0,18}$");
  expect(patternOf(documentOf().paths["/{version}/{id}"]?.get as Operation)).toContain("|me");
});

test("I1-25: a header that an operation requires is required in the document", () => {
  const headers = (operation: Operation) => operation.parameters.filter((parameter) => parameter.in === "header");
  expect(headers(operationOf("app", "reportAppEvents"))).toMatchObject([{ name: "X-Forwarded-For", required: true }]);
  expect(headers(operationOf("app", "listRequiredActions"))).toMatchObject([{ name: "X-API-Version", required: false }]);
});

test("D-20: each status has the form of its possible errors", () => {
  const formsOf = (operation: Operation, status: number) => JSON.stringify(operation.responses[status]?.content).match(/\w+Error/g);
  expect(formsOf(operationOf("page", "listLabels"), 403)).toEqual(["FlatError"]);
  expect(operationOf("page", "listLabels").responses[401]).toBeUndefined();
  expect(formsOf(operationOf("label", "readLabel"), 403)).toEqual(["FlatError", "WrappedError"]);
  expect(formsOf(operationOf("page", "listLiveVideos"), 401)).toEqual(["WrappedError"]);
  expect(operationOf("page", "listLiveVideos").responses[404]).toBeUndefined();
  expect(formsOf(operationOf("migration_intent", "readMigrationIntent"), 404)).toContain("WrappedError");
});

test("a parameter with a default is not required in the document", () => {
  const { schemas } = documentOf().components as { schemas: Record<string, object> };
  const wrong: string[] = [];
  const visit = (schema: object, place: string): void => {
    const { required, properties = {} } = schema as { required?: string[]; properties?: Record<string, { default?: unknown }> };
    if (Array.isArray(required)) for (const key of required) if (properties[key]?.default !== undefined) wrong.push(`${place}.${key}`);
    for (const [key, value] of Object.entries(schema)) if (typeof value === "object" && value !== null) visit(value, `${place}/${key}`);
  };
  for (const [name, schema] of Object.entries(schemas)) if (name.endsWith("Request")) visit(schema, name);
  expect(wrong).toEqual([]);
  expect(schemas.CreateFeedRequest).toMatchObject({ properties: { schedule: { anyOf: [{ required: ["interval", "url"] }, {}, {}] } } });
});

test("responses that operations share have their own name, not that of one of them", () => {
  const { schemas } = documentOf().components;
  expect(Object.keys(schemas)).toContainValues(["Success", "Created"]);
  expect(JSON.stringify(operationOf("page", "createCatalog").responses[200]?.content)).toContain('"#/components/schemas/Created"');
});

test("equal shapes of different nodes have their own names: each node type has one, and a page with id and name is not a user", () => {
  const nameOf = (schema: unknown): string => String((schema as { $ref?: string } | undefined)?.$ref).replace("#/components/schemas/", "");
  for (const profile of ["strict", "clients"] as const) {
    for (const surface of [undefined, ...surfaces.map(({ name }) => name)]) {
      const { paths } = documentOf({ profile, ...(surface === undefined ? {} : { surface }) });
      const reads = Object.entries(paths).filter(([path]) => path.endsWith("{id}"));
      const shared = reads.flatMap(([, { get }]) => (get?.responses[200]?.content as Content | undefined)?.["application/json"].schema.anyOf ?? []);
      expect(shared.map(nameOf)).toEqual(shared.map((one) => pascal(String(one["x-plaza-type"]))));
    }
    for (const { type } of registry.types) {
      const { paths } = documentOf({ profile, type });
      for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
        if (registry.find(type, "GET", undefined)?.access.operation !== operation.operationId) continue;
        expect(nameOf((operation.responses[200]?.content as Content | undefined)?.["application/json"].schema)).toBe(pascal(type));
      }
    }
  }
  const { schemas } = documentOf().components as { schemas: Record<string, { properties: Record<string, object> }> };
  for (const name of ["Label", "Persona", "LiveVideo", "ListLabelsItem"]) expect(nameOf(schemas[name]?.properties.page)).toBe("PageReference");
  expect(nameOf(schemas.MigrationIntent?.properties.waba)).toBe("ChatappAccount");
  expect(JSON.stringify(schemas)).not.toContain("x-plaza-shape-of");
});

test("each body has the name of its operation", () => {
  for (const { requestBody, ...operation } of Object.values(documentOf().paths).flatMap((item) => Object.values(item))) {
    const reference = (requestBody?.content as Content | undefined)?.["application/json"].schema.$ref;
    if (reference !== undefined) expect(reference).toBe(`#/components/schemas/${pascal(String(operation["x-plaza-operations"]))}Request`);
  }
});

test("every parameter and every key of a body has a description", () => {
  for (const profile of ["strict", "clients"] as const) {
    const { paths, components } = documentOf({ profile });
    const silent: string[] = [];
    for (const { operationId, parameters } of Object.values(paths).flatMap((item) => Object.values(item)))
      for (const { name, description } of parameters)
        if (name !== undefined && (description === undefined || description.startsWith("The parameter"))) silent.push(`${operationId} ${name}`);
    for (const [name, schema] of Object.entries(components.schemas)) {
      if (!/(Request|Form)$/.test(name)) continue;
      const { properties } = schema as { properties: Record<string, { description?: string }> };
      for (const [key, { description }] of Object.entries(properties)) if (description === undefined) silent.push(`${name} ${key}`);
    }
    expect(silent).toEqual([]);
  }
});

test("a document belongs to its profile: parameters of `clients` are in no other", () => {
  const requestOf = (profile: "strict" | "clients", name: string) =>
    documentOf({ profile }).components.schemas[name] as Record<string, Record<string, object>>;
  const strict = requestOf("strict", "CreateLabelRequest");
  const clients = requestOf("clients", "CreateLabelRequest");
  expect([Object.keys(strict.properties ?? {}), strict.required, strict.anyOf]).toEqual([
    ["page_label_name"],
    ["page_label_name"] as never,
    undefined,
  ]);
  expect([Object.keys(clients.properties ?? {}), clients.required, clients.anyOf]).toEqual([
    ...[
      ["page_label_name", "name"],
      undefined,
      [
        { required: ["page_label_name"], properties: { page_label_name: {} } },
        { required: ["name"], properties: { name: {} } },
      ] as never,
    ],
  ]);
  const { page_label_name } = strict.properties as { page_label_name: object };
  expect(page_label_name).toMatchObject({ minLength: 1, maxLength: 80 });
  expect(requestOf("strict", "ReportAppEventsRequest").properties?.event).toMatchObject({ enum: ["MOBILE_APP_INSTALL", "CUSTOM_APP_EVENTS"] });
  expect(requestOf("clients", "ReportAppEventsRequest").properties?.event).toHaveProperty("enum.2", "DEFERRED_APP_LINK");
  const fieldsOf = (profile: "strict" | "clients") => JSON.stringify(requestOf(profile, "SubscribeToPageRequest"));
  expect(fieldsOf("strict")).toContain('"enum":["custom_labels","live_videos"]');
  expect(fieldsOf("clients")).toContain('"leadgen"');
});
