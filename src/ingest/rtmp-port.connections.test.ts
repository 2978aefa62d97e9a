/**
 * Tests the port for encoders without a real encoder: how many connections the port accepts, from which addresses, and how often the port checks
 * them.
 */
import { expect, test } from "bun:test";
import { connect as connectFrom } from "node:net";
import { receiverCertificate, receiverKey } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { publishing } from "#harness/live/rtmp";
import { freePort } from "#harness/processes/free-port";
import { temporaryFolder } from "#harness/server";
import { catchTimers } from "#harness/time/stopped-time";
import { RecordingSpace } from "#recordings/recording-space";
import type { FeedGate, FeedName } from "./channel.ts";
import { RtmpPort, type RtmpPortOptions } from "./rtmp-port.ts";

const HOST = "127.0.0.1";
const certificate = { cert: receiverCertificate, key: receiverKey };

/** `feeds` maps each stream key to the feed that starts with the key. */
function openPort(more: Partial<RtmpPortOptions> = {}, feeds: Readonly<Record<string, FeedName>> = {}) {
  const recordings = temporaryFolder();
  const gate: FeedGate = {
    check: async (key) => feeds[key] && { feed: feeds[key] },
    start: async () => undefined,
    end: () => {},
    refused: () => {},
  };
  const reports: unknown[] = [];
  const limits = { bitsPerSecondMax: 1_000_000, connectionsMax: 20, unauthenticatedMax: 10, unauthenticatedPerAddressMax: 10 };
  const options = { hostname: HOST, port: 0, gate, recordings, space: new RecordingSpace(recordings, { bytesMax: 0, reserveBytes: 0 }), limits };
  const port = new RtmpPort({ ...options, onError: () => {}, onNote: () => {}, ...more }, (feedsNow) => void reports.push(feedsNow));
  afterThisTest(() => port.stop());
  return { port, reports };
}

/** Opens a connection and sends the given bytes. */
async function connect(port: number, ...parts: readonly Uint8Array[]) {
  return connectTo({ port }, ...parts);
}

async function connectTo(to: { readonly port: number; readonly tls?: { readonly rejectUnauthorized: boolean } }, ...parts: readonly Uint8Array[]) {
  const line = { received: "", isClosed: false };
  const isReady = Promise.withResolvers<void>();
  if (to.tls === undefined) isReady.resolve();
  const socket = await Bun.connect({
    ...{ hostname: HOST, ...to },
    socket: {
      data: (_socket, bytes) => {
        line.received += bytes.toString("latin1");
      },
      handshake: () => isReady.resolve(),
      close: () => {
        line.isClosed = true;
      },
    },
  });
  await isReady.promise;
  for (const part of parts) socket.write(part);
  return { line, socket };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(1);
}

const greeting = publishing("unknown")[0] as Uint8Array;

test("exactly the maximum number of connections with a key is accepted; one that leaves makes room", async () => {
  const feed = { world: "w", video: "1", session: 0 };
  const limits = { bitsPerSecondMax: 1, connectionsMax: 2, unauthenticatedMax: 9, unauthenticatedPerAddressMax: 9 };
  const { port } = openPort({ limits }, { a: feed, b: { ...feed, video: "2" }, c: { ...feed, video: "3" } });
  const publish = async (key: string) => {
    const one = await connect(port.port, ...publishing(key));
    await until(() => one.line.isClosed || one.line.received.includes("NetStream.Publish.Start"));
    return one;
  };
  const [first, second, third] = [await publish("a"), await publish("b"), await publish("c")];
  expect([first.line.isClosed, second.line.isClosed, third.line.received]).toEqual([false, false, ""]);
  expect(port.connections).toEqual({ open: 2, without_key: 0, turned_away: 1 });
  first.socket.end();
  await until(() => first.line.isClosed);
  while ((await publish("c")).line.isClosed);
  await port.stop();
  await until(() => second.line.isClosed);
});

