import { describe, expect, test } from "bun:test";
import { parseAddress, segmentsOf } from "#graph/pipeline/address";

const words = {
  isLiteral: (word: string) => word === "debug_token",
  isEdge: (word: string) => word === "labels",
  isPrefix: (word: string) => word === "pages",
};
const parse = (path: string, isVersioned = true) => JSON.parse(JSON.stringify(parseAddress(path, isVersioned, words)));

test("D-02: repeated slashes count as one, and one at the end as none", () => {
  expect(segmentsOf("//v26.0///2001/labels/")).toEqual(["v26.0", "2001", "labels"]);
  expect(segmentsOf("a")).toEqual(["a"]);
  expect([segmentsOf(""), segmentsOf("///")]).toEqual([[], []]);
});

describe("D-03: an address is", () => {
  test.each([
    ["/", {}],
    ["/v26.0", { version: 26 }],
    ["/v26.0/2001", { version: 26, id: "2001" }],
    ["/2001/labels", { id: "2001", edge: "labels" }],
    ["/me", { id: "me" }],
    ["/me/labels", { id: "me", edge: "labels" }],
    ["/v26.0/debug_token", { version: 26, edge: "debug_token" }],
    ["/v26.0/labels", { version: 26, edge: "labels" }],
    ["/pages/2001/labels", { prefix: "pages", id: "2001", edge: "labels" }],
    ["/v26.0/pages/2001/labels", { version: 26, prefix: "pages", id: "2001", edge: "labels" }],
    ["/%32001/label%73", { id: "2001", edge: "labels" }],
    ["/2001/%zz", { id: "2001", edge: "%zz" }],
  ])("%s", (path, expected) => {
    expect(parse(path)).toEqual(expected);
  });

  test("a version only where there are versions", () => {
    expect(() => parse("/v26.0/2001", false)).toThrow("Unknown path components: /v26.0/2001");
    expect(parse("/2001", false)).toEqual({ id: "2001" });
  });

  test.each([
    "/2001/labels/5001",
    "/v26.0/2001/labels/5001",
    "/v26.0/pages/2001/labels/1",
    "/nothing",
    "/debug_token/2001",
    "/labels/x",
    "/pages/2001",
    "/pages",
  ])("%s leads nowhere", (path) => {
    expect(() => parse(path)).toThrow(`Unknown path components: ${path}`);
  });
});
