import { expect, test } from "bun:test";
import { request as ask, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterThisTest } from "#harness/cleanup";
import { PageGuard } from "#kernel/page-guard";
import { type Exchange, recordingProxy } from "./recording-proxy.ts";

const pages = new PageGuard({ origins: ["https://app.example"], hosts: ["proxy.example"] });

const proxyOf = (upstream: string, exchanges: Exchange[]) =>
  recordingProxy({ host: "127.0.0.1", port: 0, pages, upstream: new URL(upstream), note: (exchange) => exchanges.push(exchange) });

/** Opens a server that responds with the request that it received, behind a proxy. */
async function open() {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.writeHead(201, ["X-Own", "1", "Keep-Alive", "timeout=9"]);
    response.end(JSON.stringify({ target: request.url, raw: request.rawHeaders, body: Buffer.concat(chunks).toString() }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const exchanges: Exchange[] = [];
  const proxy = proxyOf(`http://${host}/below/`, exchanges);
  afterThisTest(async () => {
    await proxy.stop(0);
    server.closeAllConnections();
    server.close();
  });
  const send = (method: string, headers: readonly string[], body: string): Promise<{ target: string; raw: string[]; body: string }> =>
    new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: proxy.port, method, path: "/v1/2001?a=%41", headers: ["Host", "proxy.example", ...headers] };
      const sent = ask(options, async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        resolve(JSON.parse(text));
      });
      sent.once("error", reject);
      sent.end(body);
    });
  return { host, exchanges, send };
}

const valuesOf = (raw: readonly string[], name: string): string[] => raw.filter((_, at) => at % 2 === 1 && raw[at - 1]?.toLowerCase() === name);

test("a request is passed on with its own host and length, in any spelling of their names, and all other headers", async () => {
  const { host, exchanges, send } = await open();
  const seen = await send("POST", ["X-One", "a", "Content-Length", "5", "CONNECTION", "close", "Accept-Encoding", "br"], "12345");
  expect({ target: seen.target, body: seen.body }).toEqual({ target: "/below/v1/2001?a=%41", body: "12345" });
  expect(valuesOf(seen.raw, "host")).toEqual([host]);
  expect(valuesOf(seen.raw, "content-length")).toEqual(["5"]);
  expect(valuesOf(seen.raw, "x-one")).toEqual(["a"]);
  expect(valuesOf(seen.raw, "accept-encoding")).toEqual([]);
  const [exchange] = exchanges;
  expect(exchange).toMatchObject({ method: "POST", target: "/v1/2001?a=%41", status: 201 });
  expect(exchange?.requestHeaders.map(([name]) => name)).toEqual(["Host", "X-One", "Content-Length"]);
  expect(exchange?.responseHeaders.map(([name]) => name)).toContain("X-Own");
  expect(exchange?.responseHeaders.map(([name]) => name)).not.toContain("Keep-Alive");
});

test("only a POST states that it has no body", async () => {
  const { send } = await open();
  const lengthsOf = async (method: string, headers: readonly string[], body: string) =>
    valuesOf((await send(method, headers, body)).raw, "content-length");
  expect(await lengthsOf("GET", [], "")).toEqual([]);
  expect(await lengthsOf("POST", ["Content-Length", "0"], "")).toEqual(["0"]);
  expect(await lengthsOf("DELETE", ["Content-Length", "1"], "1")).toEqual(["1"]);
});

