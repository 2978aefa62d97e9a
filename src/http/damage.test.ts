/** Checks how a client's socket receives responses that an injected fault damages (D-150). */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { Damage, GraphResponse } from "#graph/pipeline/request";
import { afterThisTest } from "#harness/cleanup";
import { echo, serveEcho } from "#harness/echo-graph";
import { sendDamaged } from "./damage.ts";
import type { Connection } from "./http1/connection.ts";
import type { ResponseHead } from "./http1/response-writer.ts";

const NO_DAMAGE: Damage = { reset: undefined, cut_body_at: undefined, body_bytes_per_second: undefined };

/** Returns all text that arrives on a connection until the connection ends, and the error that ended the connection. */
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

describe("damaged responses", () => {
  async function serve(damage: Partial<Damage>, body?: string) {
    const graph = await serveEcho({
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

  test("D-150: a body is cut at the given byte, after the length of the whole, and the connection ends", async () => {
    const body = "0123456789";
    const graph = await serve({ cut_body_at: 4 }, body);
    const { text, error } = await receive(graph.port, get());
    const [head = "", rest] = text.split("\r\n\r\n");
    expect({ rest, error }).toEqual({ rest: "0123", error: undefined });
    expect(head.toLowerCase()).toContain("content-length: 10");
  });

  test("D-150: a cut after the end of the body leaves it complete and ends the connection", async () => {
    const graph = await serve({ cut_body_at: 99 }, "0123456789");
    expect((await receive(graph.port, get())).text).toEndWith("\r\n\r\n0123456789");
  });

  test("D-150: a slow body arrives in parts, complete, and the connection can be reused", async () => {
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

describe("the parts of a damaged response that are sent", () => {
  /**
   * Returns the names of the methods that are called on a connection, in order; for a streamed response, returns its head and the length of each
   * part.
   */
  async function askedFor(damage: Partial<Damage>, body: string, status = 200): Promise<readonly unknown[]> {
    const asked: unknown[] = [];
    const exchange = {
      send: (response: GraphResponse) => void asked.push(`send ${response.status}`),
      stream: async ({ headers }: ResponseHead, parts: AsyncIterable<Uint8Array>) => {
        const sizes: number[] = [];
        for await (const { length } of parts) sizes.push(length);
        asked.push({ headers, sizes });
      },
      ...Object.fromEntries(["finish", "end", "abort"].map((name) => [name, () => void asked.push(name)])),
    } as unknown as Connection;
    await sendDamaged(exchange, { status, headers: { a: "b" }, body } as unknown as GraphResponse, { ...NO_DAMAGE, ...damage });
    return asked;
  }

  test("D-150: a slow body arrives in parts every tenth of a second, of at least a byte", async () => {
    const headers = { a: "b", "content-length": "1000" };
    expect(await askedFor({ body_bytes_per_second: 4_000 }, "x".repeat(1_000))).toEqual([{ headers, sizes: [400, 400, 200] }, "finish"]);
    expect(await askedFor({ body_bytes_per_second: 4_000, cut_body_at: 500 }, "x".repeat(1_000))).toEqual([{ headers, sizes: [400, 100] }, "end"]);
    expect(await askedFor({ body_bytes_per_second: 9 }, "xy")).toEqual([{ headers: { a: "b", "content-length": "2" }, sizes: [1, 1] }, "finish"]);
  });

  test("D-150: a response without a body cannot be damaged, and a reset sends nothing but the bytes before it", async () => {
    expect(await askedFor({ body_bytes_per_second: 1 }, "", 204)).toEqual(["send 204", "finish"]);
    expect(await askedFor({ cut_body_at: 1 }, "", 304)).toEqual(["send 304", "end"]);
    expect(await askedFor({ reset: true, cut_body_at: 1 }, "x")).toEqual([{ headers: { a: "b", "content-length": "1" }, sizes: [1] }, "abort"]);
    expect(await askedFor({ reset: true }, "x")).toEqual(["abort"]);
    expect(await askedFor({ reset: false }, "x")).toEqual([{ headers: { a: "b", "content-length": "1" }, sizes: [1] }, "finish"]);
  });
});
