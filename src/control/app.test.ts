import { describe, expect, test } from "bun:test";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { PageGuard } from "#kernel/page-guard";
import { buildRegistry } from "#main";
import { controlRoutes } from "./routes.ts";

describe("the control key", () => {
  test("is required everywhere below /v1 except for the API's own document", async () => {
    const { request } = await openControl();
    for (const route of controlRoutes(buildRegistry())) {
      // A route without a control key has a secret of its own.
      if (route.needsNoKey === true) continue;
      const path = route.path.replace("{w}", "default").replace("{key}", "labels").replace("{id}", "5001");
      for (const key of ["", "another", `${KEY}x`]) expect((await request(route.method, path, undefined, key)).status).toBe(401);
    }
    expect((await request("GET", "/v1/nothing", undefined, "")).status).toBe(401);
    expect((await request("GET", "/v1/openapi.json", undefined, "")).status).toBe(200);
  });

  test("health and readiness need none, and readiness checks the database", async () => {
    const { request, plaza } = await openControl();
    expect((await request("GET", "/healthz", undefined, "")).status).toBe(200);
    expect((await request("GET", "/readyz", undefined, "")).status).toBe(200);
    await plaza.world.database.close();
    expect((await request("GET", "/readyz", undefined, "")).status).toBe(503);
    expect((await request("GET", "/healthz", undefined, "")).status).toBe(200);
  });
});

test("D-240: a sandbox refuses requests of other sites' pages, with or without the key, and serves health to everybody", async () => {
  const { app } = await openControl({}, {}, new PageGuard({ origins: ["https://app.example.com"], hosts: ["plaza"] }));
  const ask = async (path: string, headers: Record<string, string>) => {
    const response = await app.request(path, { headers: { authorization: `Bearer ${KEY}`, ...headers } });
    return { status: response.status, body: await response.json() };
  };
  for (const foreign of [{ origin: "https://evil.example" }, { host: "evil.example" }, { "sec-fetch-site": "cross-site" }] as Record<
    string,
    string
  >[]) {
    expect(await ask("/v1/worlds/default/clock", foreign)).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });
    expect((await ask("/healthz", foreign)).status).toBe(200);
    expect((await app.request("/metrics", { headers: foreign })).status).toBe(403);
  }
  for (const own of [{}, { origin: "http://localhost:3000" }, { origin: "https://app.example.com" }, { host: "plaza:4001" }] as Record<
    string,
    string
  >[]) {
    expect((await ask("/v1/worlds/default/clock", own)).status).toBe(200);
    expect((await app.request("/metrics", { headers: own })).status).toBe(200);
  }
});

onEachDatabase("addresses", (database) => {
  test("with characters that no database text can hold are not found, in any place", async () => {
    const { request } = await openControl({ database });
    for (const route of controlRoutes(buildRegistry()).filter(({ path }) => /\{(?!w\})/.test(path))) {
      const path = route.path.replace("{w}", "default").replace(/\{\w+\}/g, "%00");
      expect((await request(route.method, path, route.method === "GET" || route.method === "DELETE" ? undefined : {})).status).toBe(404);
    }
  });
});

