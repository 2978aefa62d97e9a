import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { receiverCertificate, receiverKey } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { probe, startEncoder } from "#harness/live/encoder";
import { handshake, publishing } from "#harness/live/rtmp";
import { temporaryFolder } from "#harness/server";
import { readRecording } from "#recordings/read-recording";
import { RecordingSpace } from "#recordings/recording-space";
import type { FeedEnding, FeedGate } from "./channel.ts";
import { RtmpPort } from "./rtmp-port.ts";

const CERTIFICATE = { cert: receiverCertificate, key: receiverKey };

/** Opens a port with a gate that admits the stream key `good` for video 1, and that records the events. */
function openPort(limits: { bitsPerSecondMax?: number; reserveBytes?: number; startWhen?: () => Promise<void> } = {}) {
  const recordings = temporaryFolder();
  const seen: (string | FeedEnding)[] = [];
  const waiting: { text: string; resolve: () => void }[] = [];
  const note = (text: string): void => {
    seen.push(text);
    for (const one of waiting) if (one.text === text) one.resolve();
  };
  let session = 0;
  const admission = () => ({ feed: { world: "default", video: "1", session } });
  const gate: FeedGate = {
    check: async (key) => (key === "good" ? admission() : undefined),
    start: async (_key, { width, height }) => {
      session++;
      await limits.startWhen?.();
      note(`started ${width}x${height}`);
      return admission();
    },
    end: (feed, ending) => note(`${ending} ${feed.session}`),
    refused: (_, reason) => note(`refused: ${reason}`),
  };
  const port = new RtmpPort(
    {
      ...{ hostname: "127.0.0.1", port: 0, gate, recordings, secure: { port: 0, certificate: CERTIFICATE } },
      space: new RecordingSpace(recordings, { bytesMax: 0, reserveBytes: limits.reserveBytes ?? 0 }),
      limits: {
        bitsPerSecondMax: limits.bitsPerSecondMax ?? 50_000_000,
        connectionsMax: 20,
        unauthenticatedMax: 10,
        unauthenticatedPerAddressMax: 10,
      },
      onError: (error) => note(`error ${error instanceof Error ? error.message : error}`),
      onNote: (about, text) => note(`${text}: ${about.reason}`),
    },
    () => {},
  );
  afterThisTest(() => port.stop());
  /** Resolves when the gate has recorded this event. */
  const happened = (text: string): Promise<void> =>
    seen.includes(text) ? Promise.resolve() : new Promise((resolve) => waiting.push({ text, resolve }));
  const address = (key: string) => `rtmp://127.0.0.1:${port.port}/live/${key}`;
  return { port, seen, happened, address, recordings };
}

/** Returns all segments of a session, joined in the order in which a player reads them. */
function joined(recordings: string, session: number): string {
  const folder = join(recordings, "default", "1", String(session));
  const numbers = readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => Number.parseInt(name, 10));
  const path = join(recordings, `joined-${session}.ts`);
  writeFileSync(path, Buffer.concat(numbers.sort((a, b) => a - b).map((number) => readFileSync(join(folder, `${number}.ts`)))));
  return path;
}

test("ingest: a stream of ffmpeg with B-frames is recorded with every picture, in segments from key frame to key frame", async () => {
  const { address, recordings, happened, seen } = openPort();
  const encoder = startEncoder(address("good"), { seconds: 5, bFrames: 3, keyFrameSeconds: 2, isFast: true });
  expect({ code: await encoder.ended, messages: await encoder.messages }).toEqual({ code: 0, messages: "" });
  await happened("lost 1");
  expect(seen).toEqual(["started 320x180", "lost 1"]);
  const [session] = await readRecording(recordings, "default", "1");
  expect(session).toMatchObject({ session: 1, hasEnded: true });
  expect(session?.segments.map(({ durationMs }) => durationMs).slice(0, 2)).toEqual([2000, 2000]);
  const { packets, problems } = await probe(joined(recordings, 1));
  expect(problems).toBe("");
  const video = packets.filter(({ codec_type }) => codec_type === "video");
  expect(video.length).toBe(125);
  expect(video.filter(({ flags }) => flags.startsWith("K")).length).toBe(3);
  // Pictures are shown in another order than they are decoded, but no picture is shown before it is decoded.
  expect(video.some(({ pts_time, dts_time }) => Number(pts_time) > Number(dts_time) + 0.04)).toBe(true);
  expect(video.every(({ pts_time, dts_time }) => Number(pts_time) >= Number(dts_time))).toBe(true);
  expect(new Set(video.map(({ pts_time }) => pts_time)).size).toBe(125);
  expect(packets.length - video.length).toBeGreaterThan(210);
});

