/** D-04, D-90: checks the response to OPTIONS for an address. The tests declare an operation of each method for each form of address. */
import { expect, test } from "bun:test";
import type { Registry } from "#graph/contract/registry";
import type { SurfaceName } from "#graph/pipeline/request";
import { allowedMethods } from "./allowed-methods.ts";

interface Served {
  readonly edge?: string;
  readonly method?: string;
  readonly nodeType?: string;
  readonly surfaces?: readonly string[];
  readonly clientsSurfaces?: readonly string[];
}

/** Makes a registry of the given operations. An operation without `method` declares a node that can only be read. */
function registryOf(...served: readonly Served[]): Registry {
  const endpoints = served.map(({ edge, method, nodeType, surfaces = ["base"], clientsSurfaces }) => ({
    access: { surfaces, ...(clientsSurfaces === undefined ? {} : { clientsSurfaces }) },
    nodeType,
    served: method === undefined ? undefined : { contract: { edge: edge ?? null, method } },
  }));
  const words = {
    isLiteral: (word: string) => word === "debug",
    isEdge: (word: string) => word === "notes",
    isPrefix: (word: string) => word === "pages",
  };
  return { endpoints, ...words, isUnder: (prefix: string, edge?: string) => prefix === "pages" && edge === "notes" } as unknown as Registry;
}

const registry = registryOf(
  { nodeType: "page" },
  { nodeType: "note", method: "DELETE" },
  { nodeType: "page", edge: "notes", method: "GET" },
  { nodeType: "page", edge: "sends", method: "POST" },
  { edge: "debug", method: "GET" },
  { nodeType: "page", edge: "ads", method: "POST", surfaces: ["ads"], clientsSurfaces: ["base"] },
  { nodeType: "page", edge: "videos", method: "POST", surfaces: ["ads"], clientsSurfaces: ["app"] },
);
const at = (path: string, profile: "strict" | "clients" = "strict", surface: SurfaceName = "base", isOwn = false) =>
  allowedMethods(registry, profile, surface, path, isOwn);

test("the methods of all operations at the address, in one order, and HEAD wherever there is GET", () => {
  expect(at("/v26.0/1")).toBe("GET, HEAD, DELETE, OPTIONS");
  expect(at("/v26.0/1/notes")).toBe("GET, HEAD, OPTIONS");
  expect(at("/v26.0/1/sends")).toBe("POST, OPTIONS");
  expect(at("/v26.0/debug")).toBe("GET, HEAD, OPTIONS");
});

test("without an operation there is only OPTIONS; the server's own addresses can be read", () => {
  for (const path of ["/v26.0/1/unknown", "/v26.0/unknown", "/v26.0/1/notes/2"]) expect(at(path)).toBe("OPTIONS");
  expect(at("/openapi.json", "strict", "base", true)).toBe("GET, HEAD, OPTIONS");
});

test("D-34: the root has batches and reads of several ids, and an edge without an id has such reads", () => {
  expect(at("/")).toBe("GET, HEAD, POST, OPTIONS");
  expect(at("/v26.0")).toBe("GET, HEAD, POST, OPTIONS");
  expect(at("/v26.0/notes")).toBe("GET, HEAD, OPTIONS");
});

test("after a literal only its own edges count", () => {
  expect(at("/v26.0/pages/1/notes")).toBe("GET, HEAD, OPTIONS");
  expect(at("/v26.0/pages/1/sends")).toBe("OPTIONS");
});

test("only on the surfaces of the operation; in the clients profile also on its further ones", () => {
  expect([at("/v26.0/1/ads"), at("/v26.0/1/ads", "clients")]).toEqual(["OPTIONS", "POST, OPTIONS"]);
  expect(at("/v26.0/1/ads", "strict", "ads")).toBe("POST, OPTIONS");
  expect([at("/v26.0/1/videos", "clients"), at("/v26.0/1/notes", "clients", "ads")]).toEqual(["OPTIONS", "OPTIONS"]);
});
