import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import type { ControlRoute } from "#control-contract/route";
import { defineFeature } from "#graph/contract/feature";
import { Registry } from "#graph/contract/registry";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/plaza";
import { PageGuard } from "#kernel/page-guard";
import { buildRegistry } from "#main";
import { largestBodyBytes } from "./app.ts";
import { controlRoutes } from "./routes.ts";

describe("the control key", () => {
  test("is needed everywhere below /v1 but for the API's own document", async () => {
    const { request } = await openControl();
    for (const route of controlRoutes(buildRegistry())) {
      const path = route.path.replace("{w}", "default").replace("{key}", "labels").replace("{id}", "5001");
      for (const key of ["", "another", `${KEY}x`]) expect((await request(route.method, path, undefined, key)).status).toBe(401);
    }
    expect((await request("GET", "/v1/nothing", undefined, "")).status).toBe(401);
    expect((await request("GET", "/v1/openapi.json", undefined, "")).status).toBe(200);
  });

  test("health and readiness need none, and readiness asks the database", async () => {
    const { request, plaza } = await openControl();
    expect((await request("GET", "/healthz", undefined, "")).status).toBe(200);
    expect((await request("GET", "/readyz", undefined, "")).status).toBe(200);
    await plaza.world.database.close();
    expect((await request("GET", "/readyz", undefined, "")).status).toBe(503);
    expect((await request("GET", "/healthz", undefined, "")).status).toBe(200);
  });
});

test("D-240: a sandbox takes no request of another site's page, with the key or without, and health is for everybody", async () => {
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
  }
  for (const own of [{}, { origin: "http://localhost:3000" }, { origin: "https://app.example.com" }, { host: "plaza:4001" }] as Record<
    string,
    string
  >[]) {
    expect((await ask("/v1/worlds/default/clock", own)).status).toBe(200);
  }
});

onEachDatabase("addresses", (database) => {
  test("with what no text of a database holds lead nowhere, whatever they stand in", async () => {
    const { request } = await openControl({ database });
    for (const route of controlRoutes(buildRegistry()).filter(({ path }) => /\{(?!w\})/.test(path))) {
      const path = route.path.replace("{w}", "default").replace(/\{\w+\}/g, "%00");
      expect((await request(route.method, path, route.method === "GET" || route.method === "DELETE" ? undefined : {})).status).toBe(404);
    }
  });
});

test("the listener lets in the largest file that a feature's route takes", () => {
  const route: ControlRoute = {
    method: "POST",
    path: "/v1/worlds/{w}/gift-cards/list",
    operation: "uploadGiftCards",
    summary: "Takes a list of gift cards",
    body: "file",
    fileBytesMax: 2 ** 40,
    response: Type.Object({}),
    handle: async () => ({}),
  };
  expect(largestBodyBytes(new Registry([defineFeature({ name: "gift-cards", migrations: [], controlRoutes: [route] })]))).toBe(2 ** 40);
});

describe("the API's own document", () => {
  test("names every route, and a schema for each kind of node", async () => {
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

  test("what is not served yet is 404", async () => {
    const { request } = await openControl();
    expect((await request("POST", "/v1/planets", { name: "x" })).status).toBe(404);
    expect((await request("POST", "snapshots", { name: "x" })).status).toBe(404);
  });
});
