/** Tests the listener of the control API: how it starts and ends, and its limit of clients. */
import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Certificate } from "#config/certificate";
import { receiverCertificate, receiverKey } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { KEY, openControl } from "#harness/control";
import { nextTurn } from "#kernel/turns";
import { serveControl } from "./server.ts";

const personas = {
  ...{ trace_id: "A1", operation: "listPersonas", method: "GET", surface: "base", path: "/v26.0/2001/personas", query: "", status: 200, time: 0 },
  ...{ duration_ms: 1, app: "1001", request_body: "", response_body: "" },
};

async function serve() {
  const { served, plaza } = await openControl();
  const server = serveControl({ ...served, host: "127.0.0.1", port: 0 });
  afterThisTest(() => server.stop(0));
  const url = `http://127.0.0.1:${server.port}`;
  /** Sends a request that waits until a request about personas comes. */
  const wait = (): Promise<number | "cut off"> =>
    fetch(`${url}/v1/worlds/default/requests/expect`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ operation: "listPersonas", count: 1, within_ms: 60_000 }),
    }).then(
      ({ status }) => status,
      () => "cut off",
    );
  const healthy = (): Promise<boolean> =>
    fetch(`${url}/healthz`, { keepalive: false }).then(
      ({ ok }) => ok,
      () => false,
    );
  return { server, wait, healthy, happen: () => plaza.world.requests.add(personas) };
}

test("a running request ends before the listener does, and no new one is accepted meanwhile", async () => {
  const { server, wait, healthy, happen } = await serve();
  expect(await healthy()).toBe(true);
  let isOver = false;
  const running = wait().finally(() => {
    isOver = true;
  });
  // When the second request gets its response, both requests have reached the server.
  expect(await healthy()).toBe(true);
  const stopped = server.stop(30_000);
  // Clients that connected before the listener stopped are still served, and later clients are not.
  while (await healthy()) await nextTurn();
  expect(isOver).toBe(false);
  happen();
  expect(await running).toBe(200);
  await stopped;
});

test("a request that runs longer than the grace period is cut off", async () => {
  const { server, wait, healthy } = await serve();
  const running = wait();
  expect(await healthy()).toBe(true);
  await server.stop(20);
  expect(await running).toBe("cut off");
});

test("if another program has the address, it does not begin", async () => {
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  afterThisTest(() => other.stop(true));
  const { served } = await openControl();
  expect(() => serveControl({ ...served, host: "127.0.0.1", port: Number(other.port) })).toThrow(expect.objectContaining({ code: "EADDRINUSE" }));
});

test("256 clients can be connected at once; a further one replaces the one that has waited longest", async () => {
  const { server } = await serve();
  const closed: number[] = [];
  const open = async (at: number): Promise<Socket> => {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.on("close", () => closed.push(at));
    socket.on("data", () => {});
    afterThisTest(() => socket.destroy());
    await new Promise((resolve) => socket.once("connect", resolve));
    return socket;
  };
  const sockets: Socket[] = [];
  for (let at = 0; at < 256; at++) sockets.push(await open(at));
  const last = sockets[255] as Socket;
  // When the last connection gets its response, the server knows all connections.
  await new Promise((resolve) => {
    last.once("data", resolve);
    last.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  });
  expect(closed).toEqual([]);
  await open(256);
  while (closed.length === 0) await Bun.sleep(5);
  expect(closed).toEqual([0]);
});

test("RFC 7301: over TLS the server chooses HTTP/1.1 from the protocols of a client", async () => {
  const { served } = await openControl();
  const certificate = { current: { cert: receiverCertificate, key: receiverKey }, onRenewed: () => {} } as unknown as Certificate;
  const server = serveControl({ ...served, certificate, host: "127.0.0.1", port: 0 });
  afterThisTest(() => server.stop(0));
  const socket = connectTls({ host: "127.0.0.1", port: server.port, rejectUnauthorized: false, ALPNProtocols: ["h2", "http/1.1"] });
  afterThisTest(() => socket.destroy());
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  expect(socket.alpnProtocol).toBe("http/1.1");
});
