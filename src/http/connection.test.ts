import { describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import fc from "fast-check";
import type { GraphError } from "#kernel/errors";
import { Connection, type ConnectionOwner, type Received } from "./connection.ts";
import type { RequestHead } from "./head.ts";
import { defaultLimits, type HttpLimits } from "./limits.ts";

/** A socket that takes a part of what it is given, and notes everything. */
class Line {
  written = "";
  readonly said: string[] = [];
  room = Number.POSITIVE_INFINITY;
  readonly remoteAddress = "127.0.0.1";

  write(data: string | Uint8Array): number {
    const bytes = Buffer.from(data as string);
    const taken = Math.min(this.room, bytes.length);
    this.room -= taken;
    this.written += bytes.toString("latin1", 0, taken);
    return taken;
  }

  shutdown = () => this.said.push("shutdown");
  end = () => this.said.push("end");
  terminate = () => this.said.push("terminate");
  pause = () => this.said.push("pause");
  resume = () => this.said.push("resume");
}

interface Seen {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** A server that notes its calls and answers each with `!`, at once or a little later. */
class Owner implements ConnectionOwner {
  readonly limits: HttpLimits;
  isStopping = false;
  readonly seen: Seen[] = [];
  readonly refused: GraphError[] = [];
  readonly line = new Line();
  readonly connection: Connection;
  readonly #isLate: boolean;

  constructor(limits: Partial<HttpLimits> = {}, isLate = false) {
    this.limits = { ...defaultLimits, ...limits };
    this.#isLate = isLate;
    this.connection = new Connection(this.line as unknown as Socket<unknown>, this);
  }

  take(head: RequestHead, connection: Connection): void {
    const received = head.framing === 0 ? { bytes: new Uint8Array() } : connection.receiveBody(this.limits.bodyBytesMax, this.limits.bodyMsMax);
    if (this.#isLate || received instanceof Promise) void this.#answerLater(head, received);
    else this.#answer(head, received);
  }

  async #answerLater(head: RequestHead, received: Received | Promise<Received>): Promise<void> {
    this.#answer(head, await received);
  }

  #answer({ method, target, raw }: RequestHead, received: Received): void {
    if (received === "gone") return;
    const body = "defect" in received ? received.defect.message : Buffer.from(received.bytes).toString("latin1");
    this.seen.push({ method, target, headers: raw, body });
    const { isLast } = this.connection;
    this.connection.writeText(isLast ? "last!" : "!", isLast ? 5 : 1);
    this.connection.answered(isLast);
  }

  refusal(error: GraphError): string {
    this.refused.push(error);
    return "refused!";
  }

  forget(): void {}

  /** Sends the parts, each in a turn of its own. */
  async send(...parts: readonly string[]): Promise<void> {
    for (const part of parts) {
      this.connection.came(Buffer.from(part, "latin1"));
      await turns(2);
    }
  }
}

/** Gives the calls that are answered later time to be. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}

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

/** A call with the bytes that say it. */
const call = fc
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
  test("several calls behind each other, cut anywhere, answered at once or later", async () => {
    const cuts = fc.array(fc.nat({ max: 2_000 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 4 }), cuts, fc.boolean(), async (calls, places, isLate) => {
        const owner = new Owner({}, isLate);
        await owner.send(...pieces(calls.map(({ text }) => text).join(""), places));
        await turns(30);
        expect(owner.seen).toEqual(calls.map(({ seen }) => seen));
        expect([owner.refused.length, owner.line.written, owner.line.said]).toEqual([0, "!".repeat(calls.length), []]);
      }),
      { numRuns: 1_500 },
    );
  });

  test("byte by byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 3 }), async (calls) => {
        const owner = new Owner();
        await owner.send(...calls.map(({ text }) => text).join(""));
        expect(owner.seen).toEqual(calls.map(({ seen }) => seen));
      }),
      { numRuns: 100 },
    );
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

