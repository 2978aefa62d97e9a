import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { World } from "#graph/worlds/world";
import { findHeader } from "#kernel/http-text/headers";
import { surfaces } from "#surfaces/surfaces";
import { appPrefixOf, Destinations } from "./destinations.ts";
import { hostnameOf, Origins } from "./origin.ts";

const world = (name: string): World => ({ name }) as World;
const entered = (name: string) => ({ world: world(name), leave: () => {} });
const door = { isOpened: false, showToken: async () => {}, showNode: async () => {} };
const worlds = {
  default: world("default"),
  enterOpen: async (name: string) => (name === "t1" || name === "default" ? entered(name) : undefined),
  outside: async () => ({ ...entered("empty"), door }),
  enter: async (name: string) => (name === "closed" ? entered(name) : undefined),
};
const where = async (destinations: Destinations, host: string, path: string) => {
  const { world: found, surface, mount, path: rest } = await destinations.find(host, path);
  return { world: found.name, surface, mount, path: rest };
};

describe("D-01: surfaces by path", () => {
  const destinations = new Destinations(worlds, surfaces);
  test.each([
    { from: "/v26.0/2001", world: "default", surface: "base", mount: "", path: "/v26.0/2001" },
    { from: "/", world: "default", surface: "base", mount: "", path: "/" },
    { from: "/app/1001/activities", world: "default", surface: "app", mount: "/app", path: "/1001/activities" },
    { from: "/app", world: "default", surface: "app", mount: "/app", path: "/" },
    { from: "/apple", world: "default", surface: "base", mount: "", path: "/apple" },
    { from: "/microblog/v1.0/7001", world: "default", surface: "microblog", mount: "/microblog/v1.0", path: "/7001" },
    { from: "/microblog/v2.0/7001", world: "default", surface: "base", mount: "", path: "/microblog/v2.0/7001" },
    { from: "/ads/v25.0/8001", world: "default", surface: "ads", mount: "/ads", path: "/v25.0/8001" },
    { from: "/social-login/me", world: "default", surface: "social_login", mount: "/social-login", path: "/me" },
    { from: "//ads///v25.0//8001", world: "default", surface: "ads", mount: "/ads", path: "///v25.0//8001" },
    { from: "///microblog//v1.0///7001", world: "default", surface: "microblog", mount: "/microblog/v1.0", path: "///7001" },
    { from: "/w/t1/v26.0/2001", world: "t1", surface: "base", mount: "/w/t1", path: "/v26.0/2001" },
    { from: "//w//t1//app//me", world: "t1", surface: "app", mount: "/w/t1/app", path: "//me" },
    { from: "/w/t1", world: "t1", surface: "base", mount: "/w/t1", path: "/" },
    { from: "/w/none/2001", world: "empty", surface: "base", mount: "/w/none", path: "/2001" },
    { from: "/w/closed/ads/2001", world: "empty", surface: "ads", mount: "/w/closed/ads", path: "/2001" },
    { from: "/w", world: "default", surface: "base", mount: "", path: "/w" },
  ])("$from", async ({ from, ...destination }) => {
    expect(await where(destinations, "localhost:4000", from)).toEqual(destination as Awaited<ReturnType<typeof where>>);
  });

  test("repeated slashes change nothing", async () => {
    const slashes = fc.integer({ min: 1, max: 4 }).map((count) => "/".repeat(count));
    const mounted = fc.constantFrom(["app"], ["ads"], ["microblog", "v1.0"], ["social-login"], ["w", "t1"], ["w", "t1", "ads"], []);
    await fc.assert(
      fc.asyncProperty(mounted, fc.array(slashes, { minLength: 8, maxLength: 8 }), async (segments, gaps) => {
        const written = [...segments, "2001"].map((segment, i) => `${gaps[i]}${segment}`).join("");
        const once = await where(destinations, "h", `/${[...segments, "2001"].join("/")}`);
        const found = await where(destinations, "h", written);
        expect({ ...found, path: found.path.replaceAll(/\/+/g, "/") }).toEqual(once);
      }),
    );
  });
});

