import { describe, expect, test } from "bun:test";
import { findHeader } from "./headers.ts";
import { isHost } from "./host.ts";
import { parseTarget } from "./target.ts";

describe("targets", () => {
  test.each([
    { text: "/a/b?c=d?e#f", path: "/a/b", queryText: "c=d?e", authority: undefined },
    { text: "/a#b?c", path: "/a", queryText: "", authority: undefined },
    { text: "//evil.test/a", path: "//evil.test/a", queryText: "", authority: undefined },
    { text: "http://h:1/a?b", path: "/a", queryText: "b", authority: "h:1" },
    { text: "http://h?b", path: "/", queryText: "b", authority: "h" },
    { text: "HTTPS://h", path: "/", queryText: "", authority: "h" },
  ])("$text", (target) => {
    expect(parseTarget(target.text)).toEqual(target);
  });

  test.each(["", "a", "?a", "*", "h:1", "http:", "http:/h", "ftp://h/", "xhttp://h/"])("%j is no target", (text) => {
    expect(parseTarget(text)).toBeUndefined();
  });
});

test("hosts", () => {
  for (const host of ["a", "z", "A", "Z", "0", "9", "a:0", "a:9", "a:99999"]) expect(isHost(host)).toBe(true);
  // What stands next to them in ASCII.
  for (const host of ["`", "{", "@", "[", "/", ";", "a:/", "a::", "a:123456", "a:", ":1", ""]) expect(isHost(host)).toBe(false);
  for (const host of ["localhost", "a.b-c_d:1", "127.0.0.1:65535", "[::1]", "[::1]:80", "X"]) expect(isHost(host)).toBe(true);
  for (const host of ["", ":80", "a:", "a:b", "a:123456", "a:80:80", "[::1", "::1", "a%20", "ü", "a\\b", "a?b", "a#b", "[<]", "a".repeat(300)])
    expect(isHost(host)).toBe(false);
});

test("two headers of one name are both seen", () => {
  const headers = ["Authorization", "Bearer a", "x", "1", "authorization", "Bearer b"];
  expect(findHeader(headers, "authorization")).toBe("Bearer a, Bearer b");
  expect(findHeader(headers, "x")).toBe("1");
  expect(findHeader(headers, "y")).toBeUndefined();
});