const smuggled = "GET /smuggled HTTP/1.1\r\n\r\n";
describe("what two readers could understand differently is refused, and nothing behind it is read", () => {
  test.each([
    "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
    "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
    "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\na",
    "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\na",
    "POST / HTTP/1.1\r\nContent-Length: 0x1\r\n\r\na",
    "POST / HTTP/1.1\r\nContent-Length: 1 1\r\n\r\na",
    "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length: 9999999999999999\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length : 1\r\n\r\na",
    "POST / HTTP/1.1\r\nContent-Length\t: 1\r\n\r\na",
    "POST / HTTP/1.1\r\nX: a\r\n Content-Length: 1\r\n\r\na",
    "POST / HTTP/1.1\r\n Content-Length: 1\r\n\r\na",
    "POST / HTTP/1.1\nContent-Length: 1\n\na",
    "POST / HTTP/1.1\r\nX: a\nContent-Length: 1\r\n\r\na",
    "POST / HTTP/1.1\r\nX: a\rContent-Length: 1\r\n\r\na",
    "POST / HTTP/1.1\r\nX: a\0b\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\n: x\r\n\r\n",
    "POST / HTTP/1.1\r\nno colon\r\n\r\n",
    "POST /  HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1 \r\n\r\n",
    "POST / HTTP/2.0\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    " POST / HTTP/1.1\r\n\r\n",
    "\x16\x03\x01\x02\x00",
    `${"A".repeat(40)} / HTTP/1.1\r\n\r\n`,
  ])("%j", async (text) => {
    for (const parts of [[text + smuggled], [text, smuggled], [...text, smuggled]]) {
      const owner = new Owner();
      await owner.send(...parts);
      expect([owner.seen, owner.refused.length, owner.line.written, owner.line.said]).toEqual([[], 1, "refused!", ["shutdown"]]);
    }
  });

  test.each([
    "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n1 1\r\n",
    "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n1;x\ny\r\na\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n100000000\r\n",
    "Transfer-Encoding: chunked\r\n\r\n0\r\nX : y\r\n\r\n",
    `Transfer-Encoding: chunked\r\n\r\n0\r\n${`X: ${"y".repeat(200)}\r\n`.repeat(50)}\r\n`,
  ])("chunks: %j", async (text) => {
    const owner = new Owner();
    await owner.send(`POST / HTTP/1.1\r\n${text}`, smuggled);
    expect([owner.seen.map(({ target }) => target), owner.line.written, owner.line.said]).toEqual([["/"], "last!", ["shutdown"]]);
  });

  test("a body that the call did not take ends the connection", async () => {
    const owner = new Owner({ bodyBytesMax: 3 });
    await owner.send(`POST /1 HTTP/1.1\r\nContent-Length: 4\r\n\r\n${smuggled}`, smuggled);
    expect([owner.seen.length, owner.line.written, owner.line.said]).toEqual([1, "last!", ["shutdown"]]);
  });
});

describe("how long a connection is kept", () => {
  test.each([
    ["GET / HTTP/1.1\r\n\r\n", "!"],
    ["GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n", "last!"],
    ["GET / HTTP/1.0\r\n\r\n", "last!"],
    ["GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "!"],
    ["GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n", "last!"],
  ])("%j", async (text, answer) => {
    const owner = new Owner();
    await owner.send(text);
    expect(owner.line.written).toBe(answer);
  });

  test("who ends his side has his calls answered, but none that breaks off", async () => {
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
    owner.line.room = 3;
    const one = "GET / HTTP/1.1\r\n\r\n";
    await owner.send(one.repeat(10), one.repeat(5_000));
    expect([owner.seen.length, owner.line.written, owner.line.said]).toEqual([4, "!!!", ["pause"]]);
    owner.line.room = Number.POSITIVE_INFINITY;
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
    ["a last answer that nobody closes after", ["GET / HTTP/1.0\r\n\r\nGET"], 2_100, ["shutdown", "terminate"], "last!"],
  ])("%s", async (_, parts, ms, said, written) => {
    const owner = new Owner({ headMsMax: 1_000, keepAliveMs: 5_000 });
    await owner.send(...parts);
    owner.connection.check(later(ms));
    expect([owner.line.said, owner.line.written]).toEqual([said, written]);
  });

  test("an answer that nobody reads", async () => {
    const owner = new Owner({ keepAliveMs: 5_000 });
    owner.line.room = 0;
    await owner.send("GET / HTTP/1.0\r\n\r\n");
    owner.connection.check(later(4_900));
    expect(owner.line.said).toEqual([]);
    owner.connection.check(later(5_100));
    expect(owner.line.said).toEqual(["terminate"]);
  });
});
