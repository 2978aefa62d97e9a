/** Checks how a connection ends, which bytes the connection still reads before its end, what it waits for, and how many bytes it holds. */
import { describe, expect, test } from "bun:test";
import { ReadableStream } from "node:stream/web";
import { Owner, turns } from "#harness/http/lone-connection";
import type { Connection } from "./connection.ts";
import { AwaitedBody, incomingBody, type ReceivedBody } from "./incoming-body.ts";
import { ReceiveBuffer } from "./receive-buffer.ts";
import type { RequestHead } from "./request-head.ts";

const get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
const last = "GET / HTTP/1.0\r\n\r\n";
const AHEAD_MAX = 65_536;
const KIB = 1_024;

/** An object that owns connections, as a listener does. The test itself sends the response to the last request. */
function holding(options: ConstructorParameters<typeof Owner>[0] = {}) {
  const owner = new Owner(options);
  owner.dispatch = (head: RequestHead, _connection: Connection) => void owner.heads.push(head);
  const respond = (): void => {
    owner.connection.send({ status: 204, headers: {}, body: "" });
    owner.connection.finish();
  };
  return { owner, respond, events: owner.line.events, connection: owner.connection };
}

describe("after its last response a connection", () => {
  test("discards further bytes, and neither keeps them nor makes its client wait", async () => {
    const owner = new Owner();
    await owner.send(`${last}GET /more`);
    await owner.send("x".repeat(2 * AHEAD_MAX), get);
    expect({ seen: owner.seen.length, held: owner.heldBytes, events: owner.line.events }).toEqual({ seen: 1, held: 0, events: ["shutdown"] });
  });

  test("closes when its client closes, and is not ended twice", async () => {
    const owner = new Owner();
    await owner.send(`${last}GET`);
    owner.connection.drained();
    owner.connection.end();
    expect(owner.line.events).toEqual(["shutdown"]);
    owner.connection.peerEnded();
    expect(owner.line.events).toEqual(["shutdown", "end"]);
    owner.connection.closed();
    owner.connection.end();
    owner.connection.finish();
    expect(owner.line.events).toEqual(["shutdown", "end"]);
  });

  test("waits until the response is sent, also if the client has ended its side before", async () => {
    for (const isPeerDone of [false, true]) {
      const owner = new Owner();
      owner.line.capacity = 10;
      await owner.send(`${last}GET`);
      if (isPeerDone) owner.connection.peerEnded();
      expect({ events: owner.line.events, waitsFor: owner.connection.waitsFor }).toEqual({ events: [], waitsFor: "reader" });
      owner.line.capacity = Number.POSITIVE_INFINITY;
      owner.connection.drained();
      expect({ events: owner.line.events, responses: owner.responses }).toEqual({ events: [isPeerDone ? "end" : "shutdown"], responses: "last!" });
      expect(owner.heldBytes).toBe(0);
    }
  });

  test("has two seconds from the end of the response, whenever the connection began", async () => {
    const owner = new Owner({ keepAliveMs: 60_000 });
    owner.pass(5_000);
    await owner.send(`${last}GET`);
    owner.pass(2_000);
    expect({ events: owner.line.events, waitsFor: owner.connection.waitsFor }).toEqual({ events: ["shutdown"], waitsFor: "time" });
    owner.pass(1);
    expect(owner.line.events).toEqual(["shutdown", "terminate"]);
  });

  test("reads again and sees the client's end, even if requests that came ahead had paused it", () => {
    const { connection, respond, events } = holding();
    connection.received(Buffer.from(last + get.repeat(3_000)));
    expect(events).toEqual(["pause"]);
    respond();
    expect(events).toEqual(["pause", "resume", "shutdown"]);
  });

  test("leaves the rest of a refused body unread, and waits for its client to close", async () => {
    const owner = new Owner({ bodyBytesMax: 10 });
    await owner.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n");
    expect({ seen: owner.seen, responses: owner.responses, events: owner.line.events }).toMatchObject({
      ...{ seen: [{ problem: "body-too-large" }], responses: "last!", events: ["shutdown"] },
    });
  });
});

