import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { KEY, openControl } from "#harness/control";
import { exchange } from "#harness/http/raw-http";
import type { Listener } from "#http/listeners/listener";
import { serveControl } from "./server.ts";

const sockets: Socket[] = [];
const servers: Listener[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) await server.stop(0);
});

async function serve(connectionsMax: number) {
  return (await serveWithLog(connectionsMax)).port;
}

async function serveWithLog(connectionsMax: number) {
  const { served, plaza } = await openControl();
  const { ending, streams } = countedStreams();
  const server = serveControl({ ...served, deps: { ...served.deps, ending }, host: "127.0.0.1", port: 0, connectionsMax });
  servers.push(server);
  return { port: server.port, requests: plaza.world.requests, streams };
}

/** The signal that a server ends, which each open event stream listens to. */
function countedStreams() {
  const ending = new AbortController().signal;
  const streams = new Set<unknown>();
  const [add, remove] = [ending.addEventListener.bind(ending), ending.removeEventListener.bind(ending)];
  ending.addEventListener = (type: string, listener: EventListener) => {
    streams.add(listener);
    add(type, listener);
  };
  ending.removeEventListener = (type: string, listener: EventListener) => {
    streams.delete(listener);
    remove(type, listener);
  };
  return { ending, streams };
}

/** Opens a connection to the server, and resolves when the connection is open. */
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

test("above the limit the connection that has waited longest for its client is closed, and requests continue", async () => {
  const port = await serve(3);
  const used = await open(port);
  const silent = await open(port);
  // After this request, the connection `used` has waited for a shorter time than the connection `silent`.
  expect(await used.ask(HEALTH)).toStartWith("HTTP/1.1 200 ");
  const third = await open(port);
  const fourth = await open(port);
  expect(await silent.closed).toBe("closed");
  for (const { ask } of [used, third, fourth]) expect(await ask(HEALTH)).toStartWith("HTTP/1.1 200 ");
});

test("a connection with a running request is not closed for others", async () => {
  const port = await serve(3);
  const request = JSON.stringify({ operation: "listPersonas", count: 0, within_ms: 1_500 });
  const head = `POST /v1/worlds/default/requests/expect HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Length: ${request.length}\r\n\r\n`;
  const waiting = [await open(port), await open(port)].map(({ ask }) => ask(head + request));
  // When this connection gets its response, both waiting requests have reached the server.
  let idle = await open(port);
  expect(await idle.ask(HEALTH)).toStartWith("HTTP/1.1 200 ");
  for (let others = 0; others < 5; others++) {
    const next = await open(port);
    expect(await idle.closed).toBe("closed");
    idle = next;
  }
  for (const response of await Promise.all(waiting)) expect(response).toStartWith("HTTP/1.1 200 ");
});

test("D-334: idle event streams keep no new client out, and are not closed for one", async () => {
  const port = await serve(8);
  const stream = async (): Promise<string> => {
    const { socket } = await open(port);
    const first = new Promise<string>((resolve) => socket.once("data", (part: Buffer) => resolve(part.toString())));
    socket.write(STREAM);
    return first;
  };
  const answers: string[] = [];
  for (let count = 0; count < 8; count++) answers.push((await stream()).slice(9, 12));
  expect(answers).toEqual(["200", "200", "200", "200", "503", "503", "503", "503"]);
  const running = sockets.slice(0, 4);
  for (let count = 0; count < 20; count++) expect(await (await open(port)).ask(HEALTH)).toStartWith("HTTP/1.1 200 ");
  expect(running.map(({ destroyed }) => destroyed)).toEqual([false, false, false, false]);
  // After a stream has ended, the server accepts another stream.
  running[0]?.resetAndDestroy();
  while (!(await stream()).startsWith("HTTP/1.1 200 ")) await Bun.sleep(5);
});

