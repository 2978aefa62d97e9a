/** D-150: checks that faults match requests and damage responses. */
import { expect, test } from "bun:test";
import type { FaultTarget, RequestFaultInput } from "../../worlds/fault-injection.ts";
import { type GraphResponse, JsonNumber } from "../request.ts";
import type { Incoming, Resolved } from "../stages.ts";
import { damaged, matchFault, throwErrorOf } from "./faults.ts";

const response = { status: 200, headers: { etag: '"a"', "content-type": "application/json" }, body: "{}" } as unknown as GraphResponse;
const with_ = (fault: Partial<RequestFaultInput>) => damaged(response, { operation: "*", ...fault });

test("a fault without a change of the response changes nothing", () => {
  for (const fault of [{}, { latency_ms: 5 }, { status: 500 }, { reset: false }, { content_type: "text/plain" }]) expect(with_(fault)).toBe(response);
  expect(damaged(response, undefined)).toBe(response);
});

test("a body replaces the response's own, and its tag is removed; a type needs another change", () => {
  expect(with_({ body: "" })).toEqual({ ...response, headers: { "content-type": "application/json" }, body: "" });
  expect(with_({ body: "<p>", content_type: "text/html" })).toEqual({ ...response, headers: { "content-type": "text/html" }, body: "<p>" });
  expect(response.headers.etag).toBe('"a"');
});

test("a fault of the connection has everything that it needs, and leaves body and tag", () => {
  const none = { reset: undefined, cut_body_at: undefined, body_bytes_per_second: undefined };
  for (const fault of [{ reset: true }, { cut_body_at: 0 }, { body_bytes_per_second: 5 }]) {
    expect(with_(fault)).toEqual({ ...response, damage: { ...none, ...fault } });
    expect(with_({ ...fault, body: "x" })).toMatchObject({ body: "x", damage: fault });
  }
});

test("a request is matched by its node, its tokens, and its parameters as text, of the query before the body", async () => {
  const seen: FaultTarget[] = [];
  const world = { faults: { match: async (target: FaultTarget) => void seen.push(target) } };
  const body = { a: "body", b: ["x", 1], c: new JsonNumber("1.50") };
  const request = { query: { a: "query" }, body, batchDepth: 0 };
  const tokens = ["1", "2"].map((id) => ({ token: { id } }));
  const of = (more: object, node?: object) =>
    matchFault({ world, request: { ...request, ...more } } as unknown as Incoming, "readPage", { node, credentials: tokens } as unknown as Resolved);
  await of({}, { id: "7" });
  await of({ batchDepth: 1 });
  expect(seen).toMatchObject([
    { operation: "readPage", node: "7", tokens: ["1", "2"], isPart: false },
    { node: undefined, isPart: true },
  ]);
  expect(["a", "b", "c", "d", "toString"].map((name) => seen[0]?.parameter(name))).toEqual(["query", '["x",1]', "1.50", undefined, undefined]);
});

test("an error is for the node's owner, else for the app; without one the operation runs", () => {
  const usageOf = (resolved: object): string => {
    try {
      throwErrorOf({ operation: "*", rate_limit: "page" }, resolved as Resolved);
    } catch (error) {
      return Object.keys(
        JSON.parse((error as { details: { headers: Record<string, string> } }).details.headers["x-business-use-case-usage"] ?? "{}"),
      ).join();
    }
    return "none";
  };
  expect([usageOf({ node: { owner: "9" }, app: { id: "1" } }), usageOf({ app: { id: "1" } }), usageOf({})]).toEqual(["9", "1", "0"]);
  expect(() => throwErrorOf({ operation: "*" }, {} as Resolved)).not.toThrow();
  expect(() => throwErrorOf({ operation: "*", status: 500 }, {} as Resolved)).toThrow("(#2) An injected fault");
});