describe("the API's own document", () => {
  test("names every route, with a schema for each kind of node", async () => {
    const { request, plaza } = await openControl();
    const { body } = await request("GET", "/v1/openapi.json");
    expect(body.openapi).toBe("3.1.0");
    const all = plaza.registry.features.flatMap((feature) => feature.worldSections ?? []);
    const sections = all.map(({ key }) => key);
    for (const route of controlRoutes(buildRegistry())) {
      const addressed = route.path.includes("{id}") ? all.filter(({ identity }) => identity?.length !== 0).map(({ key }) => key) : sections;
      for (const key of addressed) expect(body.paths[route.path.replace("{key}", key)]).toHaveProperty(route.method.toLowerCase());
    }
    for (const key of sections) expect(body.components.schemas).toHaveProperty(key);
    const ids = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap((path) =>
      Object.values(path).map((at) => at.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(JSON.stringify(body)).not.toContain("x-plaza-read-as");
  });

  test("has every address that the application serves below /v1, and no others", async () => {
    const { app, plaza, request } = await openControl();
    const { paths } = (await request("GET", "/v1/openapi.json")).body;
    const keys = sectionsOf(plaza.registry).map(({ key }) => key);
    const form = (method: string, path: string) => `${method.toUpperCase()} ${path.replaceAll(/:\w+|\{\w+\}/g, "*")}`;
    const served = app.routes
      .filter(({ method, path }) => method !== "ALL" && path.startsWith("/v1/") && path !== "/v1/openapi.json")
      .flatMap(({ method, path }) => {
        // Nodes of the kinds that are called records have no id.
        const named = path.endsWith(":key/:id") ? keys.filter((key) => paths[`/v1/worlds/{w}/nodes/${key}/{id}`] !== undefined) : keys;
        return path.includes(":key") ? named.map((key) => form(method, path.replace(":key", key))) : [form(method, path)];
      });
    const described = Object.entries(paths as Record<string, object>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => form(method, path)),
    );
    // order: the document has the order of its addresses.
    expect(served.sort()).toEqual(described.sort());
  });

  test("lists the statuses of each request: those of its form, and its own", async () => {
    const { request } = await openControl();
    const { paths } = (await request("GET", "/v1/openapi.json")).body;
    const statuses = (method: string, path: string) => Object.keys(paths[path][method].responses).join(" ");
    expect(statuses("get", "/v1/server")).toBe("200 401 403 500 503");
    expect(statuses("delete", "/v1/worlds/{w}")).toBe("200 401 403 404 409 500 503");
    expect(statuses("post", "/v1/worlds")).toBe("201 400 401 403 409 413 422 500 503");
    expect(statuses("delete", "/v1/worlds/{w}/nodes/labels/{id}")).toBe("200 401 403 404 500 503");
    expect(statuses("post", "/v1/worlds/{w}/live-feeds/callback")).toBe("200 400 403 404 413 500 503");
  });

  test("describes the sent and the returned form of a node", async () => {
    const { request } = await openControl();
    const { paths, components } = (await request("GET", "/v1/openapi.json")).body;
    const bodyOf = (method: string, path: string) => paths[path][method].requestBody.content["application/json"].schema;
    const labels = "/v1/worlds/{w}/nodes/labels";
    expect(bodyOf("post", labels).required).toEqual(["page", "name"]);
    expect(bodyOf("patch", `${labels}/{id}`)).not.toHaveProperty("required");
    expect(components.schemas.labels_entry.required).toEqual(["id", "page", "name"]);
    expect(components.schemas.labels_entry.properties.id.anyOf).toHaveLength(2);
    expect(components.schemas.labels.properties.id.type).toBe("string");
  });

  test("another method of an address is 405, and Allow names the methods that exist", async () => {
    const { app, request } = await openControl();
    const headers = { authorization: `Bearer ${KEY}` };
    const refused = async (method: string, path: string) => {
      const response = await app.request(path, { method, headers });
      const { error } = (await response.json()) as { error: { code: string } };
      return { status: response.status, allow: response.headers.get("allow"), code: error.code };
    };
    const methods = { status: 405, code: "method_not_allowed" };
    expect(await refused("PUT", "/v1/worlds/default/nodes/labels/5001")).toEqual({ ...methods, allow: "GET, PATCH, DELETE" });
    expect(await refused("PUT", "/v1/control-keys/rotate")).toEqual({ ...methods, allow: "POST" });
    expect((await app.request("/v1/worlds/default/live-feeds/callback", { method: "PUT" })).status).toBe(405);
    expect((await request("PUT", "clock/advance", { seconds: 1 })).status).toBe(405);
    expect((await request("PUT", "clock/advance", { seconds: 1 }, "")).status).toBe(401);
  });

  test("an address that is not served is 404", async () => {
    const { request } = await openControl();
    expect((await request("POST", "/v1/planets", { name: "x" })).status).toBe(404);
    expect((await request("POST", "snapshots", { name: "x" })).status).toBe(404);
  });
});

test("D-371: below /w/{world} the default world is that world, and all other addresses are the same", async () => {
  const { app } = await openControl();
  const ask = async (path: string) => {
    const response = await app.request(path, { headers: { authorization: `Bearer ${KEY}` } });
    return { status: response.status, text: await response.text() };
  };
  expect(await ask("/w/default/v1/worlds/default/clock")).toMatchObject({ status: 200 });
  expect(await ask("/w/orders/v1/worlds/default/clock")).toMatchObject({ status: 404, text: expect.stringContaining("world orders") });
  expect(await ask("/w/orders/v1/worlds/defaults/clock")).toMatchObject({ status: 404, text: expect.stringContaining("world defaults") });
  expect((await ask("/w/orders/v1/worlds")).text).toBe((await ask("/v1/worlds")).text);
  expect((await app.request("/w/orders/v1/worlds/default/clock")).status).toBe(401);
});
