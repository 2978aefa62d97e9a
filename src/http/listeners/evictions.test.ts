import { describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { afterThisTest } from "#harness/cleanup";
import { type EchoGraph, serveEcho, serveHeld } from "#harness/echo-graph";
import { nextTurn } from "#kernel/turns";
import type { HttpLimits } from "../limits.ts";
import { Evictions } from "./evictions.ts";

interface Fake {
  readonly name: string;
  readonly remoteAddress: string;
  readonly waitsFor: string | undefined;
  readonly waitsSinceMs: number;
  readonly heldBytes: number;
}

interface Given {
  readonly from?: string;
  /** The time at which the connection began to wait. The time is undefined if the server works on a request of the connection. */
  readonly since?: number;
  readonly waitsFor?: string;
  readonly bytes?: number;
}

/** Connections that record the order in which the server closes them. */
function evicting(limits: { connectionsMax?: number; connectionBytesMax?: number }) {
  const open = new Set<Fake & { abort(): void }>();
  const closed: string[] = [];
  const connections: Fake[] = [];
  const metrics = { open: 0, evicted: 0 };
  const evictions = new Evictions(open, { connectionsMax: 100, connectionBytesMax: 1_000, ...limits }, metrics);
  const add = (name: string, { from = "a", since, waitsFor = "request", bytes = 0 }: Given = {}) => {
    const connection = {
      ...{ name, remoteAddress: from, heldBytes: bytes },
      ...{ waitsFor: since === undefined ? undefined : waitsFor, waitsSinceMs: since ?? 0 },
      abort() {
        closed.push(name);
        open.delete(this);
        evictions.held(-bytes);
        evictions.counted();
      },
    };
    connections.push(connection);
    open.add(connection);
    evictions.counted();
    evictions.held(bytes);
  };
  return { add, closed, connections, metrics, evictions };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn++) await nextTurn();
};

describe("the connection to close", () => {
  test("is the one that has waited longest for its client, never a busy one", async () => {
    const { add, closed, metrics } = evicting({ connectionsMax: 10 });
    for (let busy = 0; busy < 7; busy++) add("busy");
    for (const since of [20, 10, 30, 40, 50]) add(`since ${since}`, { since });
    expect(closed).toEqual([]);
    await turns();
    expect({ closed, metrics }).toEqual({ closed: ["since 10", "since 20"], metrics: { open: 10, evicted: 2 } });
  });

  test("does not exist while all are busy, until one waits", async () => {
    const { add, closed } = evicting({ connectionsMax: 4 });
    for (let busy = 0; busy < 6; busy++) add("busy");
    await turns();
    expect(closed).toEqual([]);
    add("new", { since: 1 });
    expect(closed).toEqual(["new"]);
  });

  test("is never one whose first bytes have not been read yet", async () => {
    const { add, closed, connections } = evicting({ connectionsMax: 4 });
    for (const since of [2, 3, 4, 5]) add(`idle ${since}`, { since });
    add("with a request", { since: 1 });
    await nextTurn();
    (connections[4] as { waitsFor: string | undefined }).waitsFor = undefined;
    await turns();
    expect(closed).toEqual(["idle 2"]);
  });

  test("is closed at once if there are far too many", () => {
    const { add, closed } = evicting({ connectionsMax: 4 });
    for (const since of [1, 2, 3, 4, 5, 6]) add(`since ${since}`, { since });
    expect(closed).toEqual(["since 1", "since 2"]);
  });

  test("belongs to the address with the most, however long another's waits", async () => {
    const { add, closed } = evicting({ connectionsMax: 4 });
    add("lone", { from: "b", since: 1 });
    for (const since of [2, 3, 4, 5]) add(`of many ${since}`, { since });
    add("second", { from: "b", since: 6 });
    await turns();
    expect(closed).toEqual(["of many 2", "of many 3"]);
  });

  test("waits for what most of them wait for, however long another waits", async () => {
    const { add, closed } = evicting({ connectionsMax: 4 });
    add("for its body", { waitsFor: "body", since: 1 });
    for (const since of [2, 3, 4, 5]) add(`idle ${since}`, { since });
    add("half of a head", { waitsFor: "head", since: 6 });
    await turns();
    expect(closed).toEqual(["idle 2", "idle 3"]);
  });

  test("is the largest of the address that holds the most, if they hold too much memory", () => {
    const { add, closed } = evicting({ connectionBytesMax: 100 });
    add("large", { from: "b", bytes: 45 });
    for (const bytes of [16, 20, 14]) add(`of many ${bytes}`, { bytes });
    add("last", { bytes: 10, since: 1 });
    expect(closed).toEqual(["of many 20"]);
  });

  test("is one of the largest, until exactly an eighth of the memory is free", () => {
    const { add, closed, metrics } = evicting({ connectionBytesMax: 80 });
    for (let at = 1; at <= 9; at++) add(`${at}`, { bytes: 10 });
    expect({ closed, evicted: metrics.evicted }).toEqual({ closed: ["1", "2"], evicted: 2 });
  });

  test("is not one of another address, even if they hold too much while the first ones close", () => {
    const { add, closed } = evicting({ connectionBytesMax: 80 });
    for (const name of ["first", "second"]) add(name, { bytes: 40 });
    add("other", { from: "b", bytes: 75 });
    expect(closed).toEqual(["first", "second"]);
  });

  test("is found again each time that there are too many", async () => {
    const { add, closed } = evicting({ connectionsMax: 4 });
    for (let since = 1; since <= 7; since++) {
      add(`since ${since}`, { since });
      await turns();
    }
    expect(closed).toEqual(["since 1", "since 2", "since 3"]);
  });

  test("is one at a time up to a quarter above the limit", () => {
    const { add, closed } = evicting({ connectionsMax: 8 });
    for (let since = 1; since <= 10; since++) add(`since ${since}`, { since });
    expect(closed).toEqual([]);
    add("since 11", { since: 11 });
    expect(closed).toEqual(["since 1", "since 2", "since 3"]);
  });
});

