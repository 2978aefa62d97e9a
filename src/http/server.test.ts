import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { GraphResponse } from "#graph/pipeline/request";
import { type Echo, type EchoGraph, echo, echoWorld, openDirectory, serveEcho } from "#harness/echo-graph";
import { exchange } from "#harness/http/raw-http";
import { databaseUnreachable } from "#kernel/errors";
import type { RouteHandler } from "./routes/extra-routes.ts";

describe("the listener", () => {
  let graph: EchoGraph;
  beforeAll(async () => {
    graph = await serveEcho();
  });
  afterAll(() => graph.stop(0));

  const ask = async (text: string, port = graph.port) => {
    const { responses } = await exchange(port, [text]);
    const response = responses[0];
    if (response === undefined) throw new Error("there was no response");
    return response;
  };
  const seen = async (text: string, port = graph.port): Promise<Echo> => {
    const response = await ask(text, port);
    expect(response.status).toBe(200);
    return JSON.parse(response.body);
  };
  const get = (path: string, headers = "Host: graph.test\r\n"): string => `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
  const withBody = (method: string, path: string, type: string, body: string): string =>
    `${method} ${path} HTTP/1.1\r\nHost: graph.test\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  describe("D-01: addresses", () => {
    test("a request carries its surface, world and address", async () => {
      expect(await seen(get("//ads/v25.0/8001?fields=id&x=%C3%BC", "Host: Graph.test:81\r\nAuthorization: Bearer t\r\n"))).toEqual({
        world: "default",
        surface: "ads",
        method: "GET",
        path: "/v25.0/8001",
        queryText: "fields=id&x=%C3%BC",
        query: { fields: "id", x: "ü" },
        body: {},
        files: {},
        baseUrl: "http://Graph.test:81/ads",
        authorization: "Bearer t",
      });
      expect(await seen(get("/w/t1/app/me"))).toMatchObject({ world: "t1", surface: "app", path: "/me", baseUrl: "http://graph.test/w/t1/app" });
      expect(await seen(get("http://other.test/v26.0/1"))).toMatchObject({ path: "/v26.0/1", baseUrl: "http://other.test" });
    });

    test("the Host header selects a surface that has one; a trusted proxy may forward it", async () => {
      const own = await serveEcho({
        surfaces: [
          { name: "base", mount: "" },
          { name: "ads", mount: "", hostname: "ads.test" },
        ],
        trustedProxies: ["127.0.0.0/8"],
      });
      expect(await seen(get("/v25.0/8001", "Host: ads.test:1\r\n"), own.port)).toMatchObject({ surface: "ads", baseUrl: "http://ads.test:1" });
      const forwarded = "Host: inner\r\nX-Forwarded-Host: ads.test\r\nX-Forwarded-Proto: https\r\n";
      expect(await seen(get("/v25.0/8001", forwarded), own.port)).toMatchObject({ surface: "ads", baseUrl: "https://ads.test" });
      await own.stop(0);
      expect(await seen(get("/v25.0/8001", forwarded))).toMatchObject({ surface: "base", baseUrl: "http://inner" });
    });

    test("with a public address, links begin with it, whatever Host or a proxy says", async () => {
      const own = await serveEcho({
        surfaces: [
          { name: "base", mount: "" },
          { name: "app", mount: "/app" },
          { name: "ads", mount: "", hostname: "ads.test" },
        ],
        trustedProxies: ["127.0.0.0/8"],
        publicUrl: "https://graph.test/plaza",
      });
      const forwarded = "Host: inner\r\nX-Forwarded-Host: evil.test\r\nX-Forwarded-Proto: http\r\n";
      expect(await seen(get("/app/v25.0/1", forwarded), own.port)).toMatchObject({ surface: "app", baseUrl: "https://graph.test/plaza/app" });
      expect(await seen(get("/w/t1/v25.0/1", forwarded), own.port)).toMatchObject({ world: "t1", baseUrl: "https://graph.test/plaza/w/t1" });
      expect(await seen(get("/v25.0/1", "Host: ads.test:81\r\n"), own.port)).toMatchObject({ surface: "ads", baseUrl: "https://ads.test" });
      await own.stop(0);
    });

    test("HTTP/1.1 without a Host, or with a malformed one, is refused; HTTP/1.0 without one is for the listening address", async () => {
      for (const headers of ["", "Host:\r\n", "Host: a b\r\n", "Host: a/../b\r\n", "Host: a\r\nHost: a\r\n"])
        expect(await ask(get("/1", headers))).toMatchObject({ status: 400, body: expect.stringContaining("the Host header is missing, malformed") });
      expect((await seen("GET /1 HTTP/1.0\r\n\r\n")).baseUrl).toBe(`http://127.0.0.1:${graph.port}`);
    });
  });

  describe("D-34: bodies", () => {
    test.each(["GET", "DELETE", "POST"])("a %s has a body of every kind", async (method) => {
      expect(await seen(withBody(method, "/1", "application/json", '{"a":[1]}'))).toMatchObject({ method, body: { a: [1] } });
      expect(await seen(withBody(method, "/1", "application/x-www-form-urlencoded", "a[b]=c+d"))).toMatchObject({ body: { a: { b: "c d" } } });
      const multipart =
        '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--X\r\nContent-Disposition: form-data; name="f"; filename="x.csv"\r\n\r\nabc\r\n--X--\r\n';
      expect(await seen(withBody(method, "/1", "multipart/form-data; boundary=X", multipart))).toMatchObject({
        body: { a: "1" },
        files: { f: { filename: "x.csv", size: 3 } },
      });
      const chunked = `${method} /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na=1&\r\n3\r\nb=2\r\n0\r\n\r\n`;
      expect(await seen(chunked)).toMatchObject({ body: { a: "1", b: "2" } });
    });

    test("two requests in one packet have their responses in the same order", async () => {
      const { responses } = await exchange(graph.port, [withBody("POST", "/1", "application/json", '{"a":1}') + get("/2")], { responses: 2 });
      expect(responses.map(({ body }) => JSON.parse(body).path)).toEqual(["/1", "/2"]);
    });

    test("an error of the body has the error form of the request", async () => {
      const flat = await ask(withBody("POST", "/v26.0/1/personas", "application/json", "{"));
      expect(flat.status).toBe(400);
      expect(JSON.parse(flat.body)).toMatchObject({ code: 100, message: "(#100) The request body is not valid JSON", pftrace_id: "Aecho0000000" });
      expect((await ask(get("/1?a=%zz"))).body).toContain("Param a is not percent-encoded UTF-8");
    });

    test("a client that waits for 100 Continue receives it", async () => {
      const { text } = await exchange(graph.port, ["POST /1 HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", "a=1"], {
        awaits: "100 Continue",
      });
      expect(text).toStartWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n");
      const other = "POST /1 HTTP/1.1\r\nHost: h\r\nExpect: a-miracle\r\nContent-Length: 3\r\n\r\na=1";
      expect((await seen(other)).body).toEqual({ a: "1" });
    });
  });

  describe("D-04: methods", () => {
    test("HEAD is GET without a body", async () => {
      const { responses, text } = await exchange(graph.port, ["HEAD /1?a=b HTTP/1.1\r\nHost: graph.test\r\n\r\n"], { isHead: true });
      const got = await ask(get("/1?a=b"));
      expect(text.endsWith("\r\n\r\n")).toBe(true);
      // The response to HEAD states one byte more than the response to GET, because the test's body repeats the name of the method.
      expect(Number(responses[0]?.headers["content-length"])).toBe(got.body.length + 1);
      expect(responses[0]?.headers["content-type"]).toBe("application/json; charset=UTF-8");
    });

    test("OPTIONS returns the CORS headers, on every address", async () => {
      for (const path of ["/v26.0/1/personas", "/app/1", "/none/of/this/exists/here"]) {
        const { status, headers, body } = await ask(
          `OPTIONS ${path} HTTP/1.1\r\nHost: h\r\nOrigin: https://a.test\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
        );
        expect({ status, body, length: headers["content-length"] }).toEqual({ status: 204, body: "", length: undefined });
        expect(headers["access-control-allow-origin"]).toBe("*");
        expect(headers["access-control-allow-methods"]).toBe("GET, POST, DELETE, HEAD, OPTIONS");
        for (const name of ["Authorization", "Content-Type", "X-API-Version", "If-None-Match"])
          expect(headers["access-control-allow-headers"]).toContain(name);
        expect(headers["x-pf-trace-id"]).toBe("Aecho0000000");
        expect(headers["pf-api-version"]).toBe(path.startsWith("/app") ? "1.0.0" : "v26.0");
      }
    });

    test("a preflight allows the headers that the request names, within bounds", async () => {
      const usual = "Authorization, Content-Type, X-API-Version, If-None-Match, X-Forwarded-For";
      const allowed = async (named: string) =>
        (await ask(`OPTIONS /1 HTTP/1.1\r\nHost: h\r\nOrigin: https://a.test\r\nAccess-Control-Request-Headers: ${named}\r\n\r\n`)).headers[
          "access-control-allow-headers"
        ];
      expect(await allowed("x-sdk-version,content-type, x-requested-with")).toBe(`${usual}, x-sdk-version, x-requested-with`);
      const many = Array.from({ length: 32 }, (_, n) => `x-${n}`).join(",");
      expect(await allowed(many)).toBe(`${usual}, ${many.replaceAll(",", ", ")}`);
      for (const named of ["", ",", "a b", "a:b", "ä", `${many},x`, "x".repeat(65)])
        expect({ named, allowed: await allowed(named) }).toEqual({ named, allowed: usual });
    });

    test("every response may be read by a page of another origin", async () => {
      for (const text of [get("/1"), get("/1?a=%zz"), "BREW /1 HTTP/1.1\r\nHost: h\r\n\r\n"]) {
        const { headers } = await ask(text);
        expect(headers["access-control-allow-origin"]).toBe("*");
        expect(headers["access-control-expose-headers"]).toContain("x-pf-trace-id");
      }
    });

    test("other methods of HTTP reach the pipeline", async () => {
      for (const method of ["PUT", "PATCH", "TRACE", "PROPFIND"])
        expect((await seen(`${method} /1 HTTP/1.1\r\nHost: h\r\n\r\n`)).method).toBe(method);
    });
  });

  test("304 and 204 have neither a body nor a length", async () => {
    const own = await serveEcho({
      handleRequest: async (_deps, world, request) => ({ ...(await echo(world, request)), status: 304 }) as GraphResponse,
    });
    const { status, body, headers } = await ask(get("/1"), own.port);
    expect({ status, body }).toEqual({ status: 304, body: "" });
    expect(Object.keys(headers)).not.toContain("content-length");
    expect(Object.keys(headers)).not.toContain("transfer-encoding");
    await own.stop(0);
  });

  test("an error thrown by the pipeline or by a route is a 500 with only a trace id", async () => {
    const mistake = new Error("secret");
    const fail = () => {
      throw mistake;
    };
    const own = await serveEcho({ handleRequest: async () => fail(), extraRoutes: new Map([["/openapi.json", fail]]) });
    for (const path of ["/1", "/openapi.json"]) {
      const { status, body } = await ask(get(path), own.port);
      expect(status).toBe(500);
      expect(body).not.toContain("secret");
      expect(JSON.parse(body).error).toMatchObject({ code: 1, pftrace_id: "Aecho0000000" });
    }
    expect(own.unexpected).toEqual([mistake, mistake]);
    await own.stop(0);
  });

  test("an error of the catalogue that a route throws is its response, and is not logged as a mistake", async () => {
    const own = await serveEcho({ extraRoutes: new Map([["/openapi.json", () => Promise.reject(databaseUnreachable())]]) });
    const { status, body } = await ask(get("/openapi.json"), own.port);
    expect({ status, error: JSON.parse(body).error }).toMatchObject({ status: 503, error: { code: 2, is_transient: true } });
    expect(own.unexpected).toEqual([]);
    await own.stop(0);
  });

  test("routes beside the graph: by path or prefix, and only on the base surface", async () => {
    const own = await serveEcho({
      extraRoutes: new Map<string, RouteHandler>([
        [
          "/openapi.json",
          (request, { baseUrl, world }) => Response.json({ url: request.url, baseUrl, world: world.name, accept: request.headers.get("accept") }),
        ],
        ["/player/", async (request) => new Response(`player ${new URL(request.url).pathname}`, { status: 206, headers: { "x-own": "1" } })],
      ]),
    });
    const url = `http://127.0.0.1:${own.port}`;
    expect(await (await fetch(`${url}/openapi.json?type=label`, { headers: { accept: "x/y" } })).json()).toEqual({
      url: `${url}/openapi.json?type=label`,
      baseUrl: url,
      world: "default",
      accept: "x/y",
    });
    expect(await (await fetch(`${url}/w/t1/openapi.json`)).json()).toMatchObject({ world: "t1", baseUrl: `${url}/w/t1` });
    const player = await fetch(`${url}/player/5301/x.ts`);
    expect({ status: player.status, body: await player.text() }).toEqual({ status: 206, body: "player /player/5301/x.ts" });
    expect(Object.fromEntries(player.headers)).toMatchObject({ "x-own": "1", "access-control-allow-origin": "*" });
    const head = await fetch(`${url}/player/5301`, { method: "HEAD" });
    expect({ status: head.status, body: await head.text() }).toEqual({ status: 206, body: "" });
    for (const other of ["/app/openapi.json", "/openapi.jsonx", "/player"])
      expect(await (await fetch(url + other)).json()).toMatchObject({ method: "GET" });
    expect(await (await fetch(`${url}/openapi.json`, { method: "POST" })).json()).toMatchObject({ method: "POST" });
    for (const [path, allow] of [
      ["/openapi.json", "GET, HEAD, OPTIONS"],
      ["/w/t1/player/5301/x.ts", "GET, HEAD, OPTIONS"],
      ["/app/openapi.json", "OPTIONS"],
    ] as const)
      expect({ path, allow: (await fetch(url + path, { method: "OPTIONS" })).headers.get("allow") }).toEqual({ path, allow });
    await own.stop(0);
  });

  test("the body of a route's response is streamed completely, in chunks or to the end of the connection", async () => {
    const part = "0123456789abcdef".repeat(4_096);
    const stream = () =>
      new ReadableStream<Uint8Array>({
        async start(controller) {
          for (let i = 0; i < 100; i++) {
            await Promise.resolve();
            controller.enqueue(Buffer.from(part));
          }
          controller.close();
        },
      });
    const own = await serveEcho({ extraRoutes: new Map<string, RouteHandler>([["/stream", () => new Response(stream())]]) });
    const url = `http://127.0.0.1:${own.port}/stream`;
    const bodies = await Promise.all([fetch(url), fetch(url)].map(async (response) => (await response).text()));
    expect(bodies.map((body) => body === part.repeat(100))).toEqual([true, true]);
    const { text, isClosedByServer } = await exchange(own.port, ["GET /stream HTTP/1.0\r\n\r\n"], { responses: 2 });
    expect(text.slice(text.indexOf("\r\n\r\n") + 4) === part.repeat(100)).toBe(true);
    expect(isClosedByServer).toBe(true);
    expect(text.toLowerCase()).not.toContain("transfer-encoding");
    await own.stop(0);
  });

  test("each request is logged in its world and counted", async () => {
    const world = echoWorld("logged");
    const own = await serveEcho({ worlds: openDirectory(world, async () => ({ world, leave: () => {} })) });
    await ask(
      withBody("POST", "/app/1001/activities?event=X&access_token=secret", "application/json", '{"a":"ü"}'.replace("ü", "\xc3\xbc")),
      own.port,
    );
    await ask(get("/1?a=%zz"), own.port);
    const [latest, first] = world.requests.entries();
    expect(first).toMatchObject({
      trace_id: "Aecho0000000",
      operation: "echo",
      method: "POST",
      surface: "app",
      path: "/1001/activities",
      query: "event=X&access_token=…",
      status: 200,
      time: 1_795_000_000_000,
      request_body: '{"a":"ü"}',
    });
    expect(first?.duration_ms).toBeGreaterThan(0);
    expect(first?.response_body).toContain('"surface":"app"');
    expect(latest?.status).toBe(400);
    const metrics = own.metrics.operations().get("echo");
    expect(metrics).toMatchObject({ requests: 2, errors: 1 });
    expect(metrics?.byStatus).toEqual({ 200: 1, 400: 1 });
    expect(metrics?.durations.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(own.metrics.inFlight).toBe(0);
    await own.stop(0);
  });
});
