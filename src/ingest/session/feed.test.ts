/** Tests the health and the recording of a feed: the bit rate over five seconds, and all segments, including those from before the server's reply. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { RecordingSpace } from "#recordings/recording-space";
import type { Admission, FeedEnding, FeedGate, FeedName } from "../channel.ts";
import { type AudioPacket, readAudioTag, readVideoTag, type VideoPacket } from "../media/packets.ts";
import { Feed } from "./feed.ts";

/** The configurations of an H.264 video by x264 (320×180) and of AAC LC sound (mono). */
const VIDEO_CONFIG = readVideoTag(
  Buffer.from("1700000000" + "0142c00cffe100176742c00cda05067e7c0440000003004000000c83c50aa801000468ce0fc8", "hex"),
) as VideoPacket;
const AUDIO_CONFIG = readAudioTag(Buffer.from("af001208", "hex")) as AudioPacket;
const KEY_PICTURE = readVideoTag(Buffer.from("170100000000000002" + "6588", "hex")) as VideoPacket;
const PICTURE = readVideoTag(Buffer.from("270100000000000002" + "4188", "hex")) as VideoPacket;
const SOUND = readAudioTag(Buffer.from("af01211004608c1c", "hex")) as AudioPacket;
const SOUND_BYTES = 6;
const NAME: FeedName = { world: "w", video: "7", session: 2 } as FeedName;

function newFeed(admission: Admission | undefined | Promise<Admission | undefined> = { feed: NAME } as Admission, bitsPerSecondMax = 1_000) {
  const root = temporaryFolder();
  const [stopped, ended, asked]: [string[], [FeedName, FeedEnding][], unknown[]] = [[], [], []];
  const real = { ms: 10_000 };
  const gate = {
    start: async (key: string, config: { width: number }) => {
      asked.push([key, config.width]);
      return await admission;
    },
    end: (name: FeedName, ending: FeedEnding) => void ended.push([name, ending]),
  } as unknown as FeedGate;
  const feed = new Feed({
    ...{ gate, key: "the key", recordings: root, space: new RecordingSpace(root, { bytesMax: 0, reserveBytes: 0 }) },
    limits: { bitsPerSecondMax },
    realNowMs: () => real.ms,
    monotonicMs: () => real.ms,
    stop: (reason) => void stopped.push(reason),
    onError: () => {},
  });
  /** Sends pictures with the given times, sound with each picture, and a key frame every second. */
  const send = (fromMs: number, untilMs: number): void => {
    for (let ms = fromMs; ms < untilMs; ms += 100) {
      feed.video(ms, ms % 1_000 === 0 ? KEY_PICTURE : PICTURE);
      feed.audio(ms, SOUND);
    }
  };
  const begin = (): void => {
    feed.video(0, VIDEO_CONFIG);
    feed.audio(0, AUDIO_CONFIG);
  };
  const index = () => readFileSync(join(root, "w", "7", "2", "index"), "utf8");
  return { feed, root, real, stopped, ended, asked, begin, send, index };
}

test("too much is more than the limit over five seconds, not in one of them, and not exactly the limit", () => {
  const { feed } = newFeed(undefined, 8_000);
  const second = (bytes: number): void => {
    feed.video(0, { ...VIDEO_CONFIG, bytes: Buffer.concat([VIDEO_CONFIG.bytes, new Uint8Array(bytes - VIDEO_CONFIG.bytes.length)]) } as VideoPacket);
    feed.tick();
  };
  second(4_500);
  for (const bytes of [100, 100, 100, 200]) second(bytes);
  // 5,000 bytes in five seconds are 8,000 bits a second; the average no longer includes the first second.
  for (const bytes of [4_500, 100, 100, 100]) second(bytes);
  expect(() => second(201)).toThrow("the stream has more than 0 Mbit/s");
  const { feed: large } = newFeed(undefined, 2_600_000);
  for (let n = 0; n < 4; n++) large.tick();
  large.video(0, { ...VIDEO_CONFIG, bytes: Buffer.concat([VIDEO_CONFIG.bytes, new Uint8Array(2_000_000)]) } as VideoPacket);
  expect(() => large.tick()).toThrow("the stream has more than 3 Mbit/s");
});

