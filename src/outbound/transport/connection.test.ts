/** Tests how a connection behaves if the other server breaks the order of requests and responses. */
import { expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { afterThisTest } from "#harness/cleanup";
import { clientOf, get, serveBytes, textOf } from "#harness/outbound";

const rules = { isSandbox: true, allowed: [] };

/** Calls `accept` for each connection, with the number of the connection from 1 on. */
async function serveConnections(accept: (socket: Socket, count: number) => void) {
  let count = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    accept(socket, ++count);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => {
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `://127.0.0.1:${port}/`, count: () => count };
}

test("a response that comes before all of the request has left is taken, and its connection serves no other request", async () => {
  const { url, count } = await serveConnections((socket, number) => {
    socket.once("data", () => {
      // The test's server stops reading the request.
      socket.pause();
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${number}`);
    });
  });
  const client = clientOf({ rules });
  const post = { ...get(`http${url}`, { deadlineMs: 60_000 }), method: "POST" as const, body: "0123456789abcdef".repeat(2_000_000) };
  expect(textOf(await client.request(post))).toBe("1");
  expect(textOf(await client.request(get(`http${url}`, { deadlineMs: 60_000 })))).toBe("2");
  expect(count()).toBe(2);
});

test("a connection that is closed without a byte of response fails the request, which is sent once", async () => {
  const { url, count } = await serveConnections((socket) => socket.once("data", () => socket.destroy()));
  await expect(clientOf({ rules }).request(get(`http${url}`))).rejects.toMatchObject({ kind: "closed", message: "the connection was closed" });
  expect(count()).toBe(1);
});

test("a connection that is closed before TLS has begun is a problem of TLS, so that no other address of the name is tried", async () => {
  const { url } = await serveConnections((socket) => socket.destroy());
  await expect(clientOf({ rules }).request(get(`https${url}`))).rejects.toMatchObject({ kind: "tls" });
});

test("where the status is enough, a response without one is none, and says that it came too late", async () => {
  const port = await serveBytes(() => ["HTTP/1.1 "]);
  const request = clientOf({ rules }).request(get(`http://127.0.0.1:${port}/`, { deadlineMs: 100, isStatusEnough: true }));
  await expect(request).rejects.toMatchObject({ kind: "timeout", message: "the response was not complete in time" });
});
