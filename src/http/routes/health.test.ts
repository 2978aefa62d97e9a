/** D-349, D-350: checks what a load balancer sees of a server, and what happens to requests while the server shuts down. */
import { describe, expect, spyOn, test } from "bun:test";
import { connect } from "node:net";
import { afterThisTest } from "#harness/cleanup";
import { type EchoGraph, serveEcho } from "#harness/echo-graph";
import { exchange } from "#harness/http/raw-http";
import { Health } from "./health.ts";

const there = () => Promise.resolve();
const gone = () => Promise.reject(new Error("no database"));

async function serve(health?: Health): Promise<EchoGraph> {
  const graph = await serveEcho({ health });
  afterThisTest(() => graph.stop(0));
  return graph;
}

const request = (method: string, path: string, connection = "keep-alive"): string =>
  `${method} ${path} HTTP/1.1\r\nHost: h\r\nConnection: ${connection}\r\n\r\n`;

async function ask({ port }: EchoGraph, text: string) {
  const [response] = (await exchange(port, [text])).responses;
  if (response === undefined) throw new Error("there was no response");
  return response;
}

describe("health on the port of the graph", () => {
  test("is one word, for GET and HEAD, whatever the host is, or without one", async () => {
    const graph = await serve(new Health(there));
    const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
    for (const get of [request("GET", "/healthz"), "GET /healthz HTTP/1.1\r\nHost: t1.localhost\r\n\r\n", "GET /healthz HTTP/1.0\r\n\r\n"])
      expect(await ask(graph, get)).toMatchObject({ status: 200, headers, body: "ok" });
    expect(await ask(graph, request("GET", "/readyz?x=1"))).toMatchObject({ status: 200, headers, body: "ready" });
    const { text } = await exchange(graph.port, [request("HEAD", "/readyz", "close")]);
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).toMatch(/content-length: 5\r\n\r\n$/);
  });

  test("a server without its database, and one that will end, are not ready, and both are alive", async () => {
    const [lost, ending] = [await serve(new Health(gone)), new Health(there)];
    ending.isDraining = true;
    const draining = await serve(ending);
    expect(await ask(lost, request("GET", "/readyz"))).toMatchObject({ status: 503, body: "unavailable" });
    expect(await ask(draining, request("GET", "/readyz"))).toMatchObject({ status: 503, body: "draining" });
    for (const graph of [lost, draining]) expect(await ask(graph, request("GET", "/healthz"))).toMatchObject({ status: 200, body: "ok" });
  });

  test("other methods, other paths, and a server that serves no health there, leave them to the graph", async () => {
    const [graph, without] = [await serve(new Health(there)), await serve()];
    expect(JSON.parse((await ask(graph, request("DELETE", "/healthz"))).body)).toMatchObject({ method: "DELETE", path: "/healthz" });
    expect(JSON.parse((await ask(graph, request("GET", "/healthz/x"))).body)).toMatchObject({ path: "/healthz/x" });
    expect(JSON.parse((await ask(without, request("GET", "/readyz"))).body)).toMatchObject({ path: "/readyz" });
  });

  test("checks that come together share one ping, and the next one pings again", async () => {
    let pings = 0;
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const health = new Health(() => {
      pings++;
      asked.resolve();
      return answered.promise;
    });
    const checks = Promise.all([health.readiness(), health.readiness(), health.readiness()]);
    await asked.promise;
    answered.resolve();
    expect(await checks).toEqual(["ready", "ready", "ready"]);
    expect(pings).toBe(1);
    expect(await health.readiness()).toBe("ready");
    expect(pings).toBe(2);
  });

  test("a database that does not respond within 2 s is unavailable", async () => {
    const health = new Health(() => new Promise(() => {}));
    const real = globalThis.setTimeout;
    const waits: number[] = [];
    const spy = spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void, ms = 0) => {
      waits.push(ms);
      return real(then, 0);
    }) as unknown as typeof setTimeout);
    afterThisTest(() => spy.mockRestore());
    expect(await health.readiness()).toBe("unavailable");
    expect(waits).toEqual([2_000]);
  });
});

/** Opens a client that keeps its connection open. */
function kept(port: number) {
  const socket = connect(port, "127.0.0.1");
  afterThisTest(() => socket.destroy());
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes;
  });
  const isClosed = new Promise<boolean>((resolve) => socket.on("end", () => resolve(true)));
  return {
    isClosed,
    async ask(path: string): Promise<string> {
      text = "";
      socket.write(request("GET", path));
      while (!/\r\n\r\n[\s\S]*\}$/.test(text)) await Bun.sleep(1);
      return text;
    },
  };
}

describe("a server that drains", () => {
  test("serves each connection once more and then ends it, and accepts new ones until it stops", async () => {
    const graph = await serve();
    const client = kept(graph.port);
    expect(await client.ask("/1")).not.toContain("connection: close");
    graph.drain();
    const last = await client.ask("/2");
    expect(last).toStartWith("HTTP/1.1 200 OK\r\n");
    expect(last).toContain("connection: close\r\n");
    expect(await client.isClosed).toBe(true);
    expect(await ask(graph, request("GET", "/3"))).toMatchObject({ status: 200, headers: { connection: "close" } });
    await graph.stop(0);
    expect((await exchange(graph.port, [request("GET", "/4")])).responses).toEqual([]);
  });
});

test("a server that stops serves the clients that have connected, though it has read nothing of them yet", async () => {
  const graph = await serve();
  const count = 50;
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const clients = new Worker(new URL("../../../test/harness/http/unread-clients.ts", import.meta.url));
  afterThisTest(() => clients.terminate());
  const received = new Promise<readonly string[]>((resolve) => clients.addEventListener("message", ({ data }) => resolve(data)));
  clients.postMessage({ port: graph.port, text: request("GET", "/1"), count, sent });
  // The event loop of the server is blocked until all clients have sent their requests.
  Atomics.wait(sent, 0, 0);
  await graph.stop(10_000);
  const statuses = (await received).map((text) => text.slice(0, text.indexOf("\r\n")));
  expect(statuses).toEqual(Array.from({ length: count }, () => "HTTP/1.1 200 OK"));
});
