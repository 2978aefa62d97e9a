import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { afterThisTest } from "#harness/cleanup";
import { clientOf, get, serve, serveBytes, textOf } from "#harness/outbound";
import { stopMonotonicClock } from "#harness/time/stopped-time";
import { type CallbackRules, isKnownServicePort } from "./address-rules.ts";
import { Names, systemNames } from "./client.ts";
import { RequestFailed } from "./request.ts";

const sandbox: CallbackRules = { isSandbox: true, allowed: [] };
const outside: CallbackRules = { isSandbox: false, allowed: [] };

describe("allowed requests", () => {
  test("a POST arrives with its headers and body, byte for byte, and its response is returned", async () => {
    const seen: unknown[] = [];
    const port = serve(async (request) => {
      const { pathname, search } = new URL(request.url);
      seen.push({
        method: request.method,
        path: pathname + search,
        host: request.headers.get("host"),
        header: request.headers.get("x-a"),
        body: await request.text(),
      });
      return new Response("taken", { status: 202 });
    });
    const response = await clientOf({ rules: sandbox }).request({
      ...get(`http://127.0.0.1:${port}/hook?a=b%20c`),
      method: "POST",
      headers: { "Content-Type": "application/json", "X-A": "1" },
      body: '{"text":"\\u00e4"}',
    });
    expect({ ...response, body: textOf(response) }).toEqual({ status: 202, body: "taken", isCut: false });
    expect(seen).toEqual([{ method: "POST", path: "/hook?a=b%20c", host: `127.0.0.1:${port}`, header: "1", body: '{"text":"\\u00e4"}' }]);
  });

  test("a body of megabytes arrives completely", async () => {
    const port = serve(async (request) => new Response(String(Bun.hash(await request.arrayBuffer()))));
    const body = "0123456789abcdef".repeat(300_000);
    const response = await clientOf({ rules: sandbox }).request({ ...get(`http://127.0.0.1:${port}/`), method: "POST", body, deadlineMs: 10_000 });
    expect(textOf(response)).toBe(String(Bun.hash(new TextEncoder().encode(body).buffer)));
  });

  test("connections are reused, and several requests at once each have their own", async () => {
    const ports = new Set<number>();
    const port = serve(async (request, server) => {
      ports.add(server.requestIP(request)?.port ?? 0);
      await Bun.sleep(5);
      return new Response("ok");
    });
    const client = clientOf({ rules: sandbox });
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 4 }, () => client.request(get(`http://127.0.0.1:${port}/`))));
    expect(ports.size).toBe(4);
  });

  test("if a receiver closed a waiting connection, a new one is used", async () => {
    const port = await serveBytes(() => ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"], "close");
    const client = clientOf({ rules: sandbox });
    for (let request = 0; request < 5; request++) expect(textOf(await client.request(get(`http://127.0.0.1:${port}/`)))).toBe("ok");
  });

  test("if a name's first address accepts no connection, the next one is called", async () => {
    const port = serve(() => new Response("second"));
    const client = clientOf({ rules: { isSandbox: true, allowed: ["receiver"] }, resolve: async () => ["127.0.0.9", "127.0.0.1"] });
    expect(textOf(await client.request(get(`http://receiver:${port}/`)))).toBe("second");
  });

  test("a request that may have arrived at one address is not sent to the next one", async () => {
    let count = 0;
    const port = serve(() => {
      count++;
      return new Response("second");
    });
    const first = Bun.listen({ hostname: "127.0.0.9", port, socket: { data: (socket) => void socket.end() } });
    afterThisTest(() => first.stop(true));
    const client = clientOf({ rules: { isSandbox: true, allowed: ["receiver"] }, resolve: async () => ["127.0.0.9", "127.0.0.1"] });
    await expect(client.request(get(`http://receiver:${port}/`))).rejects.toBeInstanceOf(RequestFailed);
    expect(count).toBe(0);
  });

  test("of a name with many unreachable addresses the fourth is tried, and not the fifth", async () => {
    const port = serve(() => new Response("here"));
    const tried = (closed: number) => {
      const addresses = [...Array.from({ length: closed }, (_, at) => `127.0.0.${10 + at}`), "127.0.0.1"];
      return clientOf({ rules: { isSandbox: true, allowed: ["receiver"] }, resolve: async () => addresses }).request(get(`http://receiver:${port}/`));
    };
    expect(textOf(await tried(3))).toBe("here");
    await expect(tried(4)).rejects.toMatchObject({ kind: "connect" });
  });

  test("a refused connection is named as such, even before TLS", async () => {
    const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const { port } = listener;
    listener.stop(true);
    for (const scheme of ["http", "https"]) {
      const refused = clientOf({ rules: sandbox }).request(get(`${scheme}://127.0.0.1:${port}/`));
      await expect(refused).rejects.toMatchObject({ kind: "connect", message: "the connection was refused" });
    }
  });
});

