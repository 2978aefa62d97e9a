/** Tests the process that receives streams: its messages to the server, its configuration, and how it ends. Streams are tested in `src/ingest`. */
import { beforeEach, describe, expect, spyOn, test } from "bun:test";
import { EventEmitter } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Certificate, type CertificateAndKey, type CertificateObserver } from "#config/certificate";
import { receiverCertificate, receiverKey, renewedCertificate, renewedKey } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { written } from "#harness/cli/printed";
import { temporaryFolder } from "#harness/server";
import type { ConnectionCounts, FeedHealth, FeedName, IngestConfig, ToServer } from "#ingest/channel";
import * as rtmp from "#ingest/rtmp-port";
import { nextTurn } from "#kernel/turns";
import { Log } from "#telemetry/log";
import { ingest } from "../ingest.ts";

let channel = new EventEmitter();
let sent: ToServer[] = [];
/** The exit codes of the process, and the components that had ended before the process exited. */
let ends: (number | string)[] = [];

beforeEach(() => {
  [channel, sent, ends] = [new EventEmitter(), [], []];
  const own = { send: process.send, connected: process.connected };
  set({ send: (message: ToServer) => sent.push(message), connected: true });
  const spies = [
    spyOn(process, "on").mockImplementation(((name: string, listener: () => void) => {
      channel.on(name, listener);
      return process;
    }) as never),
    spyOn(process, "exit").mockImplementation(((code: number) => {
      ends.push(code);
      return code;
    }) as never),
    spyOn(Log.prototype, "flush").mockImplementation(async () => {
      await nextTurn();
      ends.push("logged");
    }),
  ];
  afterThisTest(() => {
    for (const spy of spies) spy.mockRestore();
    set(own);
  });
});

/** Sets the values by which this process is connected to the server. */
function set(values: object): void {
  for (const [name, value] of Object.entries(values)) Object.defineProperty(process, name, { value, configurable: true, writable: true });
}

const configOf = (more: Partial<IngestConfig> = {}): IngestConfig => ({
  ...{ hostname: "127.0.0.1", port: 0, secure: undefined, recordings: join(temporaryFolder(), "of/recordings"), recordings_bytes_max: 5 },
  ...{ disk_reserve_bytes: 6, stream_bits_max: 7, streams_max: 8, pages: undefined, log_level: "silent", pretty: false },
  ...more,
});

/** A stand-in for the port for encoders, which gets no streams: the test calls the handlers of its events. */
function lonePort() {
  const made = { options: undefined as unknown as rtmp.RtmpPortOptions, report: (_: readonly FeedHealth[], __: ConnectionCounts): void => {} };
  const dropped: (readonly FeedName[])[] = [];
  const renewed: CertificateAndKey[] = [];
  const spy = spyOn(rtmp, "RtmpPort").mockImplementation(function lone(options: rtmp.RtmpPortOptions, report: typeof made.report) {
    Object.assign(made, { options, report });
    return {
      drop: (feeds: readonly FeedName[]) => dropped.push(feeds),
      renew: (certificate: CertificateAndKey) => renewed.push(certificate),
      stop: async () => {
        for (let turn = 0; turn < 3; turn++) await nextTurn();
        ends.push("stopped");
      },
    };
  } as never);
  afterThisTest(() => spy.mockRestore());
  return { made, dropped, renewed };
}

async function listening(config: IngestConfig) {
  const port = lonePort();
  const ended = ingest();
  channel.emit("message", { kind: "config", config });
  while (sent.length === 0) await Bun.sleep(1);
  expect(sent.splice(0)).toEqual([{ kind: "listening" }]);
  return { ...port, ended };
}

describe("only the server starts it", () => {
  test("and it says so to anybody else", async () => {
    set({ send: undefined });
    const streams = written();
    expect(await ingest()).toBe(1);
    expect(streams.err).toBe("plaza: ingest is started only by `plaza start`\n");
  });

  test("and it ends when the server has ended, before or after", async () => {
    set({ connected: false });
    expect(await ingest()).toBe(1);
    channel.emit("disconnect");
    expect(ends).toEqual([1]);
  });
});