describe("a connection has its last response", () => {
  test("if the server begins to stop between a response and its end", async () => {
    const { owner, connection, events } = holding();
    await owner.send(get);
    connection.send({ status: 204, headers: {}, body: "" });
    owner.isStopping = true;
    connection.finish();
    expect({ responses: owner.responses, events }).toEqual({ responses: "!", events: ["end"] });
  });

  test("if only the end shows that the response is complete, even if the client would keep it", async () => {
    const { owner, connection, events } = holding();
    await owner.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    async function* parts(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("whole");
    }
    await connection.stream({ status: 200, headers: {} }, ReadableStream.from(parts()));
    connection.finish();
    expect(events).toEqual(["end"]);
    expect(owner.line.written).toEndWith("\r\n\r\nwhole");
  });

  test("if a request cannot be read, whatever the one before it requested", async () => {
    const owner = new Owner();
    owner.refusal = () => ({ status: 400, headers: {}, body: "why" });
    await owner.send(get.replace("GET", "HEAD"), "no request\r\n\r\n");
    const [, refusal = ""] = owner.line.written.split("HTTP/1.1 400 Bad Request");
    expect(refusal).toContain("\r\nconnection: close\r\n");
    expect(refusal).toEndWith("\r\n\r\nwhy");
  });
});

describe("when the server stops", () => {
  test("only connections without a request end, not those with part of a head", async () => {
    const [unused, idle, begun, served] = [new Owner(), new Owner(), new Owner(), holding()];
    await idle.send(get);
    await begun.send("GE");
    await served.owner.send(get);
    const all = [unused, idle, begun, served.owner];
    expect(all.map(({ connection }) => connection.waitsFor)).toEqual(["first request", "next request", "head", undefined]);
    for (const { connection } of all) connection.endIfIdle();
    expect(all.map(({ line }) => line.events)).toEqual([["end"], ["end"], [], []]);
  });
});

describe("requests that arrive ahead", () => {
  test("may be 65,536 bytes before the client has to wait", () => {
    for (const [bytes, isPaused] of [
      [AHEAD_MAX, false],
      [AHEAD_MAX + 1, true],
    ] as const) {
      const { connection, events } = holding();
      connection.received(Buffer.from(get));
      connection.received(Buffer.alloc(bytes, "x"));
      expect({ bytes, isPaused: events.includes("pause") }).toEqual({ bytes, isPaused });
    }
  });

  test("are read after the response, even if they are a single byte that begins no head", async () => {
    const owner = new Owner({ isLate: true });
    owner.connection.received(Buffer.from(`${get}\x00`));
    await turns(10);
    expect({ responses: owner.responses, refused: owner.refused.length }).toEqual({ responses: "!refused!", refused: 1 });
  });

  test("begin a response of their own: none of its bytes are sent, whatever the previous one had sent", async () => {
    const { owner, connection, respond } = holding();
    await owner.send(get + get);
    expect(connection.waitsFor).toBeUndefined();
    respond();
    expect({ requests: owner.heads.length, hasBegun: connection.hasBegunResponse }).toEqual({ requests: 2, hasBegun: false });
  });
});

describe("a client that is gone", () => {
  test("leaves no held bytes, neither received nor unsent ones", async () => {
    const owner = new Owner();
    owner.line.capacity = 10;
    await owner.send(`${get}GET / HT`);
    expect(owner.heldBytes).toBeGreaterThan("GET / HT".length);
    owner.connection.closed();
    expect({ held: owner.heldBytes, ofConnection: owner.connection.heldBytes, isGone: owner.connection.isGone }).toEqual({
      ...{ held: 0, ofConnection: 0, isGone: true },
    });
  });

  test("is reported to its owner once, and the body of its request is not waited for", async () => {
    const { owner, connection, events } = holding();
    const closed: Connection[] = [];
    owner.closed = (one?: Connection) => void closed.push(one as Connection);
    await owner.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n");
    connection.closed();
    expect(closed).toEqual([connection]);
    expect({ body: connection.receiveBody(10), events }).toEqual({ body: "gone", events: ["terminate"] });
  });

  test("because it did not read its response had as long as an idle connection, and no longer", async () => {
    const owner = new Owner({ keepAliveMs: 5_000 });
    owner.line.capacity = 0;
    await owner.send(get);
    owner.pass(5_000);
    expect(owner.line.events).toEqual([]);
    owner.pass(1);
    expect(owner.line.events).toEqual(["terminate"]);
  });
});

describe("a head that the server waits for", () => {
  const path = "x".repeat(AHEAD_MAX);

  test("is read on, however long it is", async () => {
    const owner = new Owner({ headBytesMax: 2 * AHEAD_MAX });
    await owner.send(`GET /${path}`, " HTTP/1.1\r\nHost: h\r\n\r\n");
    expect({ seen: owner.seen.length, events: owner.line.events }).toEqual({ seen: 1, events: [] });
  });

  test("is not read on while the client does not read the response before it", async () => {
    const owner = new Owner({ headBytesMax: 2 * AHEAD_MAX });
    owner.line.capacity = 0;
    await owner.send(get, `GET /${path}`, " HTTP/1.1\r\nHost: h\r\n\r\n");
    expect({ seen: owner.seen.length, events: owner.line.events }).toEqual({ seen: 1, events: ["pause"] });
    owner.line.capacity = Number.POSITIVE_INFINITY;
    owner.connection.drained();
    expect({ seen: owner.seen.length, events: owner.line.events }).toEqual({ seen: 2, events: ["pause", "resume"] });
  });
});

