/** Tests many requests at the same time to one host. */
import { expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterThisTest } from "#harness/cleanup";
import { GuardedClient } from "../client.ts";
import type { OutboundRequest } from "../request.ts";

/** Opens a server that responds when the test calls `response`. */
async function open() {
  const waiting: (() => void)[] = [];
  let connections = 0;
  let whenAsked: () => void = () => {};
  const server = createServer((request, response) => {
    request.resume();
    waiting.push(() => response.end("ok"));
    whenAsked();
  });
  const open = new Set<object>();
  server.on("connection", (socket) => {
    connections++;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new GuardedClient({ rules: { isSandbox: true, allowed: [] } });
  afterThisTest(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const request = (deadlineMs = 60_000) => {
    const post: OutboundRequest = { method: "POST", url, headers: {}, body: "{}", deadlineMs, responseBytesMax: 100 };
    return client.request(post);
  };
  const asked = (count: number) =>
    new Promise<void>((resolve) => {
      whenAsked = () => {
        if (waiting.length >= count) resolve();
      };
      whenAsked();
    });
  const response = () => {
    for (const end of waiting.splice(0)) end();
  };
  return { request, asked, response, connectionCount: () => connections, openCount: () => open.size };
}

test("hundreds of requests at once to one host keep their connections for the next", async () => {
  const { request, asked, response, connectionCount } = await open();
  for (let round = 0; round < 3; round++) {
    const requests = Array.from({ length: 300 }, () => request());
    await asked(300);
    response();
    expect((await Promise.all(requests)).every(({ status }) => status === 200)).toBe(true);
  }
  expect(connectionCount()).toBe(300);
});

test("requests that share a timer each end at their own deadline, in any order", async () => {
  const { request, asked, response } = await open();
  const ended: number[] = [];
  const late = [60_000, 1_000, 50, 2_000].map((deadlineMs) =>
    request(deadlineMs).then(
      ({ status }) => status,
      ({ kind }) => {
        ended.push(deadlineMs);
        return kind;
      },
    ),
  );
  await Promise.all(late.slice(1));
  await asked(1);
  response();
  expect(await Promise.all(late)).toEqual([200, "timeout", "timeout", "timeout"]);
  expect(ended).toEqual([50, 1_000, 2_000]);
});

test("a cancelled request closes its connection; others keep theirs", async () => {
  const { request, asked, response, openCount } = await open();
  const kept = request();
  await asked(1);
  await expect(request(20)).rejects.toMatchObject({ kind: "timeout" });
  while (openCount() > 1) await Bun.sleep(1);
  response();
  expect((await kept).status).toBe(200);
});
