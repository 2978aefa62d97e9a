import { describe, expect, test } from "bun:test";
import type { GraphResponse } from "#graph/pipeline/request";
import { type EchoGraph, serveHeld } from "#harness/echo-graph";
import { exchange } from "#harness/http/raw-http";
import type { HttpLimits } from "../limits.ts";
import { type TurnedAwayConnection, TurnedAwayConnections } from "./turned-away.ts";

interface Occupied {
  readonly graph: EchoGraph;
  /**
   * Sends one more request that stays in the pipeline until all requests are released. Returns a function that resolves with the status of the
   * response.
   */
  hold(body: string): Promise<() => Promise<number>>;
  release(): void;
}

async function occupied(limits: Partial<HttpLimits>): Promise<Occupied> {
  const { graph, release } = await serveHeld(limits);
  const hold = async (body: string) => {
    const before = graph.metrics.inFlight;
    const running = fetch(`http://127.0.0.1:${graph.port}/held`, { method: "POST", body });
    while (graph.metrics.inFlight === before) await Bun.sleep(1);
    return async () => (await running).status;
  };
  return { graph, hold, release };
}

const get = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n";
const post = (body: string): string =>
  `POST /1/personas HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (body: string): string =>
  `POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

describe("refused requests", () => {
  test("D-97: a refused request is not read, and the next one on its connection is", async () => {
    const { graph, hold, release } = await occupied({ requestsMax: 1 });
    const held = await hold("a=1");
    // The server reads neither of the bodies as a request, though the first body looks like a request.
    const responses = exchange(graph.port, [post(get), chunked("{broken"), post('{"name":"c"}')], { responses: 3 });
    while (graph.metrics.turnedAway < 2) await Bun.sleep(5);
    release();
    expect(await held()).toBe(200);
    const [first, second, third] = (await responses).responses;
    expect(first).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(first?.headers.connection).not.toBe("close");
    expect(JSON.parse(first?.body ?? "")).toMatchObject({ code: 2, is_transient: true, pftrace_id: "Aecho0000000" });
    expect({ status: second?.status, code: JSON.parse(second?.body ?? "").error.code }).toEqual({ status: 503, code: 2 });
    expect({ status: third?.status, body: JSON.parse(third?.body ?? "").body }).toEqual({ status: 200, body: { name: "c" } });
    expect(graph.metrics.turnedAway).toBe(2);
    expect(graph.unexpected).toEqual([]);
    await graph.stop(0);
  });

  test("the bodies of running requests have a common limit, and the one that exceeds it is the last accepted", async () => {
    const { graph, hold, release } = await occupied({ requestBytesMax: 100 });
    const statusOf = async (text: string) => (await exchange(graph.port, [text])).responses[0]?.status;
    const first = await hold("a".repeat(99));
    expect(await statusOf(post('{"a":1}'))).toBe(200);
    const second = await hold("a".repeat(50));
    for (const text of [post('{"a":1}'), chunked("a=1"), get]) expect(await statusOf(text)).toBe(503);
    release();
    expect({ first: await first(), second: await second() }).toEqual({ first: 200, second: 200 });
    for (const text of [post('{"a":1}'), chunked("a=1"), get]) expect(await statusOf(text)).toBe(200);
    await graph.stop(0);
  });

  test("D-97: a refused request has the usual headers", async () => {
    const { graph, hold, release } = await occupied({ requestsMax: 1 });
    const held = await hold("a=1");
    const headersOf = async (text: string) => (await exchange(graph.port, [text])).responses[0]?.headers;
    expect(await headersOf("POST /1/old HTTP/1.1\r\nHost: h\r\n\r\n")).toMatchObject({ deprecation: "@1", "retry-after": "1" });
    expect((await headersOf(post("{}")))?.deprecation).toBeUndefined();
    release();
    await held();
    await graph.stop(0);
  });

  test("a stopping server does not wait for held-back connections", async () => {
    const { graph, hold, release } = await occupied({ requestsMax: 1 });
    const held = await hold("a=1");
    const turnedAway = exchange(graph.port, [get], { responses: 2 });
    while (graph.metrics.turnedAway < 1) await Bun.sleep(1);
    const stopped = graph.stop(60_000);
    release();
    await held();
    await stopped;
    const { responses, isClosedByServer } = await turnedAway;
    expect(responses.map(({ status }) => status)).toEqual([503]);
    expect(isClosedByServer).toBe(true);
  });
});

test("D-97: a refused request gets its response at once, and its connection is held back", async () => {
  const events: string[] = [];
  const finished = Promise.withResolvers<void>();
  const exchange = {
    isLast: false,
    isGone: false,
    send: ({ status }: GraphResponse) => events.push(`sent ${status}`),
    holdBack: () => events.push("held back"),
    finish: () => finished.resolve(void events.push("finished")),
  } as unknown as TurnedAwayConnection;
  new TurnedAwayConnections().respond(exchange, { status: 503, headers: {}, body: "{}" } as GraphResponse, 1);
  expect(events).toEqual(["sent 503", "held back"]);
  await finished.promise;
  expect(events).toEqual(["sent 503", "held back", "finished"]);
});

test("D-97: the more connections are held back, the longer the next one is", () => {
  const turnedAway = new TurnedAwayConnections();
  const exchange = { isLast: false, isGone: false, send() {}, holdBack() {}, finish() {} } as unknown as TurnedAwayConnection;
  const response = { status: 503, headers: {}, body: "{}" } as GraphResponse;
  const holds = Array.from({ length: 6_000 }, () => {
    const { seconds } = turnedAway;
    turnedAway.respond(exchange, response, seconds);
    return seconds;
  });
  expect([0, 499, 500, 2_750, 4_500, 5_999].map((at) => holds[at])).toEqual([1, 1, 2, 6, 10, 10]);
  turnedAway.respond({ ...exchange, isLast: true }, response, 1);
  expect(turnedAway.seconds).toBe(10);
});

test("D-97: closed connections, and those that continued, no longer count", async () => {
  const response = { status: 503, headers: {}, body: "{}" } as GraphResponse;
  for (const isGone of [true, false]) {
    const turnedAway = new TurnedAwayConnections();
    let finished = 0;
    const exchange = { isLast: false, isGone, send() {}, holdBack() {}, finish: () => finished++ } as unknown as TurnedAwayConnection;
    for (let i = 0; i < 2_000; i++) turnedAway.respond(exchange, response, 10);
    expect(turnedAway.seconds).toBe(5);
    // From this line on the server turns no request away: the server has capacity again, and no connection waits for its ten seconds to end.
    while (turnedAway.seconds > 1) await Bun.sleep(20);
    expect(finished > 0).toBe(!isGone);
  }
});
