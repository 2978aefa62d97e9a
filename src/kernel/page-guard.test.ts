import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { hostnameOf, originOf, PageGuard } from "./page-guard.ts";

const guard = new PageGuard({ origins: ["https://app.example.com", "chrome-extension://abc"], hosts: ["plaza", "[fd00::1]"] });

const isServed = (host: string, headers: Record<string, string> = {}, method = "GET"): boolean =>
  guard.refusalOf({ method, host, header: (name) => headers[name] }) === undefined;

describe("D-240: a sandbox serves", () => {
  test.each([
    ...["localhost", "localhost:4000", "LOCALHOST:4000", "localhost.", "a.localhost:1", "127.0.0.1:4000", "127.8.9.10", "[::1]:4000", "[0:0::1]"],
    ...["plaza", "Plaza:4000", "[fd00:0::1]:80"],
  ])("the host %s", (host) => {
    expect(isServed(host)).toBe(true);
  });

  test.each([
    ...["evil.example", "evil.example:4000", "localhost.evil.example", "127.0.0.1.evil.example", "xlocalhost", "10.0.0.1", "0.0.0.0:4000"],
    ...["[fd00::2]", "notplaza", "plaza.evil.example", "evil.example/localhost", "localhost@evil.example", "localhost#.evil.example", "", ":4000"],
  ])("not the host %p", (host) => {
    expect(isServed(host)).toBe(false);
    expect(guard.refusalOf({ method: "GET", host, header: () => undefined })).toContain("--allow-host");
  });

  test.each([
    ...["http://localhost:3000", "https://localhost", "http://127.0.0.1:9", "http://[::1]:3000", "http://app.localhost", "http://plaza:4000"],
    ...["https://app.example.com", "chrome-extension://abc"],
  ])("pages of %s", (origin) => {
    for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
      // Browsers send `cross-site` for a request from one loopback name to another.
      expect(isServed("127.0.0.1:4000", { origin, "sec-fetch-site": "cross-site" }, method)).toBe(true);
    }
  });

  test.each([
    ...["https://evil.example", "http://app.example.com", "https://app.example.com:444", "https://app.example.com.evil.example", "null", ""],
    ...["http://localhost.evil.example", "https://evil.example, http://localhost", "http://localhost/x", "localhost", "chrome-extension://abd"],
  ])("not pages of %p", (origin) => {
    expect(isServed("localhost", { origin })).toBe(false);
    expect(guard.refusalOf({ method: "POST", host: "localhost", header: (name) => (name === "origin" ? origin : undefined) })).toContain(
      "--allow-origin",
    );
  });

  test("files and separated frames if they are named", () => {
    const open = new PageGuard({ origins: ["null"], hosts: [] });
    expect(open.refusalOf({ method: "GET", host: "localhost", header: (name) => (name === "origin" ? "null" : undefined) })).toBeUndefined();
  });

  test("a link that somebody follows, and nothing else that another site's page loads without an origin", () => {
    const followed = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect(isServed("localhost", followed)).toBe(true);
    expect(isServed("localhost", followed, "POST")).toBe(false);
    for (const dest of ["iframe", "image", "script", "empty", "object"])
      expect(isServed("localhost", { ...followed, "sec-fetch-dest": dest })).toBe(false);
    expect(isServed("localhost", { ...followed, "sec-fetch-mode": "no-cors" })).toBe(false);
    expect(isServed("localhost", { "sec-fetch-site": "cross-site" })).toBe(false);
    for (const site of ["same-origin", "same-site", "none"]) expect(isServed("localhost", { "sec-fetch-site": site })).toBe(true);
    // The function `fetch` of Node sends the header `Sec-Fetch-Mode`.
    expect(isServed("localhost", { "sec-fetch-mode": "cors" }, "POST")).toBe(true);
  });

  test("no unknown origin and host, in any form", () => {
    const other = fc.oneof(fc.string({ unit: "binary" }), fc.webUrl(), fc.domain());
    fc.assert(
      fc.property(other, (text) => {
        fc.pre(!/localhost|plaza|app\.example\.com/i.test(text) && !text.startsWith("chrome-extension"));
        const hostname = hostnameOf(text);
        fc.pre(hostname === undefined || !/^127\.|^\[::1\]$/.test(hostname));
        expect(isServed(text)).toBe(false);
        expect(isServed("localhost", { origin: text })).toBe(false);
      }),
    );
  });
});

test("an origin is written as browsers write it", () => {
  expect(
    [
      "https://A.example:443/",
      "http://a:80",
      "http://[::1]:1",
      "null",
      "chrome-extension://ABC",
      "http://u@a",
      "http://a/b",
      "http://a?b",
      "a",
      "",
    ].map(originOf),
  ).toEqual([
    ...["https://a.example", "http://a", "http://[::1]:1", "null", "chrome-extension://abc"],
    ...Array.from({ length: 5 }, () => undefined),
  ]);
});
