import { describe, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterThisTest } from "#harness/cleanup";
import { type ConnectProxyOptions, startConnectProxy } from "./connect-proxy.ts";
import { UpstreamProxies } from "./upstream-proxies.ts";

/** Starts a server that returns the bytes that it receives, with a word before them. */
async function echo(word: string, seen: string[] = []): Promise<number> {
  return listen(
    createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        seen.push(String(bytes));
        socket.write(`${word}:${bytes}`);
      });
    }),
  );
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  afterThisTest(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function proxy(options: Partial<ConnectProxyOptions> = {}, variables: Record<string, string> = {}) {
  const started = await startConnectProxy({
    ...{
      hostnames: new Set(["graph.example.com"]),
      port: await echo("plaza"),
      authority: "",
      isOnly: false,
      upstream: new UpstreamProxies(variables),
    },
    ...options,
  });
  afterThisTest(() => started.stop());
  return started;
}

/** Sends the texts one after another, each after the response to the previous text, and returns all received bytes. */
async function talk(port: number, ...texts: readonly string[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  afterThisTest(() => socket.destroy());
  const left = [...texts];
  let received = "";
  return new Promise((resolve) => {
    socket.on("connect", () => socket.write(left.shift() ?? ""));
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
    socket.on("data", (bytes) => {
      received += bytes;
      const next = left.shift();
      if (next === undefined) socket.destroy();
      else socket.write(next);
    });
  });
}

const tunnel = (host: string): string => `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const ESTABLISHED = "HTTP/1.1 200 Connection Established\r\n\r\n";

describe("the proxy", () => {
  test("joins tunnels to a named host with Plaza, however the name is written and in whatever pieces the head comes", async () => {
    const { port } = await proxy();
    for (const host of ["graph.example.com:443", "GRAPH.example.com.:8443"])
      expect(await talk(port, tunnel(host), "hello")).toBe(`${ESTABLISHED}plaza:hello`);
    const pieces = [...tunnel("graph.example.com:443")];
    const socket = connect(port, "127.0.0.1");
    afterThisTest(() => socket.destroy());
    socket.setNoDelay(true);
    const answer = new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(String(bytes))));
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
    expect(await answer).toBe(ESTABLISHED);
  });

  test("passes on the bytes that come with the head", async () => {
    const seen: string[] = [];
    const arrived = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        seen.push(String(bytes));
        arrived.resolve();
      });
    });
    const { port } = await proxy({ port: await listen(server) });
    const socket = connect(port, "127.0.0.1");
    afterThisTest(() => socket.destroy());
    socket.write(`${tunnel("graph.example.com:443")}early`);
    await arrived.promise;
    expect(seen).toEqual(["early"]);
  });

  test("passes other hosts on without a change: tunnels as they are, requests with their path", async () => {
    const seen: string[] = [];
    const other = await echo("other", seen);
    const { port } = await proxy();
    expect(await talk(port, tunnel(`localhost:${other}`), "\x16\x03 no HTTP")).toBe(`${ESTABLISHED}other:\x16\x03 no HTTP`);
    await talk(
      port,
      `POST http://127.0.0.1:${other}/a?b=c HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic eA==\r\nConnection: keep-alive\r\n\r\nbody`,
    );
    expect(seen.slice(1).join("")).toBe("POST /a?b=c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nbody");
  });

  test("uses the proxy that was set already, with its password, except for hosts of NO_PROXY", async () => {
    const seen: string[] = [];
    const upstream = await echo("upstream", seen);
    const direct = await echo("direct");
    const named = {
      HTTPS_PROXY: `http://ada:p%40ss@127.0.0.1:${upstream}`,
      http_proxy: `127.0.0.1:${upstream}`,
      NO_PROXY: "other.test, .inner.test",
    };
    const { port } = await proxy({}, named);
    await talk(port, tunnel("example.org:443"));
    expect(seen.splice(0)).toEqual([
      `CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\nProxy-Authorization: Basic ${btoa("ada:p@ss")}\r\n\r\n`,
    ]);
    await talk(port, "GET http://example.org/x HTTP/1.1\r\nHost: example.org\r\n\r\n");
    expect(seen.splice(0)).toEqual(["GET http://example.org:80/x HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n"]);
    // Requests to this machine do not use the upstream proxy.
    expect(await talk(port, tunnel(`127.0.0.1:${direct}`), "hello")).toBe(`${ESTABLISHED}direct:hello`);
    expect(seen).toEqual([]);
    const proxies = new UpstreamProxies({ ...named, NO_PROXY: "other.test, .inner.test, *.last.test, port.test:8443" });
    const isDirect = (hostname: string, at = 443) => proxies.of({ hostname, port: at }, true) === undefined;
    expect(["other.test", "a.other.test", "inner.test", "a.inner.test", "a.last.test"].filter((host) => !isDirect(host))).toEqual([]);
    expect([isDirect("another.test"), isDirect("port.test"), isDirect("port.test", 8443)]).toEqual([false, false, true]);
    expect(new UpstreamProxies({ ...named, NO_PROXY: "*" }).of({ hostname: "example.org", port: 443 }, true)).toBeUndefined();
    for (const wrong of ["socks5://127.0.0.1:1", "http://", "ftp://proxy"])
      expect(() => new UpstreamProxies({ ALL_PROXY: wrong })).toThrow("ALL_PROXY: must be the address of a proxy for HTTP");
  });

  test("with --only refuses all other hosts but this machine, and counts them, a hundred at most", async () => {
    const local = await echo("local");
    const { port, tried } = await proxy({ isOnly: true });
    expect(await talk(port, tunnel("example.org:443"))).toStartWith("HTTP/1.1 403 Forbidden\r\n");
    expect(await talk(port, "GET http://example.org/ HTTP/1.1\r\n\r\n")).toContain(
      "plaza: --only refuses example.org, because --as does not name it",
    );
    await talk(port, tunnel("example.org:443"));
    expect(await talk(port, tunnel(`[::1]:${local}`))).not.toContain("403");
    expect(await talk(port, tunnel(`127.0.0.1:${local}`), "x")).toBe(`${ESTABLISHED}local:x`);
    expect(tried.list()).toEqual([
      { host: "example.org:443", count: 2 },
      { host: "example.org:80", count: 1 },
    ]);
    for (let other = 0; other < 150; other++) tried.add(`h${other}:443`);
    expect([tried.list().length, tried.further]).toEqual([100, 52]);
  });

  test("says what is wrong with a request that is not one to a proxy, and sends http for a named host to https", async () => {
    const { port } = await proxy();
    const refusals = {
      "GET / HTTP/1.1\r\n\r\n": "send CONNECT host:port",
      "GET ftp://graph.example.com/ HTTP/1.1\r\n\r\n": "send CONNECT host:port",
      "CONNECT graph.example.com HTTP/1.1\r\n\r\n": "CONNECT needs a host and a port",
      "CONNECT graph.example.com:443/x HTTP/1.1\r\n\r\n": "CONNECT needs a host and a port",
      "CONNECT graph.example.com:443 HTTP/2\r\n\r\n": "not HTTP/1.1",
      "\x16\x03\x01 hello\r\n\r\n": "not HTTP/1.1",
      [`GET http://a/ HTTP/1.1\r\nX: ${"x".repeat(16_384)}\r\n\r\n`]: "longer than 16384 bytes",
      ["x".repeat(16_385)]: "longer than 16384 bytes",
    };
    for (const [text, message] of Object.entries(refusals)) {
      const response = await talk(port, text);
      expect(response).toStartWith("HTTP/1.1 400 Bad Request\r\n");
      expect(response).toContain(message);
    }
    const moved = await talk(port, "GET http://graph.example.com/v26.0/me?x=1 HTTP/1.1\r\nHost: graph.example.com\r\n\r\n");
    expect(moved).toContain("\r\nLocation: https://graph.example.com/v26.0/me?x=1\r\n");
  });

  test("reports a host that cannot be reached, and ends each side with the other", async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
    const { port: closed } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const { port, stop } = await proxy();
    expect(await talk(port, tunnel(`127.0.0.1:${closed}`))).toStartWith("HTTP/1.1 502 Bad Gateway\r\n");
    const ended = Promise.withResolvers<void>();
    const other = await listen(createServer((socket) => socket.on("error", () => {}).on("close", () => ended.resolve())));
    expect(await talk(port, tunnel(`127.0.0.1:${other}`))).toBe(ESTABLISHED);
    await ended.promise;
    const last = talk(port, tunnel(`127.0.0.1:${other}`), "x");
    await stop();
    await last;
    await expect(
      new Promise((resolve, reject) => {
        connect(port, "127.0.0.1").on("connect", resolve).on("error", reject);
      }),
    ).rejects.toThrow("ECONNREFUSED");
  });
});