test("ingest: a wrong key is refused in RTMP's own words", async () => {
  const { address } = openPort();
  const encoder = startEncoder(address("wrong"), { seconds: 5 });
  expect(await encoder.ended).not.toBe(0);
  expect(await encoder.messages).toContain("Unknown stream key");
});

test("ingest: a stream that is too large ends with its reason, which is not an error of the program", async () => {
  const { address, happened, seen } = openPort({ bitsPerSecondMax: 1_000 });
  const encoder = startEncoder(address("good"), { seconds: 60 });
  await happened("lost 1");
  await encoder.ended;
  expect(seen).toEqual([
    "started 320x180",
    "a feed was refused: the stream has more than 0 Mbit/s: lower the bit rate in the encoder",
    "refused: the stream has more than 0 Mbit/s: lower the bit rate in the encoder",
    "lost 1",
  ]);
});

test("ingest: the server ends the named feed, and no other of that video, world or number", async () => {
  const { port, address, happened } = openPort();
  const encoder = startEncoder(address("good"), { seconds: 60 });
  await happened("started 320x180");
  const feed = { world: "default", video: "1", session: 1 };
  port.drop([
    { ...feed, world: "other" },
    { ...feed, video: "2" },
    { ...feed, session: 2 },
  ]);
  // The test waits long enough for a disconnected encoder to notice the disconnection.
  expect(await Promise.race([encoder.ended, Bun.sleep(500).then(() => "goes on")])).toBe("goes on");
  port.drop([feed]);
  await encoder.ended;
});

test("ingest: while an encoder sends, another one with its key is refused", async () => {
  const { address, happened, seen } = openPort();
  const first = startEncoder(address("good"), { seconds: 30 });
  await happened("started 320x180");
  const second = startEncoder(address("good"), { seconds: 5 });
  expect(await second.ended).not.toBe(0);
  expect(await second.messages).toContain("Another encoder uses this key");
  expect(seen).toEqual(["started 320x180", expect.stringContaining("refused: another encoder sends")]);
  await first.stop();
  await happened("lost 1");
});

test("ingest: a half-open encoder is replaced by another one with its key", async () => {
  const { port, address, happened } = openPort();
  // This encoder is admitted, sends no media, and does not close its connection.
  const admitted = Promise.withResolvers<void>();
  const silent = await Bun.connect({
    ...{ hostname: "127.0.0.1", port: port.port },
    socket: { data: (_socket, bytes) => void (bytes.includes("NetStream.Publish.Start") && admitted.resolve()), close: () => {} },
  });
  for (const part of publishing("good")) silent.write(part);
  await admitted.promise;
  for (;;) {
    const encoder = startEncoder(address("good"), { seconds: 2, isFast: true });
    if ((await encoder.ended) === 0) break;
    expect(await encoder.messages).toContain("Another encoder uses this key");
  }
  await happened("lost 1");
});

test("ingest: LIVE-11: a stream without audio ends, and nothing of it is recorded", async () => {
  const { address, happened, recordings, seen } = openPort();
  const encoder = startEncoder(address("good"), { seconds: 10, hasAudio: false, isFast: true });
  await happened("no_audio 1");
  expect(await encoder.ended).not.toBe(0);
  expect(await readRecording(recordings, "default", "1")).toEqual([{ session: 1, segments: [], hasEnded: true }]);
  expect(seen).toContain("a feed was ended: The stream has no audio, and audio is required");
});

test("ingest: LIVE-11: the reason of a stream's end is reported, even if it ends before the server has admitted it", async () => {
  const admitted = Promise.withResolvers<void>();
  const { address, happened, seen } = openPort({ startWhen: () => admitted.promise });
  const encoder = startEncoder(address("good"), { seconds: 10, hasAudio: false, isFast: true });
  expect(await encoder.ended).not.toBe(0);
  admitted.resolve();
  await happened("no_audio 1");
  expect(seen.filter((event) => event.startsWith("lost"))).toEqual([]);
});

