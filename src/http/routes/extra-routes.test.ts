/** Which of the server's own addresses a request means, and what of a handler's response is sent. */
import { expect, test } from "bun:test";
import type { Connection } from "../http1/connection.ts";
import type { RequestHead } from "../http1/request-head.ts";
import type { Place } from "../places/places.ts";
import { type RouteHandler, type RoutePlace, RouteTable, streamWebResponse, webRequest } from "./extra-routes.ts";

const names = ["/", "/openapi.json", "/player/", "/player/own.js"] as const;
const handlers = new Map(names.map((name) => [name as string, (() => new Response(name)) as RouteHandler]));
const table = new RouteTable(handlers);
const placeOf = (path: string, surface = "base"): Place => ({ path, surface }) as unknown as Place;
const found = (path: string, { method = "GET", accept = "text/html", surface = "base" } = {}): string | undefined => {
  const handler = table.find({ method, headers: accept === "" ? [] : ["Accept", accept] } as unknown as RequestHead, placeOf(path, surface));
  return names.find((name) => handlers.get(name) === handler);
};

test("an exact path comes before the one that takes all below it; others are not the server's own", () => {
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

test("D-05: the first page is for browsers alone, and takes nothing below it", () => {
  expect(found("/")).toBe("/");
  expect(found("/", { accept: "application/xml, text/html;q=0.9" })).toBe("/");
  for (const accept of ["", "*/*", "application/json"]) expect(found("/", { accept })).toBeUndefined();
  expect(found("/openapi.json", { accept: "" })).toBe("/openapi.json");
  expect(found("/2001")).toBeUndefined();
});

test("an address is the server's own whatever the request says, but on the base surface only", () => {
  expect(["/", "/player/x", "/other"].map((path) => table.isAt(placeOf(path)))).toEqual([true, true, false]);
  expect(table.isAt(placeOf("/player/x", "app"))).toBe(false);
});

test("a handler sees the address as the client used it, with its query and all headers", () => {
  const head = { method: "HEAD", target: { queryText: "a=1&b" }, headers: ["X-One", "1", "x-two", "2", "X-ONE", "3"] } as unknown as RequestHead;
  const place = { ...placeOf("/player/x"), baseUrl: "https://h/mount" } as RoutePlace;
  const request = webRequest(head, place);
  expect({ method: request.method, url: request.url }).toEqual({ method: "HEAD", url: "https://h/mount/player/x?a=1&b" });
  expect([...request.headers]).toEqual([
    ["x-one", "1, 3"],
    ["x-two", "2"],
  ]);
  expect(webRequest({ ...head, target: { queryText: "" } } as RequestHead, place).url).toBe("https://h/mount/player/x");
});

test("a handler's response keeps its status, body and headers, but for those that are the server's", async () => {
  const streamed: unknown[] = [];
  const exchange = { stream: async (...given: unknown[]) => void streamed.push(given) } as unknown as Connection;
  const headers = { "content-type": "text/plain", connection: "close", date: "now", "access-control-allow-origin": "x", "x-own": "1" };
  const response = new Response("body", { status: 203, headers });
  await streamWebResponse(exchange, response);
  await streamWebResponse(exchange, new Response(null, { status: 204 }));
  expect(streamed).toEqual([
    [{ status: 203, headers: { "content-type": "text/plain", "x-own": "1" } }, response.body],
    [{ status: 204, headers: {} }, undefined],
  ]);
});