test("it listens as configured, and accepts 256 connections more than streams, for peers without a key", async () => {
  const config = configOf({ port: 1_935 });
  const { made } = await listening(config);
  const { hostname, port, recordings, secure, limits } = made.options;
  expect({ hostname, port, recordings, secure, limits }).toEqual({
    ...{ hostname: "127.0.0.1", port: 1_935, recordings: config.recordings, secure: undefined },
    limits: { bitsPerSecondMax: 7, connectionsMax: 264, unauthenticatedMax: 256, unauthenticatedPerAddressMax: 32 },
  });
  expect(channel.listenerCount("unhandledRejection")).toBe(1);
  for (const signal of ["SIGINT", "SIGTERM"]) expect(channel.emit(signal)).toBe(true);
  expect(ends).toEqual([]);
});

test("each question gets its own response in any order, and a response without a question is ignored", async () => {
  const { made } = await listening(configOf());
  const { gate } = made.options;
  const size = { width: 640, height: 360 };
  const feed = { world: "default", video: "5301", session: 0 };
  const responses = [gate.check("a"), gate.check("b"), gate.start("a", size)];
  expect(sent.splice(0)).toEqual([
    { kind: "check", id: 1, key: "a" },
    { kind: "check", id: 2, key: "b" },
    { kind: "start", id: 3, key: "a", ...size },
  ]);
  channel.emit("message", { kind: "reply", id: 9, feed });
  channel.emit("message", { kind: "reply", id: 3, feed: { ...feed, session: 4 } });
  channel.emit("message", { kind: "reply", id: 2, feed: undefined });
  channel.emit("message", { kind: "reply", id: 1, feed });
  channel.emit("message", { kind: "reply", id: 1, feed: undefined });
  expect(await Promise.all(responses)).toEqual([{ feed }, undefined, { feed: { ...feed, session: 4 } }]);
  gate.end(feed, "lost");
  expect(sent).toEqual([{ kind: "end", feed, ending: "lost" }]);
});

test("feeds that may not continue are dropped, and sending feeds are reported", async () => {
  const { made, dropped } = await listening(configOf());
  const feeds = [{ world: "default", video: "5301", session: 1 }];
  channel.emit("message", { kind: "drop", feeds });
  expect(dropped).toEqual([feeds]);
  const connections = { open: 3, without_key: 2, turned_away: 1 };
  made.report([], connections);
  expect(sent).toEqual([{ kind: "report", feeds: [], connections }]);
});

test("a renewed certificate is used; if it cannot be read, the old one stays", async () => {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(cert, receiverCertificate);
  writeFileSync(key, receiverKey);
  const check = spyOn(Certificate.prototype, "follow");
  afterThisTest(() => check.mockRestore());
  const { made, renewed, ended } = await listening(configOf({ secure: { port: 1_936, cert, key } }));
  expect(made.options.secure).toEqual({ port: 1_936, certificate: { cert: receiverCertificate, key: receiverKey } });
  const [certificate, observer] = [check.mock.contexts[0] as Certificate, check.mock.calls[0]?.[0] as CertificateObserver];
  certificate.check(observer);
  expect(renewed).toEqual([]);
  writeFileSync(cert, renewedCertificate);
  writeFileSync(key, renewedKey);
  certificate.check(observer);
  expect(renewed).toEqual([{ cert: renewedCertificate, key: renewedKey }]);
  await Bun.file(key).delete();
  certificate.check(observer);
  expect(renewed).toHaveLength(1);
  channel.emit("message", { kind: "stop" });
  await ended;
});

test("when it is asked to end, it stops its connections, and exits when its log is complete", async () => {
  const { ended } = await listening(configOf());
  channel.emit("message", { kind: "stop" });
  await ended;
  expect(ends).toEqual(["stopped", "logged", 0]);
});

test("if it cannot listen, it reports the reason to the server and exits with a failure", async () => {
  const spy = spyOn(rtmp, "RtmpPort").mockImplementation(function none() {
    throw new Error("the port is taken");
  } as never);
  afterThisTest(() => spy.mockRestore());
  const ended = ingest();
  channel.emit("message", { kind: "config", config: configOf() });
  await ended;
  expect(sent).toEqual([{ kind: "failed", message: "the port is taken" }]);
  expect(ends).toEqual(["logged", 1]);
});
