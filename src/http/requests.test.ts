/** Checks that a request leaves its connection and its world after its response, and is counted in the metrics. */
import { describe, expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { echo, echoWorld, openDirectory, serveEcho } from "#harness/echo-graph";
import { exchange } from "#harness/http/raw-http";
import { databaseUnreachable } from "#kernel/errors";
import { PageGuard } from "#kernel/page-guard";
import type { RouteHandler } from "./routes/extra-routes.ts";

const request = (line: string, headers = ""): string => `${line} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

describe("the dispatcher", () => {
  async function open() {
    const world = echoWorld("default");
    const uses = { entered: 0, left: 0 };
    const enter = async (name: string) => {
      if (name === "away") throw databaseUnreachable();
      if (name !== "default") return undefined;
      uses.entered++;
      return { world, leave: () => void uses.left++ };
    };
    const graph = await serveEcho({
      pages: new PageGuard({ origins: [], hosts: [] }),
      worlds: openDirectory(world, enter),
      extraRoutes: new Map<string, RouteHandler>([
        ["/route", () => new Response("own")],
        ["/broken", () => Promise.reject(new Error("a mistake"))],
        ["/breaks", () => new Response(breaking())],
      ]),
      handleRequest: (_deps, at, given) => (given.path === "/mistake" ? Promise.reject(new Error("a mistake")) : echo(at, given)),
    });
    afterThisTest(() => graph.stop(0));
    return { graph, world, uses };
  }

  /** Makes a response body whose second part never arrives. */
  const breaking = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.from("half"));
        controller.error(new Error("a mistake"));
      },
    });

  test.each([
    { what: "of the graph", line: "GET /1", status: 200 },
    { what: "for what is allowed", line: "OPTIONS /1", status: 204 },
    { what: "of a route", line: "HEAD /route", status: 200 },
    { what: "that fails in the graph", line: "GET /mistake", status: 500 },
    { what: "that fails in a route", line: "GET /broken", status: 500 },
    { what: "for a world that cannot be opened", line: "GET /w/away/1", status: 503 },
    { what: "of a page that may not", line: "GET /1", headers: "Sec-Fetch-Site: cross-site\r\n", status: 403 },
  ])("a request $what leaves its connection to the next one, and its world", async ({ line, headers, status }) => {
    const { graph, uses } = await open();
    const sent = ["GET /before", line, "GET /after"].map((one) => request(one, one === line ? headers : ""));
    const { responses } = await exchange(graph.port, [sent.join("")], { responses: 3, waitMs: 20_000 });
    expect(responses.map((response) => response.status)).toEqual([200, status, 200]);
    while (uses.left < uses.entered) await Bun.sleep(1);
    expect(uses).toEqual(line.includes("/w/away") ? { entered: 2, left: 2 } : { entered: 3, left: 3 });
  });

  test("a request is counted once, with its duration", async () => {
    const { graph, world } = await open();
    const startedMs = performance.now();
    for (const line of ["GET /1", "OPTIONS /1", "GET /mistake", "GET /w/away/1"]) await exchange(graph.port, [request(line)]);
    const tookMs = performance.now() - startedMs;
    const counted = [...graph.metrics.operations()].map(([operation, { requests, errors }]) => ({ operation, requests, errors }));
    expect(counted).toEqual([
      { operation: "echo", requests: 1, errors: 0 },
      { operation: "preflight", requests: 1, errors: 0 },
      { operation: "unknown", requests: 2, errors: 2 },
    ]);
    const durations = [
      ...graph.metrics.operations().values(),
      ...world.requests.entries().map(({ duration_ms }) => ({ durationSumMs: duration_ms })),
    ];
    expect(durations.filter(({ durationSumMs }) => durationSumMs < 0 || durationSumMs > tookMs)).toEqual([]);
  });

  test("a response that breaks off cannot be taken for a complete one, and nothing follows it", async () => {
    const { graph, uses } = await open();
    const { text, isClosedByServer } = await exchange(graph.port, [request("GET /breaks") + request("GET /after")], { responses: 2 });
    expect({ isClosedByServer, isWhole: text.endsWith("0\r\n\r\n") }).toEqual({ isClosedByServer: true, isWhole: false });
    expect(text).not.toContain("500");
    expect(graph.unexpected).toHaveLength(1);
    expect(graph.metrics.operations().get("unknown")).toMatchObject({ requests: 1, errors: 1 });
    while (uses.left < uses.entered) await Bun.sleep(1);
  });

  test("a request after the last one of its connection is not served", async () => {
    const { graph, world } = await open();
    for (const line of ["GET /last", "GET /route"]) {
      const sent = request(line, "Connection: close\r\n") + request("GET /behind");
      // The body of the response arrives in chunks, and the text of the body may look like another response.
      const { text, isClosedByServer } = await exchange(graph.port, [sent], { responses: 3 });
      expect({ line, responses: text.split("HTTP/1.1 ").length - 1, isClosedByServer }).toEqual({ line, responses: 1, isClosedByServer: true });
    }
    expect(world.requests.entries().map(({ path }) => path)).toEqual(["/last"]);
  });

  test("a body with the encoding identity is read unchanged", async () => {
    const { graph } = await open();
    for (const encoding of ["identity", "Identity", ""]) {
      const { responses } = await exchange(graph.port, [`${request("POST /1", `Content-Encoding: ${encoding}\r\nContent-Length: 3\r\n`)}a=1`]);
      expect({ encoding, body: JSON.parse(responses[0]?.body ?? "{}").body }).toEqual({ encoding, body: { a: "1" } });
    }
  });
});