describe("a body that the server waits for", () => {
  const post = (more = ""): string => `POST / HTTP/1.1\r\nHost: h\r\n${more}Content-Length: 70000\r\n\r\n`;

  test("is read on, however long it is, and its wait counts from the request for it", async () => {
    const owner = new Owner();
    owner.pass(7);
    await owner.send(post());
    expect({ waitsFor: owner.connection.waitsFor, sinceMs: owner.connection.waitsSinceMs }).toEqual({ waitsFor: "body", sinceMs: 7 });
    await owner.send("x".repeat(AHEAD_MAX + 1));
    expect(owner.line.events).toEqual([]);
    await owner.send("x".repeat(70_000 - AHEAD_MAX - 1));
    expect({ bodies: owner.seen.map(({ body }) => body.length), responses: owner.responses }).toEqual({ bodies: [70_000], responses: "!" });
  });

  test("is requested with 100 Continue only if the client waits for that", async () => {
    const [expecting, other] = [new Owner(), new Owner()];
    await expecting.send(post("Expect: 100-continue\r\n"));
    await other.send(post());
    expect([expecting.line.written, other.line.written]).toEqual(["HTTP/1.1 100 Continue\r\n\r\n", ""]);
    // All bytes of the response are sent.
    expect(expecting.connection.waitsFor).toBe("body");
  });

  test("ends once: after it was refused, its end is not reported again", async () => {
    const ends: Record<string, ReceivedBody[]> = { whole: [], refused: [], late: [] };
    const waitFor = (name: string, msMax: number, hasCapacity: (bytes: number) => boolean): [AwaitedBody, ReceiveBuffer] => {
      const buffer = new ReceiveBuffer();
      return [new AwaitedBody(incomingBody(3, 10), buffer, { msMax, hasCapacity, ended: (body) => ends[name]?.push(body) }), buffer];
    };
    const [whole, bytes] = waitFor("whole", 1, () => true);
    bytes.append(Buffer.from("abc"));
    whole.advance();
    const asked: number[] = [];
    const [refused, more] = waitFor("refused", 1, (count) => asked.push(count) > 1);
    more.append(Buffer.from("abc"));
    refused.advance();
    // The time limit of this connection ends later than the time limits of the other connections.
    waitFor("late", 2, () => true);
    while (ends.late?.length === 0) await Bun.sleep(1);
    expect(ends).toEqual({
      whole: [{ bytes: Buffer.from("abc") }],
      refused: [{ problem: { kind: "no-capacity" } }],
      late: [{ problem: { kind: "body-too-slow", msMax: 2 } }],
    });
    expect(asked).toEqual([3]);
  });

  test("in chunks counts the bytes that were read, and those that were not", () => {
    const asked: number[] = [];
    const buffer = new ReceiveBuffer();
    const hasCapacity = (bytes: number): boolean => asked.push(bytes) > 0;
    const awaited = new AwaitedBody(incomingBody("chunked", 100), buffer, { msMax: 60_000, hasCapacity, ended: () => {} });
    for (const part of ["5\r\nhello", "\r\n", "0\r\n\r\n"]) {
      buffer.append(Buffer.from(part));
      awaited.advance();
    }
    expect(asked).toEqual([8, 7, 10]);
  });
});

test("the bytes of a body are not kept when it is known to be too large", () => {
  const body = incomingBody("chunked", 64 * KIB);
  const receiveBuffer = new ReceiveBuffer();
  const ends = Array.from({ length: 5 }, () => {
    receiveBuffer.append(Buffer.from(`4000\r\n${"a".repeat(16 * KIB)}\r\n`));
    return body.advance(receiveBuffer);
  });
  // The first four chunks reach the limit of a body, and the fifth chunk exceeds the limit. The server refuses the fifth chunk because of its size
  // line, before it reads the chunk's bytes.
  const refused = { problem: { kind: "body-too-large" as const, bytesMax: 64 * KIB } };
  expect(ends).toEqual([undefined, undefined, undefined, undefined, refused]);
  expect(incomingBody(64 * KIB + 1, 64 * KIB).advance(new ReceiveBuffer())).toEqual(refused);
});