test("D-01: a surface with its own host name is served only there", async () => {
  const destinations = new Destinations(worlds, [
    { name: "base", mount: "" },
    { name: "ads", mount: "", hostname: "ads.test" },
    { name: "microblog", mount: "/v1.0", hostname: "micro.test" },
    { name: "app", mount: "/app" },
  ]);
  expect(await where(destinations, "ADS.test:4000", "/v25.0/8001")).toEqual({ world: "default", surface: "ads", mount: "", path: "/v25.0/8001" });
  expect(await where(destinations, "micro.test", "/v1.0/7001")).toEqual({ world: "default", surface: "microblog", mount: "/v1.0", path: "/7001" });
  expect(await where(destinations, "other.test", "/ads/v25.0/8001")).toEqual({
    world: "default",
    surface: "base",
    mount: "",
    path: "/ads/v25.0/8001",
  });
  expect(await where(destinations, "other.test", "/app/me")).toEqual({ world: "default", surface: "app", mount: "/app", path: "/me" });
  expect(await where(destinations, "ads.test", "/w/t1/v25.0/8001")).toEqual({ world: "t1", surface: "ads", mount: "/w/t1", path: "/v25.0/8001" });
  // A surface with its own host name may be in any position in the list, and may be the only surface of this form.
  const lone = new Destinations(worlds, [
    { name: "ads", mount: "", hostname: "ads.test" },
    { name: "base", mount: "" },
  ]);
  expect(await where(lone, "ads.test", "/1")).toMatchObject({ surface: "ads" });
  expect(await where(lone, "other.test", "/1")).toMatchObject({ surface: "base" });
});

describe("D-260: a world by its host name", () => {
  const at = { isHostKept: new Destinations(worlds, surfaces), isHostReplaced: new Destinations(worlds, surfaces, false) };
  test.each([
    { host: "t1.localhost:4000", from: "/v26.0/2001", world: "t1", surface: "base", mount: "", path: "/v26.0/2001" },
    { host: "T1.LocalHost", from: "/app/me", world: "t1", surface: "app", mount: "/app", path: "/me" },
    { host: "t1.localhost", from: "/w/t1/me", world: "t1", surface: "base", mount: "/w/t1", path: "/me" },
    { host: "localhost", from: "/me", world: "default", surface: "base", mount: "", path: "/me" },
    { host: "t1.test", from: "/me", world: "default", surface: "base", mount: "", path: "/me" },
    { host: "a.t1.localhost", from: "/me", world: "default", surface: "base", mount: "", path: "/me" },
    { host: "t1-localhost", from: "/me", world: "default", surface: "base", mount: "", path: "/me" },
    { host: "t1.localhost", from: "/w/", world: "t1", surface: "base", mount: "", path: "/w/" },
  ])("$host$from", async ({ host, from, ...destination }) => {
    expect(await where(at.isHostKept, host, from)).toEqual(destination as Awaited<ReturnType<typeof where>>);
  });

  test("D-333: an empty world serves a host whose world is closed or does not exist", async () => {
    expect(await where(at.isHostKept, "none.localhost", "/v26.0/2001")).toMatchObject({ world: "empty", mount: "", path: "/v26.0/2001" });
    expect(await where(at.isHostReplaced, "none.localhost", "/v26.0/2001")).toMatchObject({ world: "empty", mount: "/w/none" });
  });

  test("D-333: a request goes into a closed world at the same address, and not into one that was deleted", async () => {
    const outside = await at.isHostKept.find("h", "/w/closed/ads/2001");
    expect(outside).toMatchObject({ worldName: "closed", door });
    const { leave: _, ...inside } = (await at.isHostKept.goIn(outside)) ?? { leave: undefined };
    expect(inside).toMatchObject({ world: { name: "closed" }, surface: "ads", mount: "/w/closed/ads", path: "/2001", door: undefined });
    expect(await at.isHostKept.goIn(await at.isHostKept.find("h", "/w/none/2001"))).toBeUndefined();
    expect(await at.isHostKept.goIn(await at.isHostKept.find("h", "/2001"))).toBeUndefined();
  });

  test("links that begin with another host name contain the world in their path", async () => {
    expect(await where(at.isHostReplaced, "t1.localhost", "/app/me")).toEqual({ world: "t1", surface: "app", mount: "/w/t1/app", path: "/me" });
    expect(await where(at.isHostReplaced, "localhost", "/app/me")).toMatchObject({ world: "default", mount: "/app" });
  });
});

