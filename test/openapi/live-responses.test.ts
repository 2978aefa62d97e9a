/** The conformance cases again, on memory: every response is checked against the document that the server has at `/openapi.json`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Case, loadCases, serverKey } from "#conformance/cases";
import { Receiver } from "#conformance/http/receiver";
import { jsonOf } from "#conformance/http/response";
import type { WireRequest, WireResponse } from "#conformance/http/wire";
import { type RunningServer, startServer } from "#conformance/server";
import { runCase } from "#conformance/session";
import { documentOf, type OpenapiDocument } from "./documents.ts";
import { DocumentedResponses } from "./live-responses.ts";

const START_TIMEOUT_MS = 60_000;
const CASE_TIMEOUT_MS = 60_000;

/** Those that share a server: the others change a clock or an app, and respond no differently. */
const shared = loadCases().filter(({ isAlone }) => !isAlone);
const succeeded = { strict: new Set<string>(), clients: new Set<string>() };

function declare(group: readonly Case[]): void {
  const [first] = group as [Case];
  let server: RunningServer;
  let receiver: Receiver;
  let documented: DocumentedResponses;
  beforeAll(async () => {
    receiver = await Receiver.start();
    server = await startServer(first, ":memory:", receiver.address);
    const response = await fetch(`${server.addresses.base}/openapi.json`);
    documented = new DocumentedResponses((await response.json()) as OpenapiDocument);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    for (const name of documented.succeeded) succeeded[first.profile].add(name);
    receiver.stop();
    await server.stop();
  });
  for (const testCase of group) {
    test(
      testCase.title,
      async () => {
        const problems: string[] = [];
        const observe = (request: WireRequest, response: WireResponse): void => {
          const problem = problemOf(documented, server, request, response);
          if (problem !== undefined)
            problems.push(`${request.method} ${request.target}: ${response.status} ${problem}\n${response.text.slice(0, 1000)}`);
        };
        // Whether the case holds is the business of the conformance tests.
        await runCase(testCase, { ...server, observe }, receiver);
        expect(problems).toEqual([]);
      },
      CASE_TIMEOUT_MS,
    );
  }
}

function problemOf(
  documented: DocumentedResponses,
  { addresses }: RunningServer,
  request: WireRequest,
  { status, text }: WireResponse,
): string | undefined {
  const surface = surfaceOf(addresses, request.origin + request.target);
  const isDescribed = !/[?&](method|ids)=/.test(request.target);
  if (surface === undefined || !isDescribed || !["GET", "POST", "DELETE"].includes(request.method)) return undefined;
  // A form or JSON body may name another method, or be a batch.
  if (request.body !== undefined && /\b(method|batch)\b/.test(Buffer.from(request.body).toString())) return undefined;
  return documented.problemOf({ ...surface, method: request.method, status, body: ownKeys(jsonOf(text)) });
}

/** What a request asks for beside the response is no part of the document. */
function ownKeys(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const { __debug__: _, metadata: __, ...own } = body as Record<string, unknown>;
  return own;
}

const SURFACES = ["app", "microblog", "ads", "social_login", "base"];

/** The base surface is at the root, so it takes what no other one does. */
function surfaceOf(addresses: Readonly<Record<string, string>>, url: string): { address: string; path: string } | undefined {
  for (const name of ["control", ...SURFACES]) {
    const address = (addresses[name] ?? "").replace(/\/$/, "");
    if (address === "" || !(url === address || url.startsWith(`${address}/`) || url.startsWith(`${address}?`))) continue;
    return name === "control" ? undefined : { address, path: url.slice(address.length) };
  }
  return undefined;
}

describe("responses to the conformance cases are as documented", () => {
  for (const group of Map.groupBy(shared, serverKey).values()) describe(`${group[0]?.profile}, ${group[0]?.world}`, () => declare(group));
});

/** The cases that reach these change a clock or a world, and run on servers of their own. */
const REACHED_ALONE = ["listLiveMap", "setSolutionMigrationIntent"];

test("every operation of the strict profile had a 200 at least once", () => {
  const named = Object.values(documentOf().paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
  const names = named.filter((name) => !name.includes("WithoutVersion") && !name.includes("Under"));
  expect(names.filter((name) => !succeeded.strict.has(name))).toEqual(REACHED_ALONE);
});

test("a response that is not as documented is found", () => {
  const documented = new DocumentedResponses(documentOf({ type: "label" }));
  const live = { method: "GET", address: "https://graph.plaza.test", path: "/v26.0/5001?fields=id", status: 200 };
  expect(documented.problemOf({ ...live, body: { id: "5001" } })).toBeUndefined();
  expect(documented.problemOf({ ...live, body: { id: "5001", colour: "red" } })).toContain("must NOT have additional properties");
  expect(documented.problemOf({ ...live, body: { id: 5001 } })).toContain("must be string");
  expect(documented.problemOf({ ...live, status: 418, body: {} })).toBe("the status 418 is not in the document");
  expect(documented.problemOf({ ...live, path: "/v26.0/5001/unheard_of", status: 400, body: { message: "no" } })).toBe("is an error in neither form");
});