describe("D-64: names that resolve to internal addresses", () => {
  test.each([
    [["10.0.0.5"]],
    [["93.184.216.34", "127.0.0.1"]],
    [["::ffff:10.0.0.5"]],
    [["fe80::1"]],
    [["169.254.169.254"]],
    [["not an address"]],
    [["64:ff9b::a00:5", "2606:2800:220:1::1"]],
  ])("a name that leads to %j is refused", async (addresses) => {
    const client = clientOf({ rules: outside, resolve: async () => addresses });
    // The error message does not tell to which address the name resolves in the server's network.
    const message = "hooks.example.com leads to an address that may not be called; --allow-callback hooks.example.com allows it";
    await expect(client.request(get("https://hooks.example.com/"))).rejects.toMatchObject({ name: "CallbackRefused", message });
  });

  test("a name that is public when checked and local when connected to is never resolved a second time", async () => {
    let hits = 0;
    const port = serve(() => {
      hits++;
      return new Response("inside");
    });
    let asked = 0;
    const client = clientOf({
      rules: outside,
      // The test uses a public address at which nothing responds, because Plaza would refuse an address of TEST-NET as reserved.
      resolve: async () => (asked++ === 0 ? ["93.184.216.34"] : ["127.0.0.1"]),
    });
    const requests = [1, 2, 3].map(() =>
      client.request(get(`https://rebinding.example.com:${port}/`, { deadlineMs: 150 })).catch((error) => error.name),
    );
    expect(await Promise.all(requests)).toEqual(["RequestFailed", "RequestFailed", "RequestFailed"]);
    expect({ asked, hits }).toEqual({ asked: 1, hits: 0 });
  });

  test("a name without an address fails, and is asked again the next time", async () => {
    let asked = 0;
    const client = clientOf({
      rules: outside,
      resolve: async () => {
        asked++;
        throw new Error("ENOTFOUND");
      },
    });
    for (let request = 0; request < 2; request++)
      expect(await client.request(get("https://nowhere.example.com/")).catch((error) => error.kind)).toBe("dns");
    expect(asked).toBe(2);
  });
});

