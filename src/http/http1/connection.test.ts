import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Owner, type Seen, turns } from "#harness/lone-connection";

const token = fc
  .stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/)
  .filter((name) => !/^(content-length|transfer-encoding|connection|expect)$/i.test(name));
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

/** A request with the bytes that say it. */
const request = fc
  .record({
    method: fc.constantFrom("GET", "POST", "DELETE", "M-SEARCH"),
    target: fc.stringMatching(/^\/[!-~]{0,30}$/),
    headers: fc.array(fc.tuple(token, value), { maxLength: 4 }),
    body: fc.option(bytes, { nil: undefined }),
    sizes: fc.option(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 4 }), { nil: undefined }),
    emptyLines: fc.constantFrom("", "\r\n", "\r\n\r\n"),
  })
  .map(({ method, target, headers, body, sizes, emptyLines }) => {
    const framing: [string, string][] =
      body === undefined ? [] : sizes === undefined ? [["Content-Length", String(body.length)]] : [["transfer-encoding", "Chunked"]];
    const all = [...headers, ...framing];
    const lines = all.map(([name, text]) => `${name}: \t${text} \r\n`).join("");
    const data = body === undefined ? "" : sizes === undefined ? body : chunked(body, sizes);
    const seen: Seen = { method, target, headers: all.flat(), body: body ?? "" };
    return { seen, text: `${emptyLines}${method} ${target} HTTP/1.1\r\n${lines}\r\n${data}` };
  });

const pieces = (text: string, cuts: readonly number[]): string[] => {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((place, index) => text.slice(place, places[index] ?? text.length)).filter((piece) => piece !== "");
};

describe("calls are the same however their bytes are cut", () => {
  test("several requests behind each other, cut anywhere, answered at once or later", async () => {
    const cuts = fc.array(fc.nat({ max: 2_000 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 4 }), cuts, fc.boolean(), async (requests, places, isLate) => {
        const owner = new Owner({}, isLate);
        await owner.send(...pieces(requests.map(({ text }) => text).join(""), places));
        await turns(30);
        expect(owner.seen).toEqual(requests.map(({ seen }) => seen));
        expect([owner.refused.length, owner.line.written, owner.line.said]).toEqual([0, "!".repeat(requests.length), []]);
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

  test("a head that comes again is a request of its own, with its own body", async () => {
    const post = (target: string, body: string): string => `POST ${target} HTTP/1.1\r\nX: y\r\nContent-Length: 3\r\n\r\n${body}`;
    const owner = new Owner();
    await owner.send(post("/a", "one"), post("/a", "two"), post("/b", "six"), `${post("/a", "ten")}${post("/a", "one")}`);
    expect(owner.seen.map(({ target, body }) => `${target} ${body}`)).toEqual(["/a one", "/a two", "/b six", "/a ten", "/a one"]);
    await owner.send("POST /a HTTP/1.1\r\nX: y\r\nContent-Length: 3 4\r\n\r\n");
    expect([owner.seen.length, owner.refused.length]).toEqual([5, 1]);
  });

  test("any bytes at all: answered, refused or waited for, never thrown", async () => {
    const noise = fc.array(
      fc.oneof(
        bytes,
        fc.constantFrom("GET / HTTP/1.1\r\n", "\r\n", "\r\n\r\n", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n"),
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
    ["GET / HTTP/1.1\r\n\r\n", "!"],
    ["GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n", "last!"],
    ["GET / HTTP/1.0\r\n\r\n", "last!"],
    ["GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "!"],
    ["GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n", "last!"],
  ])("%j", async (text, response) => {
    const owner = new Owner();
    await owner.send(text);
    expect(owner.line.written).toBe(response);
  });

  test("who ends his side has his requests answered, but none that breaks off", async () => {
    const owner = new Owner({}, true);
    owner.connection.came(Buffer.from("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n"));
    owner.connection.peerEnded();
    await turns(20);
    expect([owner.seen.map(({ target }) => target), owner.line.written, owner.line.said]).toEqual([["/1", "/2"], "!last!", ["end"]]);

    const broken = new Owner();
    await broken.send("POST /1 HTTP/1.1\r\nContent-Length: 4\r\n\r\nab");
    broken.connection.peerEnded();
    broken.connection.closed();
    await turns(2);
    expect([broken.seen, broken.line.said]).toEqual([[], ["terminate"]]);
  });

  test("a caller who does not read is not read either, and has everything later", async () => {
    const owner = new Owner();
    owner.line.feature = 3;
    const one = "GET / HTTP/1.1\r\n\r\n";
    await owner.send(one.repeat(10), one.repeat(5_000));
    expect([owner.seen.length, owner.line.written, owner.line.said]).toEqual([4, "!!!", ["pause"]]);
    owner.line.feature = Number.POSITIVE_INFINITY;
    owner.connection.drained();
    expect([owner.seen.length, owner.line.written.length, owner.line.said]).toEqual([5_010, 5_010, ["pause", "resume"]]);
  });

  test("calls ahead of the one that is answered fill a limited space", async () => {
    const owner = new Owner({}, true);
    for (let i = 0; i < 20; i++) owner.connection.came(Buffer.from("GET / HTTP/1.1\r\n\r\n".repeat(1_000)));
    expect(owner.line.said[0]).toBe("pause");
    await turns(60_000);
    expect([owner.seen.length, owner.line.said]).toEqual([20_000, ["pause", "resume"]]);
  });
});

describe("time", () => {
  const later = (ms: number): number => performance.now() + ms;

  test.each<[string, string[], number, string[], string]>([
    ["an unused connection", [], 1_001, ["end"], ""],
    ["an unused connection that may still become one", [], 900, [], ""],
    ["a head that does not end", ["GET / HT"], 1_001, ["shutdown"], "refused!"],
    ["a connection between calls", ["GET / HTTP/1.1\r\n\r\n"], 1_001, [], "!"],
    ["a connection between calls for too long", ["GET / HTTP/1.1\r\n\r\n"], 5_001, ["end"], "!"],
    ["a last response that nobody closes after", ["GET / HTTP/1.0\r\n\r\nGET"], 2_100, ["shutdown", "terminate"], "last!"],
  ])("%s", async (_, parts, ms, said, written) => {
    const owner = new Owner({ headMsMax: 1_000, keepAliveMs: 5_000 });
    await owner.send(...parts);
    owner.connection.check(later(ms));
    expect([owner.line.said, owner.line.written]).toEqual([said, written]);
  });

  test("a response that nobody reads", async () => {
    const owner = new Owner({ keepAliveMs: 5_000 });
    owner.line.feature = 0;
    await owner.send("GET / HTTP/1.0\r\n\r\n");
    owner.connection.check(later(4_900));
    expect(owner.line.said).toEqual([]);
    owner.connection.check(later(5_100));
    expect(owner.line.said).toEqual(["terminate"]);
  });
});
