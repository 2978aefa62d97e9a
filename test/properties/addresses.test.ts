import { describe, expect, test } from "bun:test";
import { parseAddress, segmentsOf } from "#graph/pipeline/address";

const words = {
  isLiteral: (word: string) => word === "debug_token",
  isEdge: (word: string) => word === "labels",
  isPrefix: (word: string) => word === "pages",
};
const parse = (path: string, isVersioned = true) => JSON.parse(JSON.stringify(parseAddress(path, isVersioned, words)));

test("D-02: repeated slashes count as one, and a final one as none", () => {
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

  test("a version only on surfaces with versions", () => {
    expect(parse("/v26.0/2001", false)).toEqual({ unknown: "/v26.0/2001" });
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
    expect(parse(path).unknown).toBe(path);
  });

  test("D-20, D-83: unknown, and still has a version, and any edge that it names", () => {
    expect(parse("/v24.0/abc/labels")).toEqual({ version: 24, edge: "labels", unknown: "/v24.0/abc/labels" });
    expect(parse("/v24.0/1/x/y/labels/z")).toEqual({ version: 24, edge: "labels", unknown: "/v24.0/1/x/y/labels/z" });
    expect(parse("/debug_token/2001")).toEqual({ edge: "debug_token", unknown: "/debug_token/2001" });
    expect(parse("/v24.0/abc/nothing")).toEqual({ version: 24, unknown: "/v24.0/abc/nothing" });
  });
});
