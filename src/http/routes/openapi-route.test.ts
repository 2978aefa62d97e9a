import { expect, test } from "bun:test";
import { openPlaza } from "#harness/plaza";
import { surfaces } from "#surfaces/surfaces";
import { failure } from "../refusals.ts";
import { openapiRoute } from "./openapi-route.ts";

const addresses = surfaces.map(({ name, mount }) => ({ name, mount }));

test("a document is used again until time, profile, calendar, address or selection change it", async () => {
  const { world, registry } = await openPlaza();
  const route = openapiRoute({ registry, monotonicMs: () => 0, traceId: () => "t", onUnexpected: () => {} }, addresses);
  const read = async (query = "", baseUrl = "http://one"): Promise<string> => {
    const destination = { world, baseUrl, surface: "base", path: "/openapi.json", isFromProxy: false } as unknown as Parameters<typeof route>[1];
    return (await route(new Request(`${baseUrl}/openapi.json${query}`), destination)).text();
  };
  const first = await read();
  expect(await read()).toBe(first);
  expect(first).toContain("http://one");
  expect(await read("", "http://two")).toContain("http://two");
  expect((await read("?type=label")).length).toBeLessThan(first.length);
  expect(await read("?surface=ads")).toContain("http://one/ads");
  world.profile = "clients";
  expect(await read()).not.toBe(first);
  world.profile = "strict";
  const { calendar } = world;
  const [oldest] = calendar.marketing;
  world.calendar = { ...calendar, marketing: calendar.marketing.map((one) => ({ ...one, released: one.released + 1 })) };
  expect(await read()).toBe(first);
  await world.clock.set(((oldest?.released ?? 0) - 1) * 1_000, true);
  expect(await read()).not.toBe(first);
  world.calendar = { ...calendar, platform: calendar.platform.slice(0, 1) };
  expect(await read()).not.toBe(first);
});

test("each type and each surface is accepted, and so is a type with a surface that serves it", async () => {
  const { world, registry } = await openPlaza();
  const route = openapiRoute({ registry, monotonicMs: () => 0, traceId: () => "t", onUnexpected: () => {} }, addresses);
  const destination = { world, baseUrl: "http://one", surface: "base", path: "/openapi.json", isFromProxy: false } as unknown as Parameters<
    typeof route
  >[1];
  const pathsOf = async (query: string) => {
    const response = await route(new Request(`http://one/openapi.json${query}`), destination);
    expect({ query, status: response.status }).toEqual({ query, status: 200 });
    return Object.keys(((await response.json()) as { paths: object }).paths);
  };
  for (const { type } of registry.types) await pathsOf(`?type=${type}`);
  for (const { name } of surfaces) expect((await pathsOf(`?surface=${name}`)).length).toBeGreaterThan(0);
  expect(await pathsOf("?type=label&surface=base")).toEqual(await pathsOf("?type=label"));
});

test("an unknown type or surface is refused with the known ones, and so is a surface that does not serve the type", async () => {
  const { world, registry } = await openPlaza();
  const deps = { registry, monotonicMs: () => 0, traceId: () => "t", onUnexpected: () => {} };
  const route = openapiRoute(deps, addresses);
  const destination = { world, baseUrl: "http://one", surface: "base", path: "/openapi.json", isFromProxy: false } as unknown as Parameters<
    typeof route
  >[1];
  const problemIn = async (query: string) => {
    const given = Promise.resolve(route(new Request(`http://one/openapi.json${query}`), destination));
    const { status, body } = await given.then(
      () => expect.unreachable(),
      (error) => failure(deps, world, "base", error),
    );
    const { error } = JSON.parse(body) as { error: { code: number; message: string; error_data: { parameter: string } } };
    return { status, code: error.code, parameter: error.error_data.parameter, message: error.message };
  };
  for (const query of ["?type=Label", "?type=", "?type=nothing&surface=nowhere"])
    expect(await problemIn(query)).toEqual({ status: 400, code: 100, parameter: "type", message: expect.stringContaining("label, ") });
  expect(await problemIn("?type=label&surface=graph")).toEqual({
    ...{ status: 400, code: 100, parameter: "surface" },
    message: "(#100) Param surface must be one of base, app, microblog, ads, social_login",
  });
  expect(await problemIn("?type=label&surface=ads")).toEqual({
    ...{ status: 400, code: 100, parameter: "surface" },
    message: "(#100) Param surface must be a surface that serves the type label",
  });
});
