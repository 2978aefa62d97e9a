import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Owner, type Seen, turns } from "#harness/http/lone-connection";

const token = fc
  .stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/)
  .filter((name) => !/^(host|content-length|transfer-encoding|connection|expect)$/i.test(name));
const value = fc.stringMatching(/^[!-~\x80-\xff]([\t -~\x80-\xff]{0,20}[!-~\x80-\xff])?$/);
const bytes = fc.uint8Array({ maxLength: 60 }).map((data) => Buffer.from(data).toString("latin1"));

const chunked = (body: string, sizes: readonly number[]): string => {
  let text = "";
  let at = 0;
  for (const size of [...sizes, body.length]) {
    const part = body.slice(at, at + size);
    if (part === "") continue;
    text += `${part.length.toString(16)};x="y"\r\n${part}\r\n`;
    at += part.length;
  }
  return `${text}0\r\nX-Trailer: read over\r\n\r\n`;
};

/** Generates a random request together with its bytes. */
const request = fc
  .record({
    method: fc.constantFrom("GET", "POST", "DELETE", "M-SEARCH"),
    target: fc.stringMatching(/^\/[!-~]{0,30}$/),
    headers: fc.array(fc.tuple(token, value), { maxLength: 4 }),
    body: fc.option(bytes, { nil: undefined }),
    sizes: fc.option(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 4 }), { nil: undefined }),
    emptyLine: fc.constantFrom("", "\r\n"),
  })
  .map(({ method, target, headers, body, sizes, emptyLine }) => {
    const framing: [string, string][] =
      body === undefined ? [] : sizes === undefined ? [["Content-Length", String(body.length)]] : [["transfer-encoding", "Chunked"]];
    const all = [...headers, ...framing];
    const lines = all.map(([name, text]) => `${name}: \t${text} \r\n`).join("");
    const data = body === undefined ? "" : sizes === undefined ? body : chunked(body, sizes);
    const seen: Seen = { method, target, headers: ["Host", "h", ...all.flat()], body: body ?? "" };
    return { seen, text: `${emptyLine}${method} ${target} HTTP/1.1\r\nHost: h\r\n${lines}\r\n${data}` };
  });

const pieces = (text: string, cuts: readonly number[]): string[] => {
  const cutPoints = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...cutPoints].map((start, index) => text.slice(start, cutPoints[index] ?? text.length)).filter((piece) => piece !== "");
};

test("a held-back connection has waited since it was held back, not since its request arrived", async () => {
  const owner = new Owner({ isLate: true });
  await owner.send("GET / HTTP/1.1\r\nHost: h\r\n");
  owner.timeMs = 7;
  owner.connection.holdBack();
  expect(owner.connection.waitsSinceMs).toBe(7);
});