test("ingest: a stream that ends before the server has admitted it is recorded completely", async () => {
  const admitted = Promise.withResolvers<void>();
  const { address, happened, recordings } = openPort({ startWhen: () => admitted.promise });
  expect(await startEncoder(address("good"), { seconds: 3, isFast: true }).ended).toBe(0);
  admitted.resolve();
  await happened("lost 1");
  for (;;) {
    const [session] = await readRecording(recordings, "default", "1");
    if (session?.hasEnded !== true) continue;
    expect(session.segments.length).toBe(3);
    break;
  }
});

test("ingest: a port has stopped when the recording of an already closed connection is complete", async () => {
  const [asked, admitted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { port, address, happened, recordings } = openPort({
    startWhen: () => {
      asked.resolve();
      return admitted.promise;
    },
  });
  const encoder = startEncoder(address("good"), { seconds: 60 });
  await asked.promise;
  await encoder.kill();
  // The encoder's connection is closed, and the media that it sent wait until the gate admits the key.
  while (port.publisherOf({ world: "default", video: "1", session: 0 }) !== undefined) await Bun.sleep(1);
  const stopped = port.stop();
  admitted.resolve();
  await stopped;
  expect(readFileSync(join(recordings, "default", "1", "1", "index"), "utf8")).toEndWith("end\n");
  await happened("lost 1");
});

test("ingest: an encoder that dies and returns with another picture size gets a new session", async () => {
  const { address, happened, recordings } = openPort();
  const first = startEncoder(address("good"), { seconds: 30 });
  await happened("started 320x180");
  await first.kill();
  await happened("lost 1");
  const second = startEncoder(address("good"), { seconds: 3, size: "256x144", isFast: true });
  expect(await second.ended).toBe(0);
  await happened("lost 2");
  const sessions = await readRecording(recordings, "default", "1");
  expect(sessions.map(({ session, hasEnded }) => ({ session, hasEnded }))).toEqual([
    { session: 1, hasEnded: true },
    { session: 2, hasEnded: true },
  ]);
});

test("ingest: RTMPS: a stream over TLS is the same, and a renewed certificate does not affect it", async () => {
  const { port, happened, recordings } = openPort();
  const address = `rtmps://127.0.0.1:${port.securePort}/live/good`;
  const first = startEncoder(address, { seconds: 60 });
  await happened("started 320x180");
  const before = port.securePort;
  expect(() => port.renew({ ...CERTIFICATE, cert: "no certificate" })).toThrow("NO_START_LINE");
  port.renew(CERTIFICATE);
  expect(port.securePort).toBe(before);
  await first.stop();
  await happened("lost 1");
  const second = startEncoder(address, { seconds: 2, isFast: true });
  expect({ code: await second.ended, messages: await second.messages }).toEqual({ code: 0, messages: "" });
  await happened("lost 2");
  expect((await readRecording(recordings, "default", "1")).map(({ hasEnded }) => hasEnded)).toEqual([true, true]);
});

test("ingest: a full disk ends the recording", async () => {
  const { address, happened } = openPort({ reserveBytes: Number.MAX_SAFE_INTEGER });
  const encoder = startEncoder(address("good"), { seconds: 10, isFast: true });
  await happened("no_storage 1");
  expect(await encoder.ended).not.toBe(0);
});

test("ingest: garbage on the port ends its connection, and connections without a key are limited", async () => {
  const { port, address, happened } = openPort();
  const closed = (bytes: Uint8Array) =>
    new Promise<void>((resolve) => {
      void Bun.connect({
        ...{ hostname: "127.0.0.1", port: port.port },
        socket: { open: (socket) => void socket.write(bytes), data: () => {}, close: () => resolve(), error: () => resolve() },
      });
    });
  await closed(Uint8Array.from(Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
  await closed(Buffer.concat([handshake(), Buffer.alloc(64, 0xff)]));
  // Ten connections send nothing. While they are open, the port accepts no further connections without a key.
  const idle = await Promise.all(
    Array.from({ length: 10 }, () => Bun.connect({ hostname: "127.0.0.1", port: port.port, socket: { data: () => {} } })),
  );
  await closed(new Uint8Array(0));
  for (const socket of idle) socket.terminate();
  const encoder = startEncoder(address("good"), { seconds: 2, isFast: true });
  expect(await encoder.ended).toBe(0);
  await happened("lost 1");
});
