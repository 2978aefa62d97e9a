/** How the listener of the control API begins and ends, and how many clients it has room for. */
import { expect, spyOn, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import type { Certificate } from "#config/certificate";
import { receiverCertificate, receiverKey } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { KEY, openControl } from "#harness/control";
import { temporaryFolder } from "#harness/server";
import { nextTurn } from "#kernel/turns";
import { largestBodyBytes } from "./app.ts";
import { listenInFront } from "./front.ts";
import { serveControl } from "./server.ts";

const personas = {
  ...{ trace_id: "A1", operation: "listPersonas", method: "GET", surface: "base", path: "/v26.0/2001/personas", query: "", status: 200, time: 0 },
  ...{ duration_ms: 1, app: "1001", request_body: "", response_body: "" },
};

async function serve() {
  const { served, plaza } = await openControl();
  const dataFolder = temporaryFolder();
  const server = await serveControl({ ...served, host: "127.0.0.1", port: 0, dataFolder });
  afterThisTest(() => server.stop(0));
  const url = `http://127.0.0.1:${server.port}`;
  /** A request that waits until a request for personas comes. */
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
  return { server, wait, healthy, socket: join(dataFolder, "control.sock"), happen: () => plaza.world.requests.add(personas) };
}

test("a running request ends before the listener does, no new one is taken meanwhile, and its socket goes with it", async () => {
  const { server, wait, healthy, socket, happen } = await serve();
  expect([await healthy(), existsSync(socket)]).toEqual([true, true]);
  let isOver = false;
  const running = wait().finally(() => {
    isOver = true;
  });
  // Both have come to the server by the response to the second.
  expect(await healthy()).toBe(true);
  const stopped = server.stop(30_000);
  await nextTurn();
  expect(await healthy()).toBe(false);
  expect(isOver).toBe(false);
  happen();
  expect(await running).toBe(200);
  await stopped;
  expect(existsSync(socket)).toBe(false);
});

test("a request that runs on after the grace is cut off", async () => {
  const { server, wait, healthy, socket } = await serve();
  const running = wait();
  expect(await healthy()).toBe(true);
  await server.stop(20);
  expect(await running).toBe("cut off");
  expect(existsSync(socket)).toBe(false);
});

test("where the address is another program's it begins not at all, and leaves no socket", async () => {
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  afterThisTest(() => other.stop(true));
  const { served } = await openControl();
  const dataFolder = temporaryFolder();
  await expect(serveControl({ ...served, host: "127.0.0.1", port: Number(other.port), dataFolder })).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(readdirSync(dataFolder)).toEqual([]);
});

test("256 clients have their connections at once; with one more the one that has waited longest loses its own", async () => {
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
  // By its response all of them are known.
  await new Promise((resolve) => {
    last.once("data", resolve);
    last.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  });
  expect(closed).toEqual([]);
  await open(256);
  while (closed.length === 0) await Bun.sleep(5);
  expect(closed).toEqual([0]);
});

test("it has time for the longest wait, and takes in one byte more than the largest body, which is refused by what reads it", async () => {
  const serving = spyOn(Bun, "serve");
  afterThisTest(() => serving.mockRestore());
  const { served } = await openControl();
  const server = await serveControl({ ...served, host: "127.0.0.1", port: 0 });
  afterThisTest(() => server.stop(0));
  expect(serving).toHaveBeenCalledWith(expect.objectContaining({ idleTimeout: 255, maxRequestBodySize: largestBodyBytes(served.deps.registry) + 1 }));
});

test("RFC 7301: over TLS the server chooses HTTP/1.1 from the protocols of a client", async () => {
  const { served } = await openControl();
  const certificate = { current: { cert: receiverCertificate, key: receiverKey }, onRenewed: () => {} } as unknown as Certificate;
  const server = await serveControl({ ...served, certificate, host: "127.0.0.1", port: 0 });
  afterThisTest(() => server.stop(0));
  const socket = connectTls({ host: "127.0.0.1", port: server.port, rejectUnauthorized: false, ALPNProtocols: ["h2", "http/1.1"] });
  afterThisTest(() => socket.destroy());
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  expect(socket.alpnProtocol).toBe("http/1.1");
});

test("a client whose handshake ends when the HTTP server has stopped is disconnected, and nothing fails", async () => {
  const unixSocket = join(temporaryFolder(), "none.sock");
  const front = await listenInFront({ host: "127.0.0.1", port: 0, unixSocket, certificate: undefined });
  afterThisTest(() => front.close());
  const client = connect(front.port, "127.0.0.1");
  client.on("error", () => {});
  await new Promise((resolve) => client.once("close", resolve));
});
