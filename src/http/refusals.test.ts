/** If bytes are not valid HTTP, the client gets the status and the limit that was exceeded. */
import { expect, test } from "bun:test";
import { serveEcho } from "#harness/echo-graph";
import { exchange } from "#harness/http/raw-http";
import { defaultLimits } from "./limits.ts";
import { graphErrorOf } from "./refusals.ts";

test.each([
  [{ kind: "malformed-head", detail: "it has no host" }, 400, "(#100) The request is not valid HTTP: it has no host", undefined],
  [{ kind: "head-too-large" }, 431, "(#100) The address and headers are larger than 9000 bytes", undefined],
  [{ kind: "head-too-slow", msMax: 7 }, 408, "(#100) The request did not arrive within 7 ms", undefined],
  [{ kind: "body-too-slow", msMax: 8 }, 408, "(#100) The request did not arrive within 8 ms", undefined],
  [{ kind: "malformed-chunks" }, 400, "(#100) The chunked encoding of the request body is not valid", undefined],
  [{ kind: "body-too-large", bytesMax: 9 }, 413, "(#100) The request body is larger than 9 bytes", undefined],
  [{ kind: "no-capacity" }, 503, "(#2) The service is busy; please retry", { "retry-after": "1" }],
] as const)("%j", (problem, status, message, headers) => {
  const { entry, message: said, details } = graphErrorOf(problem, { ...defaultLimits, headerBytesMax: 9_000 });
  expect({ status: entry.status, message: said, headers: details.headers }).toEqual({ status, message, headers });
});

test("they count among the requests", async () => {
  const { port, metrics, stop } = await serveEcho();
  await exchange(port, ["nonsense\r\n\r\n"]);
  expect(metrics.report().operations).toMatchObject({ unknown: { byStatus: { 400: 1 } } });
  await stop(0);
});