test("the server's addresses become the proxy's own for the client, and stay in the recording", async () => {
  const server = createServer((_, response) => {
    const { port } = server.address() as AddressInfo;
    const base = `http://127.0.0.1:${port}`;
    const body = Buffer.from(
      `{"next":"${base}/a?b","escaped":"http:\\/\\/127.0.0.1:${port}\\/c","other":"${base}1/","bare":"${base}"}\xff`,
      "latin1",
    );
    response.writeHead(200, { location: `${base}/x`, "content-length": body.length }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const exchanges: Exchange[] = [];
  const proxy = proxyOf(upstream, exchanges);
  afterThisTest(async () => {
    await proxy.stop(0);
    server.closeAllConnections();
    server.close();
  });
  const own = `http://localhost:${proxy.port}`;
  const response = await fetch(`${own}/y`, { redirect: "manual" });
  const escaped = own.replaceAll("/", "\\/");
  expect(Buffer.from(await response.arrayBuffer()).toString("latin1")).toBe(
    `{"next":"${own}/a?b","escaped":"${escaped}\\/c","other":"${upstream}1/","bare":"${own}"}\xff`,
  );
  expect(response.headers.get("location")).toBe(`${own}/x`);
  expect(exchanges[0]?.responseBody.toString("latin1")).toContain(`"next":"${upstream}/a?b"`);
});

test("a server that is unreachable or breaks off is a bad gateway that names it, and nothing is recorded", async () => {
  const breaking = createServer((_, response) => {
    response.writeHead(200, { "content-length": 9 });
    response.write("half", () => response.destroy());
  });
  await new Promise<void>((resolve) => breaking.listen(0, "127.0.0.1", resolve));
  const { port } = breaking.address() as AddressInfo;
  const exchanges: Exchange[] = [];
  const proxy = proxyOf(`http://127.0.0.1:${port}`, exchanges);
  afterThisTest(() => proxy.stop(0));
  const get = async () => {
    const response = await fetch(`http://127.0.0.1:${proxy.port}/`);
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  };
  const badGateway = { status: 502, type: "text/plain; charset=utf-8", text: expect.stringContaining(`http://127.0.0.1:${port} did not respond: `) };
  expect(await get()).toEqual(badGateway);
  breaking.closeAllConnections();
  await new Promise((resolve) => breaking.close(resolve));
  expect(await get()).toEqual(badGateway);
  expect(exchanges).toEqual([]);
});

test("a body of more than 64 MiB is refused on either side, and one of exactly that size is passed on", async () => {
  const bytesMax = 64 * 1024 * 1024;
  const server = createServer(async (request, response) => {
    let bytes = 0;
    for await (const chunk of request) bytes += (chunk as Buffer).length;
    response.writeHead(200, { "x-received": String(bytes) }).end(Buffer.alloc(Number(request.headers["x-wanted"] ?? 0)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const exchanges: Exchange[] = [];
  const proxy = proxyOf(upstream, exchanges);
  afterThisTest(async () => {
    await proxy.stop(0);
    server.closeAllConnections();
    server.close();
  });
  const send = async (bytes: number, wanted: number) => {
    const response = await fetch(`http://127.0.0.1:${proxy.port}/`, {
      method: "POST",
      headers: { "x-wanted": String(wanted) },
      body: new Uint8Array(bytes),
    });
    const { length } = new Uint8Array(await response.clone().arrayBuffer());
    return { status: response.status, said: length < 200 ? await response.text() : length, received: response.headers.get("x-received") };
  };
  expect(await send(bytesMax, bytesMax)).toEqual({ status: 200, said: bytesMax, received: String(bytesMax) });
  expect(exchanges.splice(0)).toHaveLength(1);
  expect(await send(bytesMax + 1, 0)).toEqual({ status: 413, said: `the request has a body of more than ${bytesMax} bytes`, received: null });
  const said = `the response of ${upstream} has a body of more than ${bytesMax} bytes`;
  expect(await send(0, bytesMax + 1)).toEqual({ status: 502, said, received: null });
  expect(exchanges).toEqual([]);
});

test("a recording says when a request arrived and how long it took", async () => {
  const { exchanges, send } = await open();
  const beforeMs = Date.now();
  await send("POST", [], "12345");
  const tookMs = Date.now() - beforeMs;
  const { startedMs = 0, durationMs = -1 } = exchanges[0] ?? {};
  expect([startedMs >= beforeMs, durationMs >= 0, startedMs + durationMs <= beforeMs + tookMs]).toEqual([true, true, true]);
});

test("a port in use is reported at once", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => {
    taken.close();
  });
  const { port } = taken.address() as AddressInfo;
  expect(() => recordingProxy({ host: "127.0.0.1", port, pages, upstream: new URL("http://127.0.0.1:1"), note: () => {} })).toThrow(
    expect.objectContaining({ code: "EADDRINUSE" }),
  );
});

test("a request for another host, or of another site's page, is refused and not passed on; allowed ones are", async () => {
  const asked: string[] = [];
  const at = await served(({ url }) => {
    asked.push(url);
    return new Response("own");
  });
  for (const [headers, status] of [
    [{ host: "elsewhere.example" }, 403],
    [{ origin: "https://elsewhere.example" }, 403],
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ host: "localhost" }, 200],
    [{ host: "proxy.example", origin: "https://app.example" }, 200],
  ] as const) {
    const response = await fetch(at.url, { headers });
    expect({ headers, status: response.status }).toEqual({ headers, status });
    expect(await response.text()).toContain(status === 403 ? "--allow-host" : "own");
  }
  expect(asked).toHaveLength(2);
});

test("repeated headers, cookies and statuses without a body reach the client as the server sent them", async () => {
  const at = await served(({ method }) => {
    const headers = new Headers({ "access-control-allow-origin": "*" });
    for (const cookie of ["a=1; Path=/", "b=2"]) headers.append("set-cookie", cookie);
    for (const value of ["1", "2"]) headers.append("x-own", value);
    return method === "DELETE" ? new Response(null, { status: 204, headers }) : new Response(method === "HEAD" ? null : "text", { headers });
  });
  for (const [method, status, text] of [
    ["GET", 200, "text"],
    ["HEAD", 200, ""],
    ["DELETE", 204, ""],
  ] as const) {
    const response = await fetch(at.url, { method });
    expect({ method, status: response.status, text: await response.text() }).toEqual({ method, status, text });
    expect(response.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2"]);
    expect([response.headers.get("x-own"), response.headers.get("access-control-allow-origin")]).toEqual(["1, 2", "*"]);
  }
});

/** Opens a server that responds with `respond`, and a proxy in front of that server. Returns the proxy's address. */
async function served(respond: (request: Request) => Response) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond });
  const proxy = proxyOf(`http://127.0.0.1:${server.port}`, []);
  afterThisTest(async () => {
    await proxy.stop(0);
    await server.stop(true);
  });
  return { url: `http://127.0.0.1:${proxy.port}/` };
}