test("D-97: an app of another world is another app, and the first world's apps have only their ids", () => {
  expect([undefined, "default", "t1"].map((worldName) => `${appPrefixOf({ worldName })}1001`)).toEqual(["1001", "1001", "t1/1001"]);
});

test("there may be a single proxy, and it may write a blank after the client's host", () => {
  const origins = new Origins(["10.0.0.1"]);
  const peer = { remoteAddress: "10.0.0.1" };
  const headers = ["X-Forwarded-Host", "public.test , inner", "X-Forwarded-Proto", "https , http", "X-Forwarded-For", "203.0.113.7"];
  expect(origins.of(headers, "inner", peer)).toEqual({ scheme: "https", host: "public.test" });
  expect({ client: origins.clientOf(headers, peer), isProxy: origins.isProxy(peer) }).toEqual({ client: "203.0.113.7", isProxy: true });
});

describe("D-01: scheme and host as the client used them", () => {
  const forwarded = ["Host", "inner:1", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "graph.example, inner"];
  const origins = new Origins(["10.0.0.0/8", "::1/128", "192.0.2.7"]);
  origins.configured("http", "0.0.0.0", 4000);
  const from = (remote: string | undefined, raw: string[]) => {
    const { scheme, host } = origins.of(raw, findHeader(raw, "host"), { remoteAddress: remote });
    return `${scheme}://${host}`;
  };

  test("a trusted proxy is believed", () => {
    for (const remote of ["10.1.2.3", "::ffff:10.1.2.3", "::1", "192.0.2.7"]) expect(from(remote, forwarded)).toBe("https://graph.example");
    expect(from("10.1.2.3", ["Host", "h"])).toBe("http://h");
    expect(from("10.1.2.3", ["Host", "h", "X-Forwarded-Proto", "javascript", "X-Forwarded-Host", "a/b"])).toBe("http://h");
  });

  test("nobody else is", () => {
    for (const remote of ["11.1.2.3", "::2", "192.0.2.8", undefined, "not an address"]) expect(from(remote, forwarded)).toBe("http://inner:1");
  });

  test("links begin with the public address if there is one; a surface keeps its own host name", () => {
    const at = (url: string | undefined, destination: { mount: string; hostname: string | undefined }) =>
      new Origins([], url).baseUrlOf({ scheme: "http", host: "evil.test" }, destination);
    expect(at(undefined, { mount: "/ads", hostname: undefined })).toBe("http://evil.test/ads");
    expect(at("https://graph.example:8443/plaza", { mount: "/ads", hostname: undefined })).toBe("https://graph.example:8443/plaza/ads");
    expect(at("https://graph.example:8443/plaza", { mount: "/v1.0", hostname: "micro.example" })).toBe("https://micro.example:8443/v1.0");
  });

  test("a request without a host is for the configured address", () => {
    expect(from("11.1.2.3", [])).toBe("http://localhost:4000");
  });

  test("an invalid range is an error at the start", () => {
    expect(() => new Origins(["10.0.0.0/99"])).toThrow("has neither IPv6 nor IPv4 CIDR format");
    expect(() => new Origins(["proxy.local"])).toThrow("has neither IPv6 nor IPv4 CIDR format");
  });

  test("a host name is in lower case and without its port", () => {
    expect(["A.b:80", "[::1]:80", "a", "[::1]"].map(hostnameOf)).toEqual(["a.b", "[::1]", "a", "[::1]"]);
  });
});
