import { describe, expect, test } from "bun:test";
import { findHeader } from "./headers.ts";
import { parseTarget } from "./target.ts";

describe("targets", () => {
  test.each([
    { text: "/a/b?c=d?e#f", path: "/a/b", queryText: "c=d?e", authority: undefined },
    { text: "/a#b?c", path: "/a", queryText: "", authority: undefined },
    { text: "//evil.test/a", path: "//evil.test/a", queryText: "", authority: undefined },
    { text: "http://h:1/a?b", path: "/a", queryText: "b", authority: "h:1" },
    { text: "http://h?b", path: "/", queryText: "b", authority: "h" },
    { text: "a", path: "/a", queryText: "", authority: undefined },
  ])("$text", (target) => {
    expect(parseTarget(target.text)).toEqual(target);
  });
});

test("two headers of one name are both seen", () => {
  const headers = ["Authorization", "Bearer a", "x", "1", "authorization", "Bearer b"];
  expect(findHeader(headers, "authorization")).toBe("Bearer a, Bearer b");
  expect(findHeader(headers, "x")).toBe("1");
  expect(findHeader(headers, "y")).toBeUndefined();
});
