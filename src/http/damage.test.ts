/** Responses that a fault damages (D-150), as a client's socket sees them. */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { Damage } from "#graph/pipeline/request";
import { afterThisTest } from "#harness/cleanup";
import { echo, httpListeners, serveEcho } from "#harness/echo-graph";

const NO_DAMAGE: Damage = { reset: undefined, cut_body_at: undefined, body_bytes_per_second: undefined };

/** All that comes on a connection until it ends, and the error that ended it. */
function receive(port: number, text: string): Promise<{ text: string; error: string | undefined }> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let received = "";
    let error: string | undefined;
    socket.on("data", (part: Buffer) => {
      received += part.toString("utf8");
    });
    socket.on("error", (caught: NodeJS.ErrnoException) => {
      error = caught.code;
    });
    socket.on("close", () => resolve({ text: received, error }));
  });
}

describe.each(httpListeners)("damaged responses, --http %s", (http) => {
  async function serve(damage: Partial<Damage>, body?: string) {
    const graph = await serveEcho({
      http,
      handleRequest: async (_deps, world, request) => {
        const response = await echo(world, request);
        return { ...response, body: body ?? response.body, damage: { ...NO_DAMAGE, ...damage } };
      },
    });
    afterThisTest(() => graph.stop(0));
    return graph;
  }
  const get = (connection = "keep-alive") => `GET /2001 HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`;

  test("D-150: a connection is reset without a byte, and the request is in the log", async () => {
    const graph = await serve({ reset: true });
    expect(await receive(graph.port, get())).toEqual({ text: "", error: "ECONNRESET" });
    expect(graph.world.requests.entries()).toMatchObject([{ operation: "echo", status: 200 }]);
  });

  test("D-150: a body is cut where it is asked to be, behind the length of the whole, and the connection ends", async () => {
    const body = "0123456789";
    const graph = await serve({ cut_body_at: 4 }, body);
    const { text, error } = await receive(graph.port, get());
    const [head = "", rest] = text.split("\r\n\r\n");
    expect({ rest, error }).toEqual({ rest: "0123", error: undefined });
    expect(head.toLowerCase()).toContain("content-length: 10");
  });

  test("D-150: a cut behind the end of the body leaves it whole and ends the connection", async () => {
    const graph = await serve({ cut_body_at: 99 }, "0123456789");
    expect((await receive(graph.port, get())).text).toEndWith("\r\n\r\n0123456789");
  });

  test("D-150: a slow body comes in parts and whole, and the connection can be used again", async () => {
    const graph = await serve({ body_bytes_per_second: 400 }, "é".repeat(100));
    const response = await fetch(`http://127.0.0.1:${graph.port}/2001`);
    const sizes: number[] = [];
    for await (const part of response.body as ReadableStream<Uint8Array>) sizes.push(part.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(200);
    expect(sizes.length).toBeGreaterThan(1);
    const both = await receive(graph.port, get() + get("close"));
    expect(both.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });
});