test("arrived bytes are counted until they are used", async () => {
  const owner = new Owner();
  await owner.send("GET / HTTP/1.1\r\n");
  expect(owner.heldBytes).toBe(16);
  await owner.send("Host: h\r\n");
  expect(owner.heldBytes).toBe(25);
  await owner.send("\r\n");
  expect({ held: owner.heldBytes, responses: owner.responses }).toEqual({ held: 0, responses: "!" });
});

describe("a body that is streamed", () => {
  const sized = (size: number): string => `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${size}\r\n\r\n`;
  const chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  const textOf = async (piece: Promise<IteratorResult<Uint8Array, unknown>>): Promise<unknown> => {
    const { done, value } = await piece;
    return done === true ? { end: value } : Buffer.from(value as Uint8Array).toString();
  };

  test("arrives as its client sends it, and the next request follows it", async () => {
    for (const [head, pieces] of [
      [sized(6), ["abc", `def${get}`]],
      [chunked, ["3\r\nabc\r\n", `3\r\ndef\r\n0\r\n\r\n${get}`]],
    ] as const) {
      const { owner, respond, connection } = holding();
      await owner.send(head + pieces[0]);
      const body = connection.bodyPieces();
      expect(await textOf(body.next())).toBe("abc");
      const second = textOf(body.next());
      await turns(2);
      expect(connection.waitsFor).toBe("body");
      await owner.send(pieces[1]);
      expect([await second, await textOf(body.next()), connection.isLast]).toEqual(["def", { end: undefined }, false]);
      respond();
      expect({ heads: owner.heads.length, held: owner.heldBytes }).toEqual({ heads: 2, held: 0 });
    }
  });

  test("makes its client wait while nobody reads it", async () => {
    const { owner, connection, events } = holding();
    await owner.send(sized(2 * AHEAD_MAX), "x".repeat(AHEAD_MAX), "x");
    expect({ events, held: owner.heldBytes }).toEqual({ events: ["pause"], held: AHEAD_MAX + 1 });
    const body = connection.bodyPieces();
    expect((await body.next()).value).toHaveLength(AHEAD_MAX + 1);
    expect({ events, held: owner.heldBytes }).toEqual({ events: ["pause"], held: 0 });
    void body.next();
    await turns(2);
    expect(events).toEqual(["pause", "resume"]);
  });

  test("ends early with its problem, and the connection ends with the response", async () => {
    const ends = async (head: string, cause: (owner: Owner, connection: Connection) => unknown, keepAliveMs = 60_000): Promise<unknown> => {
      const { owner, connection, respond, events } = holding({ keepAliveMs });
      await owner.send(head);
      const end = textOf(connection.bodyPieces().next());
      await turns(2);
      await cause(owner, connection);
      const found = await end;
      respond();
      return { found, events };
    };
    expect(await ends(chunked, (owner) => owner.send("x\r\n"))).toEqual({ found: { end: { kind: "malformed-chunks" } }, events: ["shutdown"] });
    expect(await ends(sized(1), () => {}, 20)).toEqual({ found: { end: { kind: "body-too-slow", msMax: 20 } }, events: ["shutdown"] });
    expect(await ends(sized(1), (_, connection) => connection.closed())).toEqual({ found: { end: "gone" }, events: [] });
    const half = await ends(sized(1), (_, connection) => {
      connection.peerEnded();
      connection.closed();
    });
    expect(half).toEqual({ found: { end: "gone" }, events: ["terminate"] });
  });

  test("does not end the connection if nobody reads it but it has arrived completely", async () => {
    const { owner, connection, respond, events } = holding();
    await owner.send(`${sized(3)}abc`);
    connection.skipBody();
    respond();
    await owner.send(`${sized(3)}ab`);
    connection.skipBody();
    respond();
    expect({ responses: owner.responses, events }).toEqual({ responses: "!last!", events: ["shutdown"] });
  });
});

test("a streamed response is cancelled as soon as its client is gone, and if nobody reads it", async () => {
  for (const method of ["GET", "HEAD"]) {
    const { owner, connection } = holding();
    await owner.send(get.replace("GET", method));
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      cancel: () => {
        isCancelled = true;
      },
    });
    const sent = connection.stream({ status: 200, headers: {} }, body);
    await turns(3);
    if (method === "GET") {
      expect(isCancelled).toBe(false);
      connection.closed();
    }
    await sent;
    expect(isCancelled).toBe(true);
  }
});