test("D-298: of the connections without a key the oldest of the address with the most is closed, and an encoder with its key finds room", async () => {
  const feed = { world: "w", video: "1", session: 0 };
  const notes: unknown[] = [];
  const limits = { bitsPerSecondMax: 1, connectionsMax: 9, unauthenticatedMax: 4, unauthenticatedPerAddressMax: 3 };
  const { port } = openPort({ hostname: "0.0.0.0", limits, onNote: (about, note) => void notes.push([note, about]) }, { a: feed });
  /** Opens a connection from the given address, which begins a handshake and sends no stream key. */
  const greet = async (localAddress: string) => {
    const line = { isGreeted: false, isClosed: false };
    const socket = connectFrom({ host: HOST, port: port.port, localAddress });
    socket.on("data", () => (line.isGreeted = true));
    socket.on("error", () => {});
    socket.on("close", () => (line.isClosed = true));
    socket.write(greeting);
    await until(() => line.isGreeted || line.isClosed);
    return { line };
  };
  const encoder = await connect(port.port, ...publishing("a"));
  await until(() => encoder.line.received.includes("NetStream.Publish.Start"));
  const flood = [await greet("127.0.0.2"), await greet("127.0.0.2"), await greet("127.0.0.2")];
  const other = await greet("127.0.0.3");
  const closed = () => flood.map(({ line }) => line.isClosed);
  expect([closed(), other.line.isClosed, encoder.line.isClosed]).toEqual([[false, false, false], false, false]);
  // The next two connections exceed the limit for one address and then the limit for all addresses, so the port closes the oldest connections of the
  // flood.
  flood.push(await greet("127.0.0.2"));
  await until(() => flood[0]?.line.isClosed === true);
  const third = await greet("127.0.0.4");
  await until(() => flood[1]?.line.isClosed === true);
  expect([closed(), other.line.isClosed, third.line.isClosed, encoder.line.isClosed]).toEqual([[true, true, false, false], false, false, false]);
  expect(port.connections).toEqual({ open: 5, without_key: 4, turned_away: 2 });
  await until(() => notes.length > 0);
  const note = "too many encoders are connected without a stream key, so some were disconnected";
  // The log line counts the connections that were closed before it was written: one or two.
  const [[, { connections = 0 } = {}] = []] = notes as [string, { connections?: number }][];
  expect([1, 2]).toContain(connections);
  expect(notes).toEqual([[note, { connections, most_of: "127.0.0.2", of_it: connections }]]);
  // The port closes silent connections before older connections that have sent something.
  const silent = Array.from({ length: 3 }, () => {
    const socket = connectFrom({ host: HOST, port: port.port, localAddress: "127.0.0.3" });
    const line = { isClosed: false };
    socket.on("error", () => {});
    socket.on("close", () => (line.isClosed = true));
    return line;
  });
  await until(() => silent.filter((line) => line.isClosed).length > 0);
  expect(other.line.isClosed).toBe(false);
  // Although the flood continues, the port admits an encoder's connection at once.
  for (let i = 0; i < 30; i++) await greet("127.0.0.2");
  encoder.socket.end();
  await until(() => port.publisherOf(feed) === undefined);
  const again = await connect(port.port, ...publishing("a"));
  await until(() => again.line.received.includes("NetStream.Publish.Start"));
});

test("encoders of other videos and worlds do not affect each other", async () => {
  const feed = { world: "w", video: "1", session: 0 };
  const { port } = openPort({}, { a: feed, b: { ...feed, video: "2" }, c: { ...feed, world: "x" } });
  const all: Awaited<ReturnType<typeof connect>>[] = [];
  for (const key of ["a", "b", "c"]) {
    const one = await connect(port.port, ...publishing(key));
    await until(() => one.line.received.includes("NetStream.Publish.Start"));
    all.push(one);
  }
  // An encoder with the same key as the first encoder is refused with this message, and the other encoders continue.
  const again = await connect(port.port, ...publishing("a"));
  await until(() => again.line.received.includes("Another encoder uses this key"));
  expect(all.map(({ line }) => line.isClosed)).toEqual([false, false, false]);
  expect(port.publisherOf({ ...feed, video: "3" })).toBeUndefined();
  const found = [feed, { ...feed, video: "2" }, { ...feed, world: "x" }].map((name) => port.publisherOf(name));
  expect([new Set(found).size, found.map((one) => `${one?.world} ${one?.video}`)]).toEqual([3, ["w 1", "w 2", "x 1"]]);
});

test("if RTMPS cannot listen, nothing does", () => {
  const [plain, taken] = [freePort(), freePort()];
  const listener = Bun.listen({ hostname: HOST, port: taken, socket: { data: () => {} } });
  afterThisTest(() => listener.stop(true));
  expect(() => openPort({ port: plain, secure: { port: taken, certificate } })).toThrow("Failed to listen");
  Bun.listen({ hostname: HOST, port: plain, socket: { data: () => {} } }).stop(true);
});

test("a renewed certificate does not affect connections over RTMPS, and new ones find RTMPS on the same port", async () => {
  const feed = { world: "w", video: "1", session: 0 };
  const { port } = openPort({ secure: { port: 0, certificate } }, { a: feed, b: { ...feed, video: "2" } });
  const to = { port: port.securePort as number, tls: { rejectUnauthorized: false } };
  const [hello, ...rest] = publishing("a");
  const before = await connectTo(to, hello as Uint8Array);
  await until(() => before.line.received !== "");
  port.renew(certificate);
  port.renew(certificate);
  expect(port.securePort).toBe(to.port);
  const after = await connectTo(to, ...publishing("b"));
  await until(() => after.line.isClosed || after.line.received.includes("NetStream.Publish.Start"));
  // A connection that began before the renewal of the certificate sends the rest of its bytes, and gets a response.
  for (const part of rest) before.socket.write(part);
  await until(() => before.line.isClosed || before.line.received.includes("NetStream.Publish.Start"));
  expect([before.line.isClosed, after.line.isClosed]).toEqual([false, false]);
  await port.stop();
  await until(() => before.line.isClosed && after.line.isClosed);
});

test("a port without RTMPS has no certificate to renew", () => {
  const { port } = openPort();
  port.renew(certificate);
  expect([port.securePort, port.health]).toEqual([undefined, []]);
});

test("once a second it checks its connections and reports what they send, until it ends", async () => {
  const { intervals } = catchTimers();
  const { port, reports } = openPort();
  expect(intervals.map(({ ms }) => ms)).toEqual([1_000]);
  intervals[0]?.fire();
  intervals[0]?.fire();
  expect(reports).toEqual([[], []]);
  await port.stop();
  expect(intervals.map(({ isCleared }) => isCleared)).toEqual([true]);
});
