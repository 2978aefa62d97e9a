/** Checks the runner itself: expectations can fail, and requests are sent as the cases write them. */
import { describe, expect, test } from "bun:test";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { parse } from "yaml";
import { type Case, loadCases } from "./cases.ts";
import { checkResponse, type Expectation } from "./checks/expectations.ts";
import { matches } from "./checks/matchers.ts";
import { valueAt } from "./checks/paths.ts";
import { caseTexts, specTexts, worldTexts } from "./files.ts";
import { Receiver } from "./http/receiver.ts";
import { curlLine, exchange } from "./http/requests.ts";
import { jsonOf } from "./http/response.ts";
import { fill } from "./names.ts";
import { runCase } from "./session.ts";
import { parseStep } from "./step-format.ts";
import { buildWorld, nodesInOrder } from "./worlds.ts";
import { readYaml } from "./yaml.ts";

const cases = loadCases();

const responseOf = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  const text = JSON.stringify(body);
  return { status, headers: new Map(Object.entries(headers)), text, json: jsonOf(text) };
};

const problemsOf = (body: unknown, expected: Expectation, profile = "strict", headers: Record<string, string> = { "x-pf-trace-id": "t" }) =>
  checkResponse(responseOf(400, body, headers), expected, { profile, kept: new Map() }).length;

test("cases, worlds and clauses are read like the npm package's, and a repeated key is refused", () => {
  const texts = { ...caseTexts, ...worldTexts, "clauses.yaml": specTexts["clauses.yaml"] ?? "" };
  for (const [path, text] of Object.entries(texts)) expect({ path, read: readYaml(text) }).toEqual({ path, read: parse(text, { merge: true }) });
  expect(() => readYaml("a: 1\nb: [2\nc: 3\n")).toThrow("line 3");
});

test("each operator accepts the right values and refuses the others", () => {
  const table: [unknown, unknown, unknown][] = [
    [{ equals: { a: 1 } }, { a: 1 }, { a: 1, b: 2 }],
    [{ not: "a" }, "b", "a"],
    [{ absent: true }, undefined, null],
    [{ present: true }, null, undefined],
    [{ type: "id" }, "9223372036854775807", "9223372036854775808"],
    [{ type: "id" }, "1", "01"],
    [{ type: "integer" }, 1, 1.5],
    [{ type: "object" }, {}, []],
    [{ type: "url" }, "https://example.com/", "ftp://example.com/"],
    [{ matches: "^a$" }, "a", "ab"],
    [{ one_of: [1, 2] }, 2, 3],
    [{ length: 2 }, "😀a", "😀"],
    [{ min: 2, max: 3 }, 3, 4],
    [{ contains: ["a", "b"] }, ["b", "a"], ["a"]],
    [{ contains: "a" }, "cab", "cb"],
    [{ each: { type: "string" } }, ["a"], []],
    [{ same_set: [1, 2] }, [2, 1], [1, 2, 2]],
    [{ unique: true }, [1, 2], [1, 1]],
    [{ id_after: "9007199254740993" }, "9007199254740994", "9007199254740993"],
    [{ keys: ["a"] }, { a: 1 }, { a: 1, b: 1 }],
    [{ at: { "a.b": 1 } }, { a: { b: 1 } }, { a: { b: 2 } }],
    [{ query: { a: "x" } }, "http://h/?a=x", "http://h/?a=y"],
    [["a"], ["a"], ["a", "b"]],
  ];
  for (const [matcher, good, bad] of table) {
    expect(matches(good, matcher, "good")).toEqual([]);
    expect(matches(bad, matcher, JSON.stringify(matcher))).not.toEqual([]);
  }
  expect(() => matches(1, { equal: 1 }, "a misspelt operator")).toThrow("no such expectation");
});

describe("the error forms", () => {
  const flat = { message: "m", code: 100, type: "OAuthException", pftrace_id: "t" };
  test("are distinguished, and know their fields", () => {
    expect(problemsOf(flat, { flat_error: { code: 100 } })).toBe(0);
    expect(problemsOf({ error: flat }, { wrapped_error: { code: 100 } })).toBe(0);
    expect(problemsOf({ error: flat }, { flat_error: {} })).toBeGreaterThan(0);
    expect(problemsOf(flat, { wrapped_error: {} })).toBeGreaterThan(0);
    expect(problemsOf({ ...flat, extra: 1 }, { flat_error: {} })).toBeGreaterThan(0);
    expect(problemsOf({ ...flat, error_subcode: "33" }, { flat_error: {} })).toBeGreaterThan(0);
    expect(problemsOf({ ...flat, pftrace_id: "other" }, { flat_error: {} })).toBeGreaterThan(0);
    expect(problemsOf(flat, { flat_error: { subcode: 33 } })).toBeGreaterThan(0);
  });
  test("have a twin in the profile clients, and only there", () => {
    expect(problemsOf({ ...flat, error: flat }, { flat_error: {} }, "clients")).toBe(0);
    expect(problemsOf(flat, { flat_error: {} }, "clients")).toBeGreaterThan(0);
    expect(problemsOf({ ...flat, error: flat }, { flat_error: {} }, "strict")).toBeGreaterThan(0);
  });
});

