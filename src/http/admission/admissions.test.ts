import { describe, expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { type EchoGraph, serveHeld } from "#harness/echo-graph";
import { exchange } from "#harness/http/raw-http";
import { RequestMetrics } from "#telemetry/request-metrics";
import { defaultLimits, type HttpLimits } from "../limits.ts";
import { Admissions, type Client, RunningRequest } from "./admissions.ts";

interface Sent {
  readonly token?: string;
  /** A token in the request body, which the server sees only after the body is parsed. */
  readonly bodyToken?: string;
  /** The address of the client, as a trusted proxy names it in a header. */
  readonly from?: string;
  readonly padding?: number;
}

class Server {
  readonly #held: Promise<Response>[] = [];

  private constructor(
    readonly graph: EchoGraph,
    readonly release: () => void,
  ) {}

  static async start(limits: Partial<HttpLimits>): Promise<Server> {
    const { graph, release } = await serveHeld(limits, ["127.0.0.0/8"]);
    afterThisTest(() => graph.stop(0));
    return new Server(graph, release);
  }

  #send(path: string, { token, bodyToken, from, padding = 0 }: Sent): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.graph.port}${path}`, {
      method: "POST",
      headers: {
        connection: "close",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(from === undefined ? {} : { "x-forwarded-for": `203.0.113.9, ${from}` }),
      },
      body: new URLSearchParams({ ...(bodyToken === undefined ? {} : { access_token: bodyToken }), padding: "a".repeat(padding) }),
    });
  }

  status = async (sent: Sent): Promise<number> => (await this.#send("/1", sent)).status;

  response = (path: string, sent: Sent): Promise<Response> => this.#send(path, sent);

  /** Sends a request. Resolves when the request runs, or waits for another server. */
  async hold(path: "/held" | "/tarpit", sent: Sent): Promise<void> {
    const { metrics } = this.graph;
    const of = path === "/held" ? "inFlight" : "waiting";
    const before = metrics[of];
    this.#held.push(this.#send(path, sent));
    while (metrics[of] === before) await Bun.sleep(1);
  }

  /** Lets all waiting requests continue, and returns the statuses of their responses. */
  async ended(): Promise<number[]> {
    this.release();
    return (await Promise.all(this.#held)).map(({ status }) => status);
  }
}

const one = { token: "1001-token" };
const other = { token: "1002-token" };

test("D-97: a full server counts a request against its app before its token is checked, so that many at once cannot slip in", () => {
  const metrics = new RequestMetrics();
  const limits = { ...defaultLimits, requestsMax: 4 };
  const admissions = new Admissions({ limits, metrics, knownApp: ({ app }: Client & { app: string }) => app, retryAfterSeconds: () => 1 });
  const admit = (app: string) => admissions.admit({ address: "a", app }, 0);
  for (let i = 0; i < 4; i++) (admit("1002") as RunningRequest).countAgainst("1002");
  expect([admit("1001"), admit("1001")].map((admitted) => admitted instanceof RunningRequest)).toEqual([true, true]);
  expect(admit("1001")).toEqual({ app: "1001", reason: "requests" });
  expect(metrics.inFlight).toBe(6);
});

describe("D-97: the account of a request", () => {
  function admissionsOf(limits: Partial<HttpLimits> = {}, app?: string) {
    const metrics = new RequestMetrics();
    const asked: Client[] = [];
    const knownApp = (client: Client) => {
      asked.push(client);
      return app;
    };
    const admissions = new Admissions({ limits: { ...defaultLimits, ...limits }, metrics, knownApp, retryAfterSeconds: () => 1 });
    return { admissions, metrics, asked };
  }

  test("a body of 65,536 bytes is parsed at once to find its app; for a larger one only the head is", () => {
    const { admissions, asked } = admissionsOf();
    for (const [bytes, count] of [
      [65_536, 0],
      [65_537, 1],
    ] as const) {
      (admissions.admit({ address: "a" }, bytes) as RunningRequest).end();
      expect({ bytes, asked: asked.length }).toEqual({ bytes, asked: count });
    }
  });

  test("belongs to the first app that it shows, and nothing is held after its end", () => {
    const { admissions, metrics } = admissionsOf({ requestsMax: 2 });
    const { running } = admissions;
    const own = admissions.admit({ address: "a" }, 7) as RunningRequest;
    own.countAgainst("1001");
    own.countAgainst("1002");
    own.countAgainstAddress();
    const nameless = admissions.admit({ address: "b" }, 5) as RunningRequest;
    nameless.countAgainstAddress();
    nameless.countAgainstAddress();
    expect({ count: running.count, size: running.size, inFlight: metrics.inFlight }).toEqual({ count: 2, size: 12, inFlight: 2 });
    const held = ["1001", "1002", undefined].map((app) => (running.accountOf(app, app === undefined ? "b" : "a").above?.count ?? 0) > 0);
    expect(held).toEqual([true, false, true]);
    expect([running.accountOf(undefined, "a").count, running.accountOf(undefined, "b").count]).toEqual([0, 1]);
    own.end();
    nameless.end();
    expect(["1001", undefined].map((app) => running.accountOf(app, "a").above?.count)).toEqual([0, 0]);
    expect({ count: running.count, size: running.size, inFlight: metrics.inFlight }).toEqual({ count: 0, size: 0, inFlight: 0 });
  });

  test("a stopping server accepts none, from any client", () => {
    const { admissions } = admissionsOf({}, "1001");
    admissions.isStopping = true;
    expect(admissions.admit({ address: "a" }, 0)).toEqual({ app: undefined, reason: "stopping" });
  });

  test("an arriving body holds its received bytes, can be reduced if there is no room, and leaves nothing behind", () => {
    const { admissions } = admissionsOf({ arrivingBytesMax: 100 }, "1001");
    const [one, other] = [admissions.arrivingBody({ address: "a" }), admissions.arrivingBody({ address: "a" })];
    expect([one.resize(60), one.resize(100), other.resize(1)]).toEqual([true, true, false]);
    expect([one.turnAway, other.turnAway]).toEqual([undefined, { app: "1001", reason: "arriving" }]);
    // No more bytes of the slow body have arrived since the last check.
    expect(one.resize(100)).toBe(true);
    expect([one.resize(99), other.resize(1), one.resize(98)]).toEqual([true, true, true]);
    one.end();
    other.end();
    const next = admissions.arrivingBody({ address: "a" });
    expect([next.resize(99), next.resize(100), next.resize(101)]).toEqual([true, true, false]);
  });
});

describe("D-97: shares", () => {
  test("an app alone may run all requests; when they run, another app gets its share", async () => {
    const server = await Server.start({ requestsMax: 4 });
    for (let i = 0; i < 4; i++) await server.hold("/held", one);
    expect(await server.status(one)).toBe(503);
    await server.hold("/held", other);
    await server.hold("/held", other);
    expect({ one: await server.status(one), other: await server.status(other) }).toEqual({ one: 503, other: 503 });
    expect(server.graph.metrics.turnedAwayByApp()).toEqual([
      { app: "1001", reason: "requests", count: 2 },
      { app: "1002", reason: "requests", count: 1 },
    ]);
    expect(await server.ended()).toEqual([200, 200, 200, 200, 200, 200]);
    expect({ one: await server.status(one), other: await server.status(other) }).toEqual({ one: 200, other: 200 });
  });

  test("the same applies to the bytes of bodies", async () => {
    const server = await Server.start({ requestBytesMax: 1_000 });
    await server.hold("/held", { ...one, padding: 1_000 });
    expect({ one: await server.status(one), other: await server.status(other) }).toEqual({ one: 503, other: 200 });
    expect(server.graph.metrics.turnedAwayByApp()).toEqual([{ app: "1001", reason: "bytes", count: 1 }]);
    expect(await server.ended()).toEqual([200]);
  });

  test("a token in the body counts against its app, too", async () => {
    const server = await Server.start({ requestsMax: 3 });
    for (let i = 0; i < 3; i++) await server.hold("/held", { bodyToken: "1001-token" });
    const refused = await server.response("/1", { bodyToken: "1001-token" });
    expect({ status: refused.status, retryAfter: refused.headers.get("retry-after") }).toEqual({ status: 503, retryAfter: "1" });
    expect(await refused.json()).toMatchObject({ error: { code: 2, is_transient: true } });
    expect({ head: await server.status(one), other: await server.status({ bodyToken: "1002-token" }) }).toEqual({ head: 503, other: 200 });
    expect(await server.ended()).toEqual([200, 200, 200]);
  });

  test("requests with invalid tokens count against their address, whatever app they name", async () => {
    const server = await Server.start({ requestsMax: 3 });
    for (let i = 0; i < 3; i++) await server.hold("/held", { token: "1001|guessed" });
    expect({ stranger: await server.status({ token: "1001|guessed" }), one: await server.status(one) }).toEqual({ stranger: 503, one: 200 });
    expect(server.graph.metrics.turnedAwayByApp()).toEqual([{ app: undefined, reason: "requests", count: 1 }]);
    expect(await server.ended()).toEqual([200, 200, 200]);
  });

  test("each of several addresses has its share, with or without a token; behind a trusted proxy the client's address counts", async () => {
    for (const sent of [{}, one]) {
      const server = await Server.start({ requestsMax: 2 });
      await server.hold("/held", { ...sent, from: "203.0.113.1" });
      await server.hold("/held", { ...sent, from: "203.0.113.1" });
      const statuses = ["203.0.113.1", "203.0.113.2", "2001:db8::1"].map((from) => server.status({ ...sent, from }));
      expect(await Promise.all(statuses)).toEqual([503, 200, 200]);
      expect(await server.ended()).toEqual([200, 200]);
    }
  });

  test("D-261: an app of another world with the same id has a share of its own", async () => {
    const server = await Server.start({ requestsMax: 2 });
    await server.hold("/held", one);
    await server.hold("/held", one);
    expect(await server.status(one)).toBe(503);
    expect((await server.response("/w/t1/1", one)).status).toBe(200);
    expect(server.graph.metrics.turnedAwayByApp()).toEqual([{ app: "1001", reason: "requests", count: 1 }]);
    expect(await server.ended()).toEqual([200, 200]);
  });

  test("a request that waits for another server makes room for others, and so do its bytes", async () => {
    const server = await Server.start({ requestsMax: 1, requestBytesMax: 1_000 });
    await server.hold("/tarpit", { ...one, padding: 10_000 });
    await server.hold("/tarpit", other);
    const { metrics } = server.graph;
    expect({ waiting: metrics.waiting, inFlight: metrics.inFlight }).toEqual({ waiting: 2, inFlight: 0 });
    expect([await server.status(one), await server.status(other), await server.status({})]).toEqual([200, 200, 200]);
    expect(await server.ended()).toEqual([200, 200]);
    expect({ waiting: metrics.waiting, inFlight: metrics.inFlight }).toEqual({ waiting: 0, inFlight: 0 });
  });

  test.each([
    { limit: "requests", waitingOfAppMax: { count: 2, size: 1e6 }, padding: 0 },
    { limit: "bytes", waitingOfAppMax: { count: 99, size: 2_000 }, padding: 1_000 },
  ])("a limited number of one app's requests, $limit, waits; others are not refused because of it", async ({ waitingOfAppMax, padding }) => {
    const server = await Server.start({ waitingOfAppMax });
    await server.hold("/tarpit", { ...one, padding });
    await server.hold("/tarpit", { ...one, padding });
    const refused = await server.response("/tarpit", { ...one, padding });
    expect({ status: refused.status, retryAfter: refused.headers.get("retry-after") }).toEqual({ status: 503, retryAfter: "1" });
    expect(await refused.json()).toMatchObject({
      error: { code: 2, is_transient: true, message: "(#2) Too many requests of the app wait for other servers; please retry" },
    });
    expect(await server.status(one)).toBe(200);
    await server.hold("/tarpit", other);
    expect(server.graph.metrics.turnedAwayByApp()).toEqual([{ app: "1001", reason: "waiting", count: 1 }]);
    expect(await server.ended()).toEqual([200, 200, 200]);
  });

  test("arriving bodies hold memory of their app", async () => {
    const server = await Server.start({ arrivingBytesMax: 1_000 });
    const { port, metrics } = server.graph;
    const head = (token: string) => `POST /1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${token}\r\nContent-Length: 20\r\n\r\n`;
    const body = "a=1&b=".padEnd(20, "c");
    const sender = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    sender.write(`POST /1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer 1001-token\r\nContent-Length: 2000\r\n\r\n${"a".repeat(1_000)}`);
    const statusOf = async (token: string) =>
      (await exchange(port, [head(token), body.slice(0, 10), body.slice(10)], { gapMs: 20 })).responses[0]?.status;
    while ((await statusOf("1001-token")) !== 503);
    expect(await statusOf("1002-token")).toBe(200);
    expect(metrics.turnedAwayByApp()).toMatchObject([{ app: "1001", reason: "arriving" }]);
    sender.terminate();
  });

  test("a body that is refused in the middle leaves nothing behind", async () => {
    const server = await Server.start({ arrivingBytesMax: 1_000 });
    const { port } = server.graph;
    const head = (token: string, bytes: number) =>
      `POST /1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${bytes}\r\n\r\n`;
    const send = async (token: string, count: number) => {
      const refused = Promise.withResolvers<string>();
      const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: (_, bytes) => refused.resolve(bytes.toString()) } });
      socket.write(`${head(token, 2_000)}${"a".repeat(count)}`);
      return { socket, refused: refused.promise };
    };
    const small = async () => (await exchange(port, [head("1001-token", 20), "a=1&b=".padEnd(20, "c")], { gapMs: 5 })).responses[0]?.status;
    const [one, other] = [await send("1001-token", 500), await send("1002-token", 500)];
    // Waits until both request bodies have arrived completely.
    while ((await small()) !== 503);
    one.socket.write("b");
    expect(await one.refused).toStartWith("HTTP/1.1 503");
    other.socket.terminate();
    one.socket.terminate();
    while ((await small()) !== 200);
    const next = await send("1001-token", 500);
    for (let n = 0; n < 20; n++) expect(await small()).toBe(200);
    // The slow body has arrived. A second body of the same size would exceed the quota.
    next.socket.write("b".repeat(500));
    while ((await small()) !== 503);
    next.socket.terminate();
  });
});
