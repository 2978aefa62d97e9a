import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type EchoGraph, serveEcho, serveHeld } from "#harness/echo-graph";
import { exchange, type RawResponse } from "#harness/http/raw-http";
import type { HttpLimits } from "#http/limits";

/** Starts a server for one test, and stops the server after the test. */
async function using(limits: Partial<HttpLimits>, work: (graph: EchoGraph) => Promise<void>): Promise<void> {
  const graph = await serveEcho({ limits });
  try {
    await work(graph);
    expect(graph.unexpected).toEqual([]);
  } finally {
    await graph.stop(0);
  }
}

const errorOf = (body: string): { code: number; message: string; pftrace_id: string; is_transient: boolean } => JSON.parse(body).error;
const post = (headers: string, path = "/1"): string => `POST ${path} HTTP/1.1\r\nHost: h\r\n${headers}\r\n`;
const KIB = 1_024;

describe("the listener", () => {
  describe("bodies above the limit", () => {
    test("are refused by their length, before they are sent", async () => {
      await using({}, async ({ port }) => {
        const { responses, text, isClosedByServer } = await exchange(port, [post("Content-Length: 1048577\r\nExpect: 100-continue\r\n")]);
        expect(text).not.toContain("100 Continue");
        expect(responses[0]?.status).toBe(413);
        expect(errorOf(responses[0]?.body ?? "")).toMatchObject({ code: 100, message: "(#100) The request body is larger than 1048576 bytes" });
        expect(responses[0]?.headers.connection).toBe("close");
        expect(isClosedByServer).toBe(false);
      });
    });

    test("are refused while their chunks are counted", async () => {
      await using({ bodyBytesMax: 64 * KIB }, async ({ port }) => {
        const chunk = `4000\r\n${"a".repeat(16 * KIB)}\r\n`;
        const { responses } = await exchange(port, [
          post("Transfer-Encoding: chunked\r\n", "/1/personas"),
          ...Array.from({ length: 500 }, () => chunk),
        ]);
        expect(responses[0]?.status).toBe(413);
        expect(responses[0]?.headers.connection).toBe("close");
        expect(JSON.parse(responses[0]?.body ?? "").message).toBe("(#100) The request body is larger than 65536 bytes");
      });
    });

    test("a body of exactly the limit is accepted, and an address may have its own limit for multipart bodies", async () => {
      const limits = {
        bodyBytesMax: 10,
        multipartBytesMaxFor: (surface: string, path: string) => (surface === "ads" && path === "/big" ? 20 : undefined),
      };
      await using(limits, async ({ port }) => {
        const statusOf = async (path: string, type: string, size: number) =>
          (await exchange(port, [post(`Content-Type: ${type}\r\nContent-Length: ${size}\r\n`, path) + "--b--".padEnd(size, "a")])).responses[0]
            ?.status;
        const form = "multipart/form-data; boundary=b";
        for (const [path, type, size, status] of [
          ["/1", "application/x-www-form-urlencoded", 10, 200],
          ["/1", form, 11, 413],
          ["/ads/big", form, 20, 200],
          ["/ads/big", form, 21, 413],
          ["/ads/big", "application/x-www-form-urlencoded", 11, 413],
        ] as const)
          expect({ path, type, size, status: await statusOf(path, type, size) }).toEqual({ path, type, size, status });
      });
    });
  });

  describe("slow clients", () => {
    test("a body that does not arrive in time is refused in the request's error form", async () => {
      await using({ bodyMsMax: 150 }, async ({ port }) => {
        const slow = [post("Content-Length: 30\r\n", "/1/personas"), ..."abcdefghijklmnopqrstuvwxyz"];
        const { responses } = await exchange(port, slow, { gapMs: 30 });
        expect(responses[0]?.status).toBe(408);
        expect(JSON.parse(responses[0]?.body ?? "")).toMatchObject({ code: 100, is_transient: true, pftrace_id: "Aecho0000000" });
        expect(responses[0]?.headers.connection).toBe("close");
      });
    });

    test("headers that do not arrive in time end the connection", async () => {
      await using({ headMsMax: 200 }, async ({ port }) => {
        const { responses, isClosedByServer } = await exchange(
          port,
          ["GET /1 HTTP/1.1\r\n", ...Array.from({ length: 100 }, (_, i) => `X-${i}: 1\r\n`)],
          {
            gapMs: 40,
            responses: 2,
          },
        );
        expect(responses[0]?.status).toBe(408);
        expect(errorOf(responses[0]?.body ?? "")).toMatchObject({ code: 100, pftrace_id: "Aecho0000000" });
        expect(isClosedByServer).toBe(true);
      });
    });

    test("a connection without a request is closed", async () => {
      await using({ headMsMax: 200, bodyMsMax: 200, keepAliveMs: 300 }, async ({ port }) => {
        const [unused, used] = await Promise.all([
          exchange(port, [], { responses: 2, waitMs: 8_000 }),
          exchange(port, ["GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"], { responses: 2, waitMs: 8_000 }),
        ]);
        expect({ unused: unused.isClosedByServer, used: used.isClosedByServer }).toEqual({ unused: true, used: true });
        expect(used.responses[0]?.status).toBe(200);
      });
    }, 10_000);

    test("a silent connection has no longer than a head, even if idle ones have", async () => {
      await using({ headMsMax: 200, keepAliveMs: 60_000 }, async ({ port }) => {
        const idle = exchange(port, ["GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"], { responses: 2, waitMs: 2_000 });
        expect((await exchange(port, [], { responses: 2, waitMs: 8_000 })).isClosedByServer).toBeTrue();
        expect((await idle).isClosedByServer).toBeFalse();
      });
    }, 10_000);

    test("the arrived bytes of incomplete bodies have a common limit", async () => {
      await using({ arrivingBytesMax: 100 }, async ({ port, metrics }) => {
        const body = '{"a":1}'.padEnd(200);
        const head = post("Content-Type: application/json\r\nContent-Length: 200\r\n");
        const slow = connect(port, "127.0.0.1");
        try {
          slow.write(head + body.slice(0, 150));
          let others: RawResponse[] = [];
          // Requests are sent until the slow request has reached the server.
          while (others[0]?.status !== 503) others = [...(await exchange(port, [head, body.slice(0, 10)], { gapMs: 20, waitMs: 200 })).responses];
          expect(errorOf(others[0]?.body ?? "")).toMatchObject({ code: 2, is_transient: true });
          expect(others[0]?.headers).toMatchObject({ connection: "close" });
          expect(metrics.turnedAwayByApp()).toMatchObject([{ app: undefined, reason: "arriving" }]);
        } finally {
          const closed = new Promise((resolve) => slow.once("close", resolve));
          slow.destroy();
          await closed;
        }
        let status: number | undefined;
        while (status !== 200) status = (await exchange(port, [head, body], { gapMs: 20 })).responses[0]?.status;
      });
    });

    test("an announced body holds no memory of others", async () => {
      await using({ arrivingBytesMax: 100 }, async ({ port }) => {
        const announced = ["Transfer-Encoding: chunked", "Content-Length: 1048576"].map(async (framing) => {
          const socket = connect(port, "127.0.0.1");
          socket.write(post(`${framing}\r\nExpect: 100-continue\r\n`));
          await new Promise((resolve) => socket.once("data", resolve));
          return socket;
        });
        const silent = await Promise.all(announced);
        const body = '{"a":1}'.padEnd(90);
        const parts = [post("Content-Type: application/json\r\nContent-Length: 90\r\n"), body.slice(0, 80), body.slice(80)];
        expect((await exchange(port, parts, { gapMs: 20 })).responses[0]?.status).toBe(200);
        for (const socket of silent) socket.destroy();
      });
    });

    test("a client that hangs up within its body leaves nothing behind", async () => {
      await using({}, async ({ port, metrics, world }) => {
        await exchange(port, [post("Content-Length: 30\r\n"), "abc"], { waitMs: 60 });
        expect(metrics.inFlight).toBe(0);
        expect(world.requests.entries()).toEqual([]);
        expect((await exchange(port, ["GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"])).responses[0]?.status).toBe(200);
      });
    });
  });

  describe("addresses and headers above the limit", () => {
    const sized = (bytes: number): string => `GET /1/personas HTTP/1.1\r\nHost: h\r\nX: ${"a".repeat(bytes)}\r\n\r\n`;

    test("are refused in the request's error form", async () => {
      await using({}, async ({ port }) => {
        const { responses } = await exchange(port, [sized(17 * KIB)]);
        expect(responses[0]?.status).toBe(431);
        expect(JSON.parse(responses[0]?.body ?? "")).toMatchObject({
          code: 100,
          message: "(#100) The address and headers are larger than 16384 bytes",
        });
        expect((await exchange(port, [`GET /${"a".repeat(17 * KIB)} HTTP/1.1\r\nHost: h\r\n\r\n`])).responses[0]?.status).toBe(431);
        expect((await exchange(port, [sized(15 * KIB)])).responses[0]?.status).toBe(200);
      });
    });

    test("so are more than 1,000 parameters of an address, and of a body", async () => {
      await using({}, async ({ port }) => {
        const statusOf = async (address: number, body: number): Promise<number | undefined> => {
          const [query, form] = ["a&".repeat(address), "a&".repeat(body)];
          const type = "Content-Type: application/x-www-form-urlencoded";
          return (await exchange(port, [post(`${type}\r\nContent-Length: ${form.length}\r\n`, `/1/personas?${query}`) + form])).responses[0]?.status;
        };
        expect([await statusOf(1_000, 1_000), await statusOf(1_001, 0), await statusOf(0, 1_001)]).toEqual([200, 400, 400]);
      });
    });

    test("are refused by the parser if they are far above it", async () => {
      await using({}, async ({ port }) => {
        const many = `GET /1 HTTP/1.1\r\nHost: h\r\n${Array.from({ length: 5_000 }, (_, i) => `X${i}: 1\r\n`).join("")}\r\n`;
        for (const text of [sized(80 * KIB), many]) {
          const { responses } = await exchange(port, [text]);
          expect(responses[0]?.status).toBe(431);
          expect(errorOf(responses[0]?.body ?? "")).toMatchObject({ code: 100, pftrace_id: "Aecho0000000" });
        }
      });
    });
  });

  test.each([
    "GARBAGE\r\n\r\n",
    "get /1 HTTP/1.1\r\nHost: h\r\n\r\n",
    "GET /1 HTTP/3.0\r\nHost: h\r\n\r\n",
    "GET / 1 HTTP/1.1\r\nHost: h\r\n\r\n",
    "GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n",
    "GET /1 HTTP/1.1\r\nHost: h\r\nA B: c\r\n\r\n",
    "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
    "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET 1 HTTP/1.1\r\nHost: h\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
    "GET /1 HTTP/1.1\r\n\r\n",
    "CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n",
  ])("D-20: a malformed request is a declared error, too: %j", async (text) => {
    await using({}, async ({ port }) => {
      const { responses, isClosedByServer } = await exchange(port, [text], { responses: 2 });
      expect(responses.length).toBe(1);
      expect(responses[0]?.status).toBe(400);
      expect(responses[0]?.headers).toMatchObject({
        "content-type": "application/json; charset=UTF-8",
        "x-pf-trace-id": "Aecho0000000",
        "pf-api-version": "v26.0",
      });
      expect(errorOf(responses[0]?.body ?? "")).toMatchObject({ code: 100, pftrace_id: "Aecho0000000" });
      expect(isClosedByServer).toBe(true);
    });
  });

  test("broken chunks are refused in the request's error form, and the connection ends", async () => {
    await using({}, async ({ port }) => {
      for (const chunks of ["zz\r\n", "-1\r\n", "1\r\nabc\r\n0\r\n\r\n", "1\na\n0\n\n", "0\r\nA B\r\n\r\n"]) {
        const { responses, isClosedByServer } = await exchange(port, [post("Transfer-Encoding: chunked\r\n", "/1/personas") + chunks], {
          responses: 2,
        });
        expect(responses).toMatchObject([{ status: 400, headers: { connection: "close" } }]);
        expect(isClosedByServer).toBe(true);
        expect(JSON.parse(responses[0]?.body ?? "")).toMatchObject({
          code: 100,
          message: "(#100) The chunked encoding of the request body is not valid",
        });
      }
    });
  });

  test("too many requests at once get 503 with Retry-After, in the request's error form and version", async () => {
    const { graph, release } = await serveHeld({ requestsMax: 2 });
    const url = `http://127.0.0.1:${graph.port}`;
    const running = [fetch(`${url}/held`), fetch(`${url}/held`)];
    while (graph.metrics.inFlight < 2) await Bun.sleep(1);
    const refused = await fetch(`${url}/v24.0/1/personas`);
    expect(refused.status).toBe(503);
    expect(Object.fromEntries(refused.headers)).toMatchObject({ "retry-after": "1", "pf-api-version": "v24.0" });
    expect(await refused.json()).toMatchObject({ code: 2, is_transient: true, pftrace_id: "Aecho0000000" });
    expect(await (await fetch(`${url}/1`)).json()).toMatchObject({ error: { code: 2 } });
    release();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await fetch(`${url}/1`)).status).toBe(200);
    expect(graph.metrics.turnedAway).toBe(2);
    await graph.stop(0);
  });

  describe("stopping", () => {
    test("running requests end, idle connections close, new ones are refused", async () => {
      const { graph, release } = await serveHeld({});
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
      const running = exchange(graph.port, [get("/held")], { responses: 2 });
      const idle = exchange(graph.port, [get("/1")], { responses: 2 });
      while (graph.metrics.inFlight < 1 || graph.world.requests.entries().length < 1) await Bun.sleep(1);
      const stopped = graph.stop(5_000);
      expect((await idle).isClosedByServer).toBe(true);
      expect((await exchange(graph.port, [get("/1")])).responses).toEqual([]);
      release();
      const { responses, isClosedByServer } = await running;
      expect(responses[0]).toMatchObject({ status: 200, headers: { connection: "close" } });
      expect(isClosedByServer).toBe(true);
      await stopped;
    });

    test("requests that do not end in time are cut off", async () => {
      const { graph, release } = await serveHeld({});
      const running = exchange(graph.port, ["GET /held HTTP/1.1\r\nHost: h\r\n\r\n"]);
      while (graph.metrics.inFlight < 1) await Bun.sleep(1);
      const startedMs = performance.now();
      await graph.stop(100);
      expect(performance.now() - startedMs).toBeLessThan(2_000);
      expect((await running).responses).toEqual([]);
      release();
    });
  });

  test("a port in use is reported", async () => {
    await using({}, async ({ port }) => {
      await expect(serveEcho({ port })).rejects.toThrow(/^Failed to listen at/);
    });
  });
});