describe("responses", () => {
  test("redirects are ordinary responses: they are not followed", async () => {
    let inside = 0;
    const target = serve(() => {
      inside++;
      return new Response("inside");
    });
    const port = serve(() => new Response(null, { status: 302, headers: { location: `http://127.0.0.1:${target}/` } }));
    expect((await clientOf({ rules: sandbox }).request(get(`http://127.0.0.1:${port}/`))).status).toBe(302);
    expect(inside).toBe(0);
  });

  test("at most the requested bytes of a response are read, however long it is", async () => {
    const port = serve(() => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(10_000).fill(97)) })));
    const response = await clientOf({ rules: sandbox }).request(get(`http://127.0.0.1:${port}/`, { responseBytesMax: 25_000 }));
    expect({ length: response.body.length, isCut: response.isCut }).toEqual({ length: 25_000, isCut: true });
  });

  test("a compressed response is returned as it was sent", async () => {
    const bomb = Bun.gzipSync(new Uint8Array(5_000_000));
    const port = serve(() => new Response(bomb, { headers: { "content-encoding": "gzip" } }));
    expect((await clientOf({ rules: sandbox }).request(get(`http://127.0.0.1:${port}/`))).body.length).toBe(bomb.length);
  });

  test.each([
    ["never responds", []],
    ["stops in its headers", ["HTTP/1.1 200 OK\r\ncontent-le"]],
    ["stops in its body", ["HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345"]],
    ["sends a byte now and then", Array.from({ length: 400 }, (_, at) => (at === 0 ? "HTTP/1.1 200 OK\r\nx-a: " : "a"))],
  ])("one that %s ends at the deadline", async (_what, parts) => {
    const port = await serveBytes(() => parts);
    const startMs = performance.now();
    const failure = await clientOf({ rules: sandbox })
      .request(get(`http://127.0.0.1:${port}/`, { deadlineMs: 150 }))
      .catch((error) => error);
    expect(failure).toMatchObject({ name: "RequestFailed", kind: "timeout" });
    // The test allows a delay for a busy machine; if the client used a deadline of 2 s instead of the given one, the error would come much later.
    expect(performance.now() - startMs).toBeWithin(140, 1_500);
  });

  test("if only the status is needed, a body that does not arrive in time does not matter", async () => {
    const port = await serveBytes(() => ["HTTP/1.1 202 Accepted\r\ncontent-length: 10\r\n\r\n12345"]);
    const response = await clientOf({ rules: sandbox }).request(get(`http://127.0.0.1:${port}/`, { deadlineMs: 100, isStatusEnough: true }));
    expect({ ...response, body: textOf(response) }).toEqual({ status: 202, body: "12345", isCut: true });
  });

  test.each([
    ["content-length", ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", "lo"]],
    [
      "chunks, in pieces",
      ["HTTP/1.1 200 OK\r\nTransfer-", "Encoding: chunked\r\n\r\n2\r", "\nhe\r\n3;x=y\r\nl", "lo\r\n0\r\nTrailer: a\r\n", "\r\n"],
    ],
    ["an interim response before it", ["HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"]],
  ])("%s: the body is read completely and the connection reused", async (_what, parts) => {
    let connections = 0;
    const port = await serveBytes((request) => {
      if (request.startsWith("GET /1")) connections++;
      return parts;
    });
    const client = clientOf({ rules: sandbox });
    for (let request = 1; request <= 2; request++) expect(textOf(await client.request(get(`http://127.0.0.1:${port}/${request}`)))).toBe("hello");
    expect(connections).toBe(1);
  });

  test("a body without a length ends with the connection", async () => {
    const port = await serveBytes(() => ["HTTP/1.0 200 OK\r\n\r\nhel", "lo"], "close");
    expect(textOf(await clientOf({ rules: sandbox }).request(get(`http://127.0.0.1:${port}/`)))).toBe("hello");
  });

  test.each([
    ["no status line", "hello\r\n\r\n"],
    ["a status that is none", "HTTP/1.1 999 No\r\ncontent-length: 0\r\n\r\n"],
    ["HTTP/2", "HTTP/2 200\r\ncontent-length: 0\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na"],
    ["a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\na"],
    ["length and chunks", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["an unknown coding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nabc"],
    ["a folded header", "HTTP/1.1 200 OK\r\na: b\r\n c\r\ncontent-length: 0\r\n\r\n"],
    ["a wrong chunk size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
    ["a chunk that is longer than it said", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n"],
    ["a chunk extension with a blank", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;a b\r\nx\r\n0\r\n\r\n"],
    ["a trailer that is no header", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nno colon\r\n\r\n"],
    ["another protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["headers without end", `HTTP/1.1 200 OK\r\na: ${"b".repeat(40_000)}`],
    ["an end in the middle", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"],
  ])("%s is not a response", async (_what, bytes) => {
    const port = await serveBytes(() => [bytes], "close");
    const failure = await clientOf({ rules: sandbox })
      .request(get(`http://127.0.0.1:${port}/`))
      .catch((error) => error);
    expect(failure).toMatchObject({ name: "RequestFailed", kind: "malformed" });
  });

  test.each([
    ["trailers", "a:\r\n".repeat(3_000)],
    ["a trailer", `a: ${"b".repeat(10_000)}`],
    ["a chunk extension", `1;a=${"b".repeat(10_000)}`],
  ])("%s without end: the response is given up long before its deadline, while the connection stays open", async (_what, bytes) => {
    const port = await serveBytes(() => ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", bytes.startsWith("1;") ? bytes : `0\r\n${bytes}`]);
    const failure = await clientOf({ rules: sandbox })
      .request(get(`http://127.0.0.1:${port}/`, { deadlineMs: 60_000 }))
      .catch((error) => error);
    expect(failure).toMatchObject({ name: "RequestFailed", kind: "malformed" });
  });

  test("bytes without a request are not taken for the response to the next one", async () => {
    let close = (): void => {};
    const closed = new Promise<void>((resolve) => (close = resolve));
    const server = createServer((socket) => {
      socket.once("close", close);
      socket.on("error", () => {});
      socket.on("data", (data) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n${data.toString("latin1").slice(5, 7)}`);
        setTimeout(() => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nxx"), 1);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterThisTest(() => server.close());
    const { port } = server.address() as { port: number };
    const client = clientOf({ rules: sandbox });
    expect(textOf(await client.request(get(`http://127.0.0.1:${port}/aa`)))).toBe("aa");
    await closed;
    expect(textOf(await client.request(get(`http://127.0.0.1:${port}/bb`)))).toBe("bb");
  });

  test("for a name without a listener the message has no address", async () => {
    const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") });
    const { port } = gone;
    await gone.stop(true);
    const client = clientOf({ rules: { isSandbox: true, allowed: ["receiver"] }, resolve: async () => ["127.0.0.9", "127.0.0.1"] });
    const failure = await client.request(get(`http://receiver:${port}/`)).catch((error) => error);
    expect(failure).toMatchObject({ name: "RequestFailed", kind: "connect" });
    expect(failure.message).not.toContain("127.0.0");
  });

  test("nobody there", async () => {
    const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") });
    const { port } = gone;
    await gone.stop(true);
    const failure = await clientOf({ rules: sandbox })
      .request(get(`http://127.0.0.1:${port}/`))
      .catch((error) => error);
    expect(failure).toMatchObject({ name: "RequestFailed", kind: "connect" });
  });
});

test("a name is resolved once for all concurrent requests, and each name separately", async () => {
  const asked: string[] = [];
  const names = new Names(async (name) => {
    asked.push(name);
    return [`address of ${name}`];
  });
  expect(await Promise.all(["a", "a", "b"].map((name) => names.addressesOf(name)))).toEqual([["address of a"], ["address of a"], ["address of b"]]);
  expect(asked).toEqual(["a", "b"]);
});

test("the system knows the addresses of this machine's own name", async () => {
  const addresses = await systemNames("localhost");
  expect(addresses.length).toBeGreaterThan(0);
  expect(addresses.filter((address) => address !== "127.0.0.1" && address !== "::1")).toEqual([]);
});

test("a name without an address, or that cannot be resolved, is resolved again by the next request", async () => {
  const results: (readonly string[] | Error)[] = [new Error("no network"), [], ["192.0.2.1"]];
  const names = new Names(async () => {
    const result = results.shift() ?? [];
    if (result instanceof Error) throw result;
    return result;
  });
  for (let i = 0; i < 2; i++) await expect(names.addressesOf("a")).rejects.toMatchObject({ kind: "dns", message: "a has no address" });
  expect(await names.addressesOf("a")).toEqual(["192.0.2.1"]);
  expect(await names.addressesOf("a")).toEqual(["192.0.2.1"]);
});

test("the Fetch standard's bad ports and those of internal services are refused, and no others", () => {
  const bad = [
    [1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123],
    [135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995],
    [1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
  ].flat();
  const inner = [
    [445, 873, 1433, 1521, 1883, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5671, 5672, 5900, 5984, 5985, 5986],
    [6379, 6443, 7000, 8086, 8500, 9042, 9092, 9200, 9300, 10250, 11211, 27017, 50000],
  ].flat();
  const known = Array.from({ length: 65_536 }, (_, port) => port).filter(isKnownServicePort);
  expect(known).toEqual([...bad, ...inner].toSorted((one, other) => one - other));
});

test("ports of other services are known, from the browsers' list and of internal networks", () => {
  const known = [1, 22, 25, 10080, 445, 2375, 5432, 6379, 9200, 11211, 50_000];
  expect(known.filter((port) => !isKnownServicePort(port))).toEqual([]);
  expect([80, 443, 3000, 8000, 8080, 8443, 2, 24, 49_999].filter(isKnownServicePort)).toEqual([]);
});

test("a resolution is cached for five seconds, and a late failure does not replace a newer one", async () => {
  const clock = stopMonotonicClock(1_000);
  const asked: PromiseWithResolvers<readonly string[]>[] = [];
  const names = new Names(() => {
    const one = Promise.withResolvers<readonly string[]>();
    asked.push(one);
    return one.promise;
  });
  const first = names.addressesOf("a");
  clock.ms += 4_999.5;
  expect(names.addressesOf("a")).toBe(first);
  clock.ms += 0.5;
  const second = names.addressesOf("a");
  expect(asked).toHaveLength(2);
  asked[0]?.reject(new Error("no such name"));
  await expect(first).rejects.toMatchObject({ kind: "dns", message: "a has no address" });
  expect(names.addressesOf("a")).toBe(second);
  asked[1]?.resolve(["192.0.2.1"]);
  expect(await second).toEqual(["192.0.2.1"]);
  expect(asked).toHaveLength(2);
});