test("is the one that has waited longest, if no file can be opened any more", () => {
  const { add, closed, evictions } = evicting({});
  for (let since = 0; since < 70; since++) add(`since ${since}`, { since });
  add("busy");
  evictions.filesUsedUp();
  expect(closed).toEqual(Array.from({ length: 64 }, (_, since) => `since ${since}`));
});

test("is chosen so that two addresses with many connections keep the same number", () => {
  const { add, closed, evictions } = evicting({});
  for (let since = 0; since < 40; since++) add("a", { from: "a", since });
  for (let since = 0; since < 30; since++) add("b", { from: "b", since });
  evictions.filesUsedUp();
  expect([closed.filter((name) => name === "a").length, closed.filter((name) => name === "b").length]).toEqual([37, 27]);
});

const get = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n";

async function started(limits: Partial<HttpLimits>): Promise<{ graph: EchoGraph; release(): void }> {
  const server = await serveHeld(limits);
  afterThisTest(() => server.graph.stop(0));
  return server;
}

/** An open connection that records when the server closes it. */
async function opened({ port, metrics }: EchoGraph, text = ""): Promise<{ readonly socket: Socket; readonly text: () => string; isClosed: boolean }> {
  const count = metrics.connections.open + metrics.connections.evicted;
  const socket = connect(port, "127.0.0.1");
  let received = "";
  const connection = { socket, text: () => received, isClosed: false };
  socket.on("data", (bytes) => {
    received += bytes;
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    connection.isClosed = true;
  });
  afterThisTest(() => socket.destroy());
  if (text !== "") socket.write(text);
  while (metrics.connections.open + metrics.connections.evicted === count) await Bun.sleep(1);
  return connection;
}

describe("the limit of connections", () => {
  test("above it, new connections are served, idle ones close, and running requests end", async () => {
    const { graph, release } = await started({ connectionsMax: 4 });
    const held = await opened(graph, "GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
    while (graph.metrics.inFlight === 0) await Bun.sleep(1);
    const idle = [];
    for (let i = 0; i < 3; i++) {
      const one = await opened(graph, get);
      while (!one.text().includes("200 OK")) await Bun.sleep(1);
      idle.push(one);
    }
    const later = [];
    for (let i = 0; i < 3; i++) {
      const late = await opened(graph, get);
      while (!late.text().includes("200 OK")) await Bun.sleep(1);
      later.push(late);
    }
    while (!(idle[0] as { isClosed: boolean }).isClosed) await Bun.sleep(1);
    expect(graph.metrics.connections.open).toBeLessThanOrEqual(4);
    release();
    while (!held.text().includes("200 OK")) await Bun.sleep(1);
    // Connections whose clients have left are no longer counted.
    for (const { socket } of [held, ...idle, ...later]) socket.destroy();
    while (graph.metrics.connections.open > 0) await Bun.sleep(1);
  });
});

describe("connections that wait for their client close first", () => {
  test.each([
    { what: "half of a head", text: "GET /1 HTT" },
    { what: "an empty line", text: "\r\n" },
    { what: "half of a body", text: "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\na=" },
    { what: "a request that was turned away", text: "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n" },
  ])("a connection with $what", async ({ text }) => {
    const { graph, release } = await started({ connectionsMax: 2, requestsMax: 1 });
    const held = await opened(graph, "GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
    while (graph.metrics.inFlight === 0) await Bun.sleep(1);
    const waiting = await opened(graph, text);
    if (text === get) while (!waiting.text().includes("503")) await Bun.sleep(1);
    const next = await opened(graph);
    while (!waiting.isClosed) await Bun.sleep(1);
    expect({ held: held.isClosed, next: next.isClosed }).toEqual({ held: false, next: false });
    release();
    while (!held.text().includes("200 OK")) await Bun.sleep(1);
  });

  test("a stream without data is not idle: a connection without a request is closed instead", async () => {
    const stream = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
    const body = new ReadableStream<Uint8Array>({ start: (controller) => stream.resolve(controller) });
    const graph = await serveEcho({ limits: { connectionsMax: 2 }, extraRoutes: new Map([["/stream", () => new Response(body)]]) });
    afterThisTest(() => graph.stop(0));
    const streaming = await opened(graph, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    while (!streaming.text().includes("200 OK")) await Bun.sleep(1);
    const idle = await opened(graph, get);
    while (!idle.text().includes("200 OK")) await Bun.sleep(1);
    await opened(graph);
    while (!idle.isClosed) await Bun.sleep(1);
    const controller = await stream.promise;
    controller.enqueue(Buffer.from("an event"));
    while (!streaming.text().includes("an event")) await Bun.sleep(1);
    expect(streaming.isClosed).toBe(false);
    controller.close();
  });

  test("heads without an end share a limited memory, and other clients are served", async () => {
    const { graph } = await started({ connectionBytesMax: 100_000 });
    const padded = `GET /1 HTTP/1.1\r\nHost: h\r\nX: ${"a".repeat(40_000)}`;
    const heads = [];
    for (let i = 0; i < 4; i++) heads.push(await opened(graph, padded));
    while (!heads.some(({ isClosed }) => isClosed)) await Bun.sleep(1);
    const served = await opened(graph, get);
    while (!served.text().includes("200 OK")) await Bun.sleep(1);
    expect(graph.metrics.connections.evicted).toBeGreaterThanOrEqual(2);
  });
});
