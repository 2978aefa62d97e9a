/** Checks which parts of a request a handler gets, and which parts of the handler's response the server sends. */
import { expect, test } from "bun:test";
import type { Connection } from "./http1/connection.ts";
import type { RequestHead } from "./http1/request-head.ts";
import { sendWebResponse, webRequest } from "./web.ts";

test("a handler sees the address as the client used it, with its query and all headers", () => {
  const head = { method: "HEAD", target: { queryText: "a=1&b" }, headers: ["X-One", "1", "x-two", "2", "X-ONE", "3"] } as unknown as RequestHead;
  const address = "https://h/mount/player/x";
  const request = webRequest(head, address);
  expect({ method: request.method, url: request.url }).toEqual({ method: "HEAD", url: "https://h/mount/player/x?a=1&b" });
  expect([...request.headers]).toEqual([
    ["x-one", "1, 3"],
    ["x-two", "2"],
  ]);
  expect(webRequest({ ...head, target: { queryText: "" } } as RequestHead, address).url).toBe("https://h/mount/player/x");
});

test("a handler's response keeps its status, body and headers, except those of the server", async () => {
  const streamed: unknown[] = [];
  const connection = { stream: async (...given: unknown[]) => void streamed.push(given) } as unknown as Connection;
  const headers = { "content-type": "text/plain", connection: "close", date: "now", "access-control-allow-origin": "x", "x-own": "1" };
  const response = new Response("body", { status: 203, headers });
  await sendWebResponse(connection, response);
  await sendWebResponse(connection, new Response(null, { status: 204 }));
  expect(streamed).toEqual([
    [{ status: 203, headers: { "content-type": "text/plain", "x-own": "1" } }, response.body],
    [{ status: 204, headers: {} }, undefined],
  ]);
});

test("an invalid address is refused, and so is a method that a Request would turn into GET", () => {
  const head = { method: "GET", target: { queryText: "" }, headers: [] } as unknown as RequestHead;
  for (const host of ["h:99999", "1.2.3.400"]) expect(() => webRequest(head, `http://${host}/`)).toThrow("is not a valid host name or address");
  expect(() => webRequest({ ...head, method: "FOO" }, "http://h/")).toThrow("FOO is not known");
});