test("names are filled from the inside out, and paths read lists", () => {
  const names = new Map<string, unknown>([
    ["list", [1, 2]],
    ["word", "x"],
  ]);
  expect(fill({ a: "{{list}}", b: "{{repeat:3:{{word}}}}-{{list}}" }, names)).toEqual({ a: [1, 2], b: "xxx-[1,2]" });
  expect(() => fill("{{unknown}}", names)).toThrow("unknown");
  expect(valueAt({ data: [{ id: 1 }, {}, { id: 3 }] }, "data[*].id")).toEqual([1, 3]);
  expect(valueAt({ data: [{ id: 1 }, { id: 2 }] }, "data[-1].id")).toBe(2);
  expect(valueAt({ a: {} }, "a.toString")).toBeUndefined();
});

test("every node of a case's world can be imported into a running server", () => {
  const receiver = new Map([["receiver", "http://127.0.0.1"]]);
  const bare = Object.keys(worldTexts).map((file) => ({ world: file.replace(/\.yaml$/, ""), fragment: {} }));
  for (const { world, fragment } of [...bare, ...cases.filter((one) => Object.keys(one.fragment).length > 0)])
    expect(nodesInOrder(buildWorld(world, fragment, receiver)).length).toBeGreaterThan(0);
  expect(nodesInOrder({ places: [{ id: "2" }], users: [{ id: "1" }], tokens: [] })).toEqual([
    ["users", { id: "1" }],
    ["places", { id: "2" }],
  ]);
  expect(() => nodesInOrder({ planets: [] })).toThrow('"planets"');
});

test("a misspelt key of a step is refused", () => {
  expect(() => parseStep({ get: "/x", expects: {} }, {}, "here")).toThrow("unknown key expects");
  expect(() => parseStep({ get: "/x", expect: { state: 200 } }, {}, "here")).toThrow("unknown key state");
  expect(() => parseStep({ get: "/x", expect: {} }, {}, "here")).toThrow("empty");
});

test("a request is sent byte for byte as it is written", async () => {
  let seen = "";
  const server = createServer((socket) => {
    socket.on("data", (chunk) => {
      seen += chunk;
      if (seen.includes("\r\n\r\nbody")) socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { response } = await exchange(
    { method: "GET", target: "//v26.0///%zz?a=%", body: "body", token: { bearer: "t" }, query: { q: "ü&" } },
    { base },
  );
  server.close();
  expect(seen).toStartWith("GET //v26.0///%zz?a=%&q=%C3%BC%26 HTTP/1.1\r\n");
  expect(seen).toContain("\r\nAuthorization: Bearer t\r\n");
  expect(seen).toEndWith("\r\n\r\nbody");
  expect(response.text).toBe("{}");
});

test("a report shows a request as a shell command, without the key of the control API", () => {
  const request = { method: "POST", origin: "http://127.0.0.1:1", target: "/v1?a='b'", body: Buffer.from("{}") };
  const [begin, end] = ["curl --path-as-is -g -i -X POST 'http://127.0.0.1:1/v1?a='\\''b'\\'''", "--data-binary '{}'"];
  const lineWith = (token: string) => curlLine({ ...request, headers: [["Authorization", `Bearer ${token}`]] }, "k3y");
  expect(lineWith("k3y")).toBe(`${begin} -H "Authorization: Bearer $PLAZA_CONTROL_KEY" ${end}`);
  expect(lineWith("token")).toBe(`${begin} -H 'Authorization: Bearer token' ${end}`);
});

describe("the receiver", () => {
  const caseOf = (...steps: Record<string, unknown>[]): Case => ({
    area: "runner",
    file: "runner.test.ts",
    name: "RUN: the receiver",
    title: "RUN: the receiver",
    clauses: [],
    decisions: [],
    profile: "strict",
    world: "standard",
    fragment: {},
    isAlone: false,
    options: {},
    vars: {},
    steps: steps.map((step) => parseStep(step, {}, "here")),
  });
  const outcomeOf = async (...steps: Record<string, unknown>[]) => {
    const receiver = await Receiver.start();
    try {
      return await runCase(caseOf(...steps), { addresses: { base: receiver.address } }, receiver);
    } finally {
      receiver.stop();
    }
  };

  test("stores requests and returns the response that the path names", async () => {
    const failure = await outcomeOf(
      { get: "/x?hub.challenge=42&hub.verify_token=v", expect: { status: 200, text: "42" } },
      { get: "/refuses/x?hub.challenge=42", expect: { status: 403 } },
      { get: "/demands-v/x?hub.challenge=42&hub.verify_token=w", expect: { status: 403 } },
      { post: "/fails-1/x", json: { n: 1 }, expect: { status: 500 } },
      { post: "/fails-1/x", json: { n: 2 }, expect: { status: 200 } },
      { receive: "/fails-1/x", count: 2, expect: { json: { n: 2 }, headers: { "content-type": "application/json" } } },
      { receive: "/y", count: 0, within_ms: 20 },
    );
    expect(failure).toBeUndefined();
  });

  test("reports a missing webhook, and one too many", async () => {
    expect((await outcomeOf({ receive: "/y", within_ms: 20 }))?.problems).toHaveLength(1);
    const failure = await outcomeOf({ post: "/y", json: {}, expect: { status: 200 } }, { receive: "/y", count: 0, within_ms: 20 });
    expect(failure?.step).toBe(2);
  });
});