describe("requests are the same at any cut of their bytes", () => {
  test("several requests in a row, cut anywhere, with responses at once or later", async () => {
    const cuts = fc.array(fc.nat({ max: 2_000 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 4 }), cuts, fc.boolean(), async (requests, places, isLate) => {
        const owner = new Owner({ isLate });
        await owner.send(...pieces(requests.map(({ text }) => text).join(""), places));
        await turns(30);
        expect(owner.seen).toEqual(requests.map(({ seen }) => seen));
        const { refused, responses, line } = owner;
        expect({ refused, responses, events: line.events }).toEqual({ refused: [], responses: "!".repeat(requests.length), events: [] });
      }),
      { numRuns: 1_500 },
    );
  });

  test("byte by byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), async (requests) => {
        const owner = new Owner();
        await owner.send(...requests.map(({ text }) => text).join(""));
        expect(owner.seen).toEqual(requests.map(({ seen }) => seen));
      }),
      { numRuns: 100 },
    );
  });

  test("a repeated head is a new request with its own body", async () => {
    const post = (target: string, body: string): string => `POST ${target} HTTP/1.1\r\nHost: h\r\nX: y\r\nContent-Length: 3\r\n\r\n${body}`;
    const owner = new Owner();
    await owner.send(post("/a", "one"), post("/a", "two"), post("/b", "six"), `${post("/a", "ten")}${post("/a", "one")}`);
    expect(owner.seen.map(({ target, body }) => `${target} ${body}`)).toEqual(["/a one", "/a two", "/b six", "/a ten", "/a one"]);
    await owner.send("POST /a HTTP/1.1\r\nHost: h\r\nX: y\r\nContent-Length: 3 4\r\n\r\n");
    expect(owner.seen.length).toBe(5);
    expect(owner.refused.length).toBe(1);
  });

  test("any bytes are a request, refused, or incomplete, and nothing is thrown", async () => {
    const noise = fc.array(
      fc.oneof(
        bytes,
        fc.constantFrom(
          "GET / HTTP/1.1\r\nHost: h\r\n",
          "\r\n",
          "\r\n\r\n",
          "Content-Length: 3\r\n",
          "Transfer-Encoding: chunked\r\n",
          "3\r\nabc\r\n",
        ),
      ),
      {
        maxLength: 12,
      },
    );
    await fc.assert(
      fc.asyncProperty(noise, async (parts) => {
        const owner = new Owner();
        await owner.send(...parts);
        expect(owner.refused.length).toBeLessThan(2);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("how long a connection is kept", () => {
  test.each([
    { text: "GET / HTTP/1.1\r\nHost: h\r\n\r\n", responses: "!" },
    { text: "GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n", responses: "last!" },
    { text: "GET / HTTP/1.1\r\nHost: h\r\nConnection: \xa0close\r\n\r\n", responses: "!" },
    { text: "GET / HTTP/1.0\r\n\r\n", responses: "last!" },
    { text: "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", responses: "!" },
    { text: "GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n", responses: "last!" },
  ])("%j", async ({ text, responses }) => {
    const owner = new Owner();
    await owner.send(text);
    expect(owner.responses).toBe(responses);
  });

  test("a response to HTTP/1.0 says that the connection is kept", async () => {
    const owner = new Owner();
    await owner.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    expect(owner.line.written).toContain("\r\nconnection: keep-alive\r\n");
  });

  test("a client that has ended its side still receives the responses to its complete requests", async () => {
    const owner = new Owner({ isLate: true });
    owner.connection.received(Buffer.from("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n"));
    owner.connection.peerEnded();
    await turns(20);
    expect(owner.seen.map(({ target }) => target)).toEqual(["/1", "/2"]);
    expect({ responses: owner.responses, events: owner.line.events }).toEqual({ responses: "!last!", events: ["end"] });
  });

  test("a truncated body aborts the connection", async () => {
    const owner = new Owner();
    await owner.send("POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab");
    owner.connection.peerEnded();
    owner.connection.closed();
    await turns(2);
    expect({ seen: owner.seen, events: owner.line.events }).toEqual({ seen: [], events: ["terminate"] });
  });

  test("a body that was truncated while another request was served aborts the connection, too", async () => {
    const owner = new Owner({ isLate: true });
    owner.connection.received(Buffer.from("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nPOST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab"));
    owner.connection.peerEnded();
    await turns(20);
    expect(owner.seen.map(({ target }) => target)).toEqual(["/1"]);
    expect(owner.line.events).toEqual(["terminate"]);
  });

  test("a client that does not read responses is not read either, and receives all of them later", async () => {
    const owner = new Owner();
    const one = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    await owner.send(one);
    const { line } = owner;
    line.capacity = 2 * line.written.length;
    await owner.send(one.repeat(9), one.repeat(5_000));
    expect({ seen: owner.seen.length, responses: owner.responses, events: line.events }).toEqual({ seen: 4, responses: "!!!", events: ["pause"] });
    line.capacity = Number.POSITIVE_INFINITY;
    owner.connection.drained();
    expect(owner.seen.length).toBe(5_010);
    expect({ responses: owner.responses.length, events: line.events }).toEqual({ responses: 5_010, events: ["pause", "resume"] });
  });

  test("requests that arrive while one is served fill a limited space", async () => {
    const owner = new Owner({ isLate: true });
    for (let i = 0; i < 20; i++) owner.connection.received(Buffer.from("GET / HTTP/1.1\r\nHost: h\r\n\r\n".repeat(1_000)));
    expect(owner.line.events[0]).toBe("pause");
    await turns(60_000);
    expect({ seen: owner.seen.length, events: owner.line.events }).toEqual({ seen: 20_000, events: ["pause", "resume"] });
  });
});

describe("a body that arrives late, when the next request is already there", () => {
  const post = "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab";
  const get = "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n";
  const requestsOf = ({ seen }: Owner): string[] => seen.map(({ target, body }) => `${target} ${body}`);

  test.each([
    { title: "with its length", parts: [post, `cd${get}`] },
    {
      title: "in chunks",
      parts: [post.replace("Content-Length: 4\r\n\r\nab", "Transfer-Encoding: chunked\r\n\r\n4\r\nab"), `cd\r\n0\r\n\r\n${get}`],
    },
  ])("$title: both are served, in order", async ({ parts }) => {
    const owner = new Owner();
    await owner.send(...parts);
    expect(requestsOf(owner)).toEqual(["/1 abcd", "/2 "]);
    expect({ responses: owner.responses, held: owner.heldBytes }).toEqual({ responses: "!!", held: 0 });
  });

  test("more of them than are read ahead wait, and none is lost", async () => {
    const owner = new Owner();
    await owner.send(post, `cd${get.repeat(3_000)}`);
    await turns(10);
    expect(owner.seen).toHaveLength(3_001);
    expect({ events: owner.line.events, held: owner.heldBytes }).toEqual({ events: ["pause", "resume"], held: 0 });
  });

  test("a client that ends its side after them receives both responses", async () => {
    const owner = new Owner();
    await owner.send(post);
    owner.connection.received(Buffer.from(`cd${get}`));
    owner.connection.peerEnded();
    await turns(10);
    expect(requestsOf(owner)).toEqual(["/1 abcd", "/2 "]);
    expect({ responses: owner.responses, events: owner.line.events }).toEqual({ responses: "!last!", events: ["end"] });
  });

  test("the beginning of the next head has its time from the end of the response", async () => {
    const owner = new Owner({ headMsMax: 1_000, keepAliveMs: 5_000 });
    await owner.send(post);
    owner.pass(900);
    await owner.send("cdGET / HT");
    owner.pass(900);
    expect({ responses: owner.responses, waitsFor: owner.connection.waitsFor }).toEqual({ responses: "!", waitsFor: "head" });
    owner.pass(101);
    expect(owner.refused).toEqual([{ kind: "head-too-slow", msMax: 1_000 }]);
  });
});

describe("time", () => {
  const limits = { headMsMax: 1_000, keepAliveMs: 5_000 };
  const get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

  test.each<{ title: string; parts: string[]; ms: number; events: string[]; responses: string }>([
    { title: "an unused connection whose time is just up", parts: [], ms: 1_000, events: [], responses: "" },
    { title: "a head whose time is just up", parts: ["GET / HT"], ms: 1_000, events: [], responses: "" },
    { title: "a connection between requests whose time is just up", parts: [get], ms: 5_000, events: [], responses: "!" },
    { title: "an unused connection", parts: [], ms: 1_001, events: ["end"], responses: "" },
    { title: "an unused connection that may still become one", parts: [], ms: 900, events: [], responses: "" },
    { title: "a head that does not end", parts: ["GET / HT"], ms: 1_001, events: ["shutdown"], responses: "refused!" },
    { title: "a head of which only an empty line has come", parts: ["\r\n"], ms: 1_001, events: ["shutdown"], responses: "refused!" },
    { title: "a connection between requests", parts: [get], ms: 1_001, events: [], responses: "!" },
    { title: "a connection between requests for too long", parts: [get], ms: 5_001, events: ["end"], responses: "!" },
    { title: "a second head that does not end", parts: [get, "GET"], ms: 1_001, events: ["shutdown"], responses: "!refused!" },
    { title: "a second head that began with the first", parts: [`${get}GET`], ms: 1_001, events: ["shutdown"], responses: "!refused!" },
  ])("$title", async ({ parts, ms, events, responses }) => {
    const owner = new Owner(limits);
    await owner.send(...parts);
    owner.pass(ms);
    expect({ events: owner.line.events, responses: owner.responses }).toEqual({ events, responses });
  });

  test("a head has one clock from its first byte, including a leading empty line", async () => {
    const owner = new Owner(limits);
    for (const part of ["\r\n", "GET", " / HTTP/1.1\r\n"]) {
      await owner.send(part);
      owner.pass(300);
    }
    expect(owner.responses).toBe("");
    await owner.send("Host: h\r\n");
    owner.pass(101);
    expect(owner.refused).toEqual([{ kind: "head-too-slow", msMax: 1_000 }]);
  });

  test("a head has its full time however long the connection has waited for it", async () => {
    for (const [before, ms] of Object.entries({ "": 900, [get]: 4_900 })) {
      const owner = new Owner(limits);
      if (before !== "") await owner.send(before);
      owner.pass(ms);
      await owner.send("GET");
      owner.pass(1_000);
      expect(owner.refused).toEqual([]);
      owner.pass(1);
      expect(owner.refused).toEqual([{ kind: "head-too-slow", msMax: 1_000 }]);
    }
  });

  test("a response that the client does not read", async () => {
    const owner = new Owner(limits);
    owner.line.capacity = 0;
    await owner.send("GET / HTTP/1.0\r\n\r\n");
    for (const capacity of [1, 0]) {
      owner.pass(4_900);
      expect(owner.line.events).toEqual([]);
      owner.line.capacity = capacity;
      owner.connection.drained();
    }
    owner.pass(200);
    expect(owner.line.events).toEqual(["terminate"]);
  });
});