/** A request with a long operation name: twenty such entries are most of a megabyte. */
const long = {
  ...{ trace_id: "A1", method: "GET", surface: "base", path: "/v26.0/2001", query: "", status: 200, time: 0, duration_ms: 1, app: "1001" },
  ...{ operation: "x".repeat(40_000), request_body: "", response_body: "{}" },
};
const STREAM = `GET /v1/worlds/default/requests/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;

test("the stream of a client that stopped reading, or has left, ends", async () => {
  const { port, requests, streams } = await serveWithLog(3);
  for (const end of ["stops reading", "goes"] as const) {
    const { socket } = await open(port);
    socket.write(STREAM);
    while (streams.size === 0) await Bun.sleep(5);
    if (end === "goes") socket.destroy();
    else socket.pause();
    while (streams.size > 0) {
      for (let count = 0; count < 20; count++) requests.adopt(long);
      await Bun.sleep(5);
    }
  }
});

const auth = `Host: localhost\r\nAuthorization: Bearer ${KEY}\r\n`;
const LABELS = "/v1/worlds/default/nodes/labels";

test("requests follow each other on one connection, with lengths and chunks, whether their bodies are read or not", async () => {
  const port = await serve(3);
  const label = JSON.stringify({ id: "5901", page: "2001", name: "chunked" });
  const { responses } = await exchange(
    port,
    [
      `GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc${HEALTH}`,
      `POST ${LABELS} HTTP/1.1\r\n${auth}Transfer-Encoding: chunked\r\n\r\n5\r\n${label.slice(0, 5)}\r\n`,
      `${(label.length - 5).toString(16)}\r\n${label.slice(5)}\r\n0\r\n\r\n`,
      `POST ${LABELS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`,
      HEALTH,
    ],
    { responses: 5, gapMs: 5 },
  );
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 201, 401, 200]);
});

test("a body is requested when it is read; an unread or broken one ends the connection", async () => {
  const port = await serve(3);
  const label = JSON.stringify({ id: "5902", page: "2001", name: "continued" });
  const head = `POST ${LABELS} HTTP/1.1\r\n${auth}Expect: 100-continue\r\nContent-Length: ${label.length}\r\n\r\n`;
  const { text, responses } = await exchange(port, [head, label], { awaits: "100 Continue" });
  expect({ text, responses }).toMatchObject({ text: expect.stringContaining("100 Continue"), responses: [{ status: 201 }] });
  const refused = await exchange(port, [head.replace(KEY, "wrong")]);
  expect(refused.text).not.toContain("100 Continue");
  expect(refused.responses).toMatchObject([{ status: 401, headers: { connection: "close" } }]);
  const broken = await exchange(port, [`POST ${LABELS} HTTP/1.1\r\n${auth}Transfer-Encoding: chunked\r\n\r\nx\r\n`]);
  expect(broken.responses).toMatchObject([
    { status: 400, headers: { connection: "close" }, body: expect.stringContaining("chunks of the body are not valid") },
  ]);
});

test("a request without Host has its whole path; a malformed request or address gets an error with the reason", async () => {
  const port = await serve(3);
  const [checked] = (await exchange(port, ["OPTIONS /healthz HTTP/1.0\r\n\r\n"])).responses;
  expect(checked).toMatchObject({ status: 404, body: expect.stringContaining("OPTIONS /healthz") });
  const [healthy] = (await exchange(port, ["GET /healthz HTTP/1.0\r\n\r\n"])).responses;
  expect(healthy).toMatchObject({ status: 200, headers: { connection: "close" }, body: '{"status":"ok"}' });
  for (const [text, message] of [
    ["GET /healthz HTTP/1.1\r\n\r\n", "Host header"],
    ["GET /healthz HTTP/1.1\r\nHost: 1.2.3.400\r\n\r\n", "is not a valid host name or address"],
    ["FOO /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "FOO is not known"],
  ] as const) {
    const [response] = (await exchange(port, [text])).responses;
    expect({ status: response?.status, ...JSON.parse(response?.body ?? "") }).toEqual({
      ...{ status: 400, error: { code: "bad_request", message: expect.stringContaining(message) } },
    });
  }
});

test("HEAD returns the length of the GET, and leaves no stream open", async () => {
  const { port, streams } = await serveWithLog(3);
  const { responses } = await exchange(port, [HEALTH.replace("GET", "HEAD"), STREAM.replace("GET", "HEAD")], {
    responses: 2,
    isHead: true,
    gapMs: 5,
  });
  expect(responses).toMatchObject([{ status: 200, headers: { "content-length": "15" } }, { status: 200 }]);
  expect(streams.size).toBe(0);
});
