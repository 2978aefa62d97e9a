import { expect, test } from "bun:test";
import { connect } from "node:net";
import { type EchoGraph, serveEcho, serveHeld } from "#harness/echo-graph";
import { exchange } from "#harness/http/raw-http";
import type { HttpLimits } from "../limits.ts";

async function usingServer(limits: Partial<HttpLimits>, work: (graph: EchoGraph) => Promise<void>): Promise<void> {
  const graph = await serveEcho({ limits });
  try {
    await work(graph);
  } finally {
    await graph.stop(0);
  }
}

const post = (headers: string): string => `POST /1 HTTP/1.1\r\nHost: h\r\n${headers}\r\n`;

test("a client may end its side after its request, and still gets the response", async () => {
  const { graph, release } = await serveHeld({});
  const socket = connect({ port: graph.port, host: "127.0.0.1", allowHalfOpen: true });
  let text = "";
  socket.on("data", (part) => {
    text += part;
  });
  const ended = new Promise((resolve) => socket.once("close", resolve).once("end", resolve));
  await new Promise<void>((resolve) => socket.end("GET /held HTTP/1.1\r\nHost: h\r\n\r\n", resolve));
  // The server has read the bytes of the first connection before bytes arrive on another connection.
  await exchange(graph.port, ["GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"]);
  release();
  await ended;
  socket.destroy();
  await graph.stop(0);
  expect(text).toStartWith("HTTP/1.1 200 OK\r\n");
});

test("a body that arrives with its head needs no memory for arriving bodies", async () => {
  await usingServer({ arrivingBytesMax: 0 }, async ({ port }) => {
    const head = post("Content-Length: 3\r\n");
    expect((await exchange(port, [`${head}a=1`])).responses[0]?.status).toBe(200);
    expect((await exchange(port, [`${head}a=`])).responses[0]?.status).toBe(503);
  });
});

test("several empty lines before a request are refused", async () => {
  await usingServer({}, async ({ port }) => {
    const { responses } = await exchange(port, ["\r\n\r\nGET /1 HTTP/1.1\r\nHost: h\r\n\r\n"]);
    expect(responses[0]).toMatchObject({ status: 400, headers: { connection: "close" } });
  });
});

test.each(["fffffffff\r\n", `1;${"x".repeat(300)}\r\n`])("a size line that is too long is refused: %s", async (chunks) => {
  await usingServer({}, async ({ port }) => {
    const { responses } = await exchange(port, [post("Transfer-Encoding: chunked\r\n") + chunks]);
    expect(responses[0]).toMatchObject({ status: 400, headers: { connection: "close" } });
  });
});
