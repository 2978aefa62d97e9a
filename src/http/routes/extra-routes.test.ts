/** Checks which of the server's own routes a request is for. */
import { expect, test } from "bun:test";
import type { Destination } from "../destinations/destinations.ts";
import type { RequestHead } from "../http1/request-head.ts";
import { type RouteHandler, RouteTable } from "./extra-routes.ts";

const names = ["/", "/openapi.json", "/player/", "/player/own.js"] as const;
const handlers = new Map(names.map((name) => [name as string, (() => new Response(name)) as RouteHandler]));
const table = new RouteTable(handlers);
const destinationOf = (path: string, surface = "base"): Destination => ({ path, surface }) as unknown as Destination;
const found = (path: string, { method = "GET", accept = "text/html", surface = "base", queryText = "" } = {}): string | undefined => {
  const head = { method, headers: accept === "" ? [] : ["Accept", accept], target: { queryText } } as unknown as RequestHead;
  const handler = table.find(head, destinationOf(path, surface));
  return names.find((name) => handlers.get(name) === handler);
};

test("an exact path precedes one for everything below it; others are not the server's own", () => {
  expect(["/openapi.json", "/player/own.js", "/player/other.js", "/player/"].map((path) => found(path))).toEqual([
    "/openapi.json",
    "/player/own.js",
    "/player/",
    "/player/",
  ]);
  for (const path of ["/openapi.json/x", "/player", "/other", "x/player/", ""])
    expect({ path, found: found(path) }).toEqual({ path, found: undefined });
});

test("only a GET or HEAD on the base surface finds one", () => {
  expect(["GET", "HEAD", "POST", "OPTIONS", "DELETE"].map((method) => found("/player/x", { method }))).toEqual([
    "/player/",
    "/player/",
    undefined,
    undefined,
    undefined,
  ]);
  expect(found("/player/x", { surface: "app" })).toBeUndefined();
});

test("D-05: the first page is only for browsers, and has nothing below it", () => {
  expect(found("/")).toBe("/");
  expect(found("/", { accept: "application/xml, text/html;q=0.9" })).toBe("/");
  for (const accept of ["", "*/*", "application/json"]) expect(found("/", { accept })).toBeUndefined();
  // Java's own HTTP client sends this Accept header with all requests, among them `GET /?ids=…`.
  expect(found("/", { accept: "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", queryText: "ids=2001" })).toBeUndefined();
  expect(found("/openapi.json", { accept: "" })).toBe("/openapi.json");
  expect(found("/2001")).toBeUndefined();
});

test("an address is the server's own for any request, but only on the base surface", () => {
  expect(["/", "/player/x", "/other"].map((path) => table.isAt(destinationOf(path)))).toEqual([true, true, false]);
  expect(table.isAt(destinationOf("/player/x", "app"))).toBe(false);
});