test("its health is known from the first second on, as an average of the last five", async () => {
  const { feed, begin, send, asked } = newFeed();
  begin();
  expect(feed.health).toBeUndefined();
  send(0, 1_000);
  await Bun.sleep(0);
  expect([asked, feed.health]).toEqual([[["the key", 320]], undefined]);
  feed.tick();
  const configBytes = VIDEO_CONFIG.bytes.length;
  const [pictures, sounds] = [10 * 6, 10 * SOUND_BYTES];
  expect(feed.health).toEqual({
    ...{
      world: "w",
      video: "7",
      session: 2,
      width: 320,
      height: 180,
      gaps: 0,
      clock_steps: 0,
      audio_behind_ms: 0,
      key_frame_ms: null,
      frames_per_second: 10,
    },
    ...{ bits_per_second: 8 * (configBytes + pictures + sounds), audio_bits_per_second: 8 * sounds },
  } as never);
  send(1_000, 2_500);
  feed.tick();
  expect(feed.health).toMatchObject({ key_frame_ms: 1_000, frames_per_second: 12.5, audio_bits_per_second: (8 * 25 * SOUND_BYTES) / 2 });
  for (let n = 0; n < 5; n++) feed.tick();
  expect(feed.health).toMatchObject({ frames_per_second: 0, bits_per_second: 0, audio_bits_per_second: 0 });
  expect([feed.is(NAME), feed.is({ ...NAME, session: 3 }), feed.is({ ...NAME, world: "x" }), feed.is({ ...NAME, video: "8" })]).toEqual([
    ...[true, false, false, false],
  ]);
  await feed.end(undefined);
  expect(feed.health).toBeUndefined();
});

test("packets from before the server's response are recorded first, and everything is there at the end, which the server learns once", async () => {
  const gate = Promise.withResolvers<Admission | undefined>();
  const { feed, begin, send, real, index, ended, stopped, root } = newFeed(gate.promise);
  begin();
  send(0, 2_100);
  expect(readdirSync(root)).toEqual([]);
  const ending = feed.end("lost");
  gate.resolve({ feed: NAME } as Admission);
  await ending;
  await feed.end("lost");
  const lines = index().split("\n");
  expect(lines.map((line) => line.split(" ")[0])).toEqual(["1000", "1000", "33", "end", ""]);
  // The index of the recording shows that no segment begins before the feed.
  expect(lines.slice(0, 3).map((line) => Number(line.split(" ")[2]))).toEqual([real.ms, real.ms, real.ms]);
  expect({ ended, stopped }).toEqual({ ended: [[NAME, "lost"]], stopped: [] });
  // The feed drops media that arrive after its end.
  send(3_000, 5_000);
  expect(index()).toBe(lines.join("\n"));
});

test("a segment begins earlier by its duration", async () => {
  const { feed, begin, send, real, index } = newFeed();
  begin();
  send(0, 1_000);
  await Bun.sleep(0);
  real.ms += 1_500;
  send(1_000, 1_100);
  await feed.end(undefined);
  expect(index().split("\n")[0]?.split(" ")[2]).toBe("10500");
});

test("a key that is no longer valid stops the publisher, and leaves no recording", async () => {
  const { feed, begin, send, stopped, root, ended } = newFeed(Promise.resolve(undefined));
  begin();
  send(0, 100);
  await Bun.sleep(1);
  send(100, 3_000);
  await feed.end("lost");
  expect({ stopped, ended, files: readdirSync(root) }).toEqual({ stopped: ["The stream key is no longer valid"], ended: [], files: [] });
});

test("a stream without audio is stopped, and the server learns why", async () => {
  const { feed, stopped, ended } = newFeed();
  feed.video(0, VIDEO_CONFIG);
  for (let ms = 0; ms < 5_000; ms += 100) feed.video(ms, ms % 1_000 === 0 ? KEY_PICTURE : PICTURE);
  await feed.end(undefined);
  while (ended.length === 0) await Bun.sleep(1);
  expect({ stopped, ended }).toEqual({ stopped: ["The stream has no audio, and audio is required"], ended: [[NAME, "no_audio"]] });
});
