import { afterEach, expect, test } from "bun:test";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { KEY, openControl } from "#harness/control";
import { temporaryFolder } from "#harness/server";
import { unixPlace } from "./front.ts";
import { type ControlServer, serveControl } from "./server.ts";

const sockets: Socket[] = [];
const servers: ControlServer[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) await server.stop(0);
});

async function serve(connectionsMax: number) {
  return (await serveWithLog(connectionsMax)).port;
}

async function serveWithLog(connectionsMax: number) {
  const { served, plaza } = await openControl();
  const server = await serveControl({ ...served, host: "127.0.0.1", port: 0, connectionsMax });
  servers.push(server);
  return { port: server.port, requests: plaza.world.requests };
}

/** Resolves when the connection is open. */
async function open(port: number) {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {});
  const closed = new Promise<"closed">((resolve) => socket.once("close", () => resolve("closed")));
  await new Promise((resolve) => socket.once("connect", resolve));
  const ask = (text: string) =>
    new Promise<string>((resolve) => {
      let received = "";
      socket.on("data", (part: Buffer) => {
        received += part.toString();
        if (received.endsWith("}")) resolve(received);
      });
      socket.write(text);
    });
  return { socket, closed, ask };
}

const HEALTH = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

test("of more connections than may be open the one that has waited longest for its client is closed, and requests go on", async () => {
  const port = await serve(3);
  const used = await open(port);
  const silent = await open(port);
  // Now it waits for a shorter time than the silent one.
  expect(await used.ask(HEALTH)).toStartWith("HTTP/1.1 200 ");
  const third = await open(port);
  const fourth = await open(port);
  expect(await silent.closed).toBe("closed");
  for (const { ask } of [used, third, fourth]) expect(await ask(HEALTH)).toStartWith("HTTP/1.1 200 ");
});

test("a connection on which a request runs is not closed for others", async () => {
  const port = await serve(3);
  const request = JSON.stringify({ operation: "listPersonas", count: 0, within_ms: 1_500 });
  const head = `POST /v1/worlds/default/requests/expect HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Length: ${request.length}\r\n\r\n`;
  const waiting = [await open(port), await open(port)].map(({ ask }) => ask(head + request));
  // By its response both requests have come to the server.
  let idle = await open(port);
  expect(await idle.ask(HEALTH)).toStartWith("HTTP/1.1 200 ");
  for (let others = 0; others < 5; others++) {
    const next = await open(port);
    expect(await idle.closed).toBe("closed");
    idle = next;
  }
  for (const response of await Promise.all(waiting)) expect(response).toStartWith("HTTP/1.1 200 ");
});

/** Twenty of them are most of a megabyte. */
const long = {
  ...{ trace_id: "A1", method: "GET", surface: "base", path: "/v26.0/2001", query: "", status: 200, time: 0, duration_ms: 1, app: "1001" },
  ...{ operation: "x".repeat(40_000), request_body: "", response_body: "{}" },
};
const STREAM = `GET /v1/worlds/default/requests/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;

test("the stream of a client that has stopped reading ends, and that of one that has gone", async () => {
  const { port, requests } = await serveWithLog(3);
  for (const end of ["stops reading", "goes"] as const) {
    const { socket } = await open(port);
    socket.write(STREAM);
    while (!requests.isWatched) await Bun.sleep(5);
    if (end === "goes") socket.destroy();
    else socket.pause();
    while (requests.isWatched) {
      for (let count = 0; count < 20; count++) requests.adopt(long);
      await Bun.sleep(5);
    }
  }
});

test("the HTTP server listens in the data folder where the path is no longer than a socket's may be, else in a folder of this user alone", () => {
  const data = temporaryFolder();
  const socket = join(data, "control.sock");
  // A server that was killed has left it.
  writeFileSync(socket, "");
  const place = unixPlace(data);
  expect({ socket: place.socket, isThere: existsSync(socket) }).toEqual({ socket, isThere: false });
  writeFileSync(socket, "");
  place.remove();
  place.remove();
  expect([existsSync(socket), existsSync(data)]).toEqual([false, true]);
  const folderOf = (bytes: number, first = "") => `/${first}${"x".repeat(bytes - "/control.sock".length - 1 - Buffer.byteLength(first))}`;
  expect(unixPlace(folderOf(103)).socket).toBe(`${folderOf(103)}/control.sock`);
  for (const elsewhere of [folderOf(104), folderOf(104, "ä"), undefined]) {
    const { socket: own, remove } = unixPlace(elsewhere);
    expect(own).toStartWith(join(tmpdir(), "plaza-control-"));
    expect(statSync(dirname(own)).mode & 0o777).toBe(0o700);
    writeFileSync(own, "");
    remove();
    expect(existsSync(dirname(own))).toBe(false);
  }
});
