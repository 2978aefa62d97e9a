/** Tests response bodies that the client passes on piece by piece as they arrive, as for feed files, and does not store. */
import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { afterThisTest } from "#harness/cleanup";
import { serveBytes } from "#harness/outbound";
import { GuardedClient } from "./client.ts";
import type { OutboundRequest, TakeBody } from "./request.ts";

const client = (): GuardedClient => {
  const made = new GuardedClient({ rules: { isSandbox: true, allowed: [] } });
  afterThisTest(() => made.close());
  return made;
};

const serve = (response: () => Response): string => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: response });
  afterThisTest(() => server.stop(true));
  return `http://127.0.0.1:${server.port}/`;
};

const get = (url: string, takeBody: TakeBody, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  ...{ method: "GET", url, headers: {}, deadlineMs: 10_000, responseBytesMax: 1 << 30, takeBody },
  ...more,
});

const HALF = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
const PATTERN = Buffer.from(Array.from({ length: 251 }, (_, at) => at));
const bytes = (length: number): Buffer => Buffer.alloc(length, PATTERN);
const chunked = (body: Buffer): Response =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < body.length; at += 50_000) controller.enqueue(new Uint8Array(body.subarray(at, at + 50_000)));
        controller.close();
      },
    }),
  );

describe("a response that is read as it arrives", () => {
  test("arrives completely and in order, by length and in chunks, and the connection serves the next request", async () => {
    const body = bytes(3_000_000);
    for (const response of [() => new Response(new Uint8Array(body)), () => chunked(body)]) {
      const url = serve(response);
      const caller = client();
      for (let request = 0; request < 3; request++) {
        const parts: Buffer[] = [];
        const taken = await caller.request(
          get(url, async (part) => {
            parts.push(part);
            await Bun.sleep(0);
          }),
        );
        expect(taken).toMatchObject({ status: 200, isCut: false });
        expect(taken.body).toHaveLength(0);
        expect(Buffer.concat(parts).equals(body)).toBe(true);
      }
    }
  });

  test("a slow reader makes the sender wait: only the system's buffer is read", async () => {
    let sent = 0;
    let isOver = false;
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", async () => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n");
        while (!isOver && sent < 200_000_000) {
          sent += 100_000;
          if (!socket.write(bytes(100_000))) await new Promise((resolve) => socket.once("drain", resolve));
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterThisTest(() => server.close());
    const { port } = server.address() as { port: number };
    let taken = 0;
    const caller = client();
    const request = caller.request(
      get(`http://127.0.0.1:${port}/`, async (part) => {
        taken += part.length;
        if (taken > 1_000_000) throw new Error("enough");
        await Bun.sleep(20);
      }),
    );
    await expect(request).rejects.toThrow("enough");
    isOver = true;
    expect(sent).toBeLessThan(50_000_000);
  });

  test("an error of the reader ends the request, even at the very end", async () => {
    const url = serve(() => new Response("short"));
    const refuse = async () => {
      await Bun.sleep(5);
      throw new RangeError("no");
    };
    await expect(client().request(get(url, refuse))).rejects.toThrow(RangeError);
  });

  test("a response that breaks off is refused, and one that ends with its connection is complete", async () => {
    const responses = { "/cut": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "/close": "HTTP/1.0 200 OK\r\n\r\nwhole" } as const;
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => socket.end(responses[String(data).split(" ")[1] as keyof typeof responses]));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterThisTest(() => server.close());
    const base = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    let text = "";
    const take: TakeBody = async (part) => {
      await Bun.sleep(10);
      text += part;
    };
    await expect(client().request(get(`${base}/cut`, take))).rejects.toMatchObject({ name: "RequestFailed", kind: "malformed" });
    text = "";
    expect((await client().request(get(`${base}/close`, take))).status).toBe(200);
    expect(text).toBe("whole");
  });

  test("a server that is silent for too long ends the request: before its response, within it, and after the received part", async () => {
    const ends = async (parts: readonly string[], busyMs: number) => {
      const port = await serveBytes(() => parts);
      let text = "";
      const take: TakeBody = async (part) => {
        await Bun.sleep(busyMs);
        text += part;
      };
      const request = client().request(get(`http://127.0.0.1:${port}/`, take, { silenceMs: 1_000 }));
      await expect(request).rejects.toMatchObject({ name: "RequestFailed", kind: "timeout", message: "the server sent nothing for 1000 ms" });
      return text;
    };
    const taken = [ends([], 0), ends([HALF.slice(0, 20)], 0), ends([HALF], 0), ends([HALF], 1_500), ends([HALF, "more"], 1_500)];
    expect(await Promise.all(taken)).toEqual(["", "", "half", "half", "halfmore"]);
  });

  test("short pauses may together exceed the limit, and a busy reader is not a pause of the server", async () => {
    const head = ["HTTP/1.1 200 OK\r\n", ..."abcdef".split("").map((name) => `${name}: 1\r\n`), "Content-Length: 6\r\n\r\n"];
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", async () => {
        for (const part of [...head, ..."abcdef"]) {
          socket.write(part);
          await Bun.sleep(200);
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterThisTest(() => server.close());
    const { port } = server.address() as { port: number };
    const taken = [0, 1_500].map(async (busyMs) => {
      let text = "";
      const take: TakeBody = async (part) => {
        if (text === "") await Bun.sleep(busyMs);
        text += part;
      };
      await client().request(get(`http://127.0.0.1:${port}/`, take, { silenceMs: 1_000 }));
      return text;
    });
    expect(await Promise.all(taken)).toEqual(["abcdef", "abcdef"]);
  });

  test("a later request on the same connection has its own limit", async () => {
    let requests = 0;
    const connections = new Set<number | undefined>();
    const server = Bun.serve({
      ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0 },
      fetch: async (request, self) => {
        connections.add(self.requestIP(request)?.port);
        await Bun.sleep(requests++ * 800);
        return new Response("ok");
      },
    });
    afterThisTest(() => server.stop(true));
    const caller = client();
    for (const silenceMs of [500, undefined]) {
      const request = get(`http://127.0.0.1:${server.port}/`, async () => {}, silenceMs === undefined ? {} : { silenceMs });
      expect((await caller.request(request)).status).toBe(200);
    }
    expect(connections.size).toBe(1);
  });

  test("other statuses are kept and not read, and a response that is too long is cut", async () => {
    let parts = 0;
    const count: TakeBody = async ({ length }) => {
      parts += length;
    };
    const missing = serve(() => new Response("not here", { status: 404 }));
    const response = await client().request(get(missing, count));
    expect({ status: response.status, body: response.body.toString(), parts }).toEqual({ status: 404, body: "not here", parts: 0 });
    const long = serve(() => new Response(new Uint8Array(bytes(100_000))));
    expect(await client().request(get(long, count, { responseBytesMax: 70_000 }))).toMatchObject({ status: 200, isCut: true });
    expect(parts).toBe(70_000);
  });
});
