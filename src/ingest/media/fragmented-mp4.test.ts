import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { probe } from "#harness/live/encoder";
import { AVC_CONFIG, OPUS_HEAD, OPUS_PACKET, picture } from "#harness/live/websocket";
import { temporaryFolder } from "#harness/server";
import { readAacConfig } from "./aac.ts";
import { FragmentedMp4 } from "./fragmented-mp4.ts";
import { readVideoConfig } from "./h264.ts";
import { opusSamples, readOpusConfig } from "./opus.ts";
import type { AudioConfig } from "./packets.ts";
import { MediaProblem } from "./problem.ts";

const video = readVideoConfig(AVC_CONFIG);
const opus = readOpusConfig(OPUS_HEAD);
/** AAC LC, 44.1 kHz, mono. */
const aac = readAacConfig(Buffer.from("1208", "hex"));

const showing = (container: FragmentedMp4, decodeMs: number, showMs = decodeMs, config = video) =>
  container.addPicture({ config, isKey: decodeMs % 1000 === 0, decodeMs, showMs, bytes: picture(decodeMs % 1000 === 0) });
const sounding = (container: FragmentedMp4, ms: number, config: AudioConfig, bytes: Uint8Array, count = 1) =>
  container.addSound({ config, ms, frames: Array.from({ length: count }, () => bytes) });

/** What ffprobe reads of the segments one after the other, in ms. */
async function timesOf(container: FragmentedMp4, segments: readonly Uint8Array[]) {
  const { head } = container.take(0);
  const path = join(temporaryFolder(), "joined.mp4");
  writeFileSync(path, Buffer.concat([head as Uint8Array, ...segments]));
  const { packets } = await probe(path);
  const ms = (text: string): number => Math.round(Number(text) * 1000);
  const of = (kind: "video" | "audio") => packets.filter(({ codec_type }) => codec_type === kind);
  return {
    video: of("video").map(({ dts_time, pts_time, flags }) => [ms(dts_time), ms(pts_time), flags.startsWith("K")]),
    audio: of("audio").map(({ pts_time }) => ms(pts_time)),
  };
}

test("CMAF: pictures keep both of their times, also over segments, and sound is one line of samples", async () => {
  const container = new FragmentedMp4();
  showing(container, 0, 80);
  showing(container, 40, 200);
  showing(container, 80, 80);
  // Rounded times: the samples are 20 ms long.
  for (const ms of [1, 21, 40, 61]) sounding(container, ms, opus, OPUS_PACKET);
  const first = container.take(1000).bytes;
  showing(container, 1000, 1000);
  sounding(container, 80, opus, OPUS_PACKET, 2);
  // A gap of 500 ms.
  sounding(container, 620, opus, OPUS_PACKET);
  const second = container.take(1040).bytes;
  expect(container.isEmpty).toBe(true);
  expect(await timesOf(container, [first, second])).toEqual({
    video: [
      [0, 80, true],
      [40, 200, false],
      [80, 80, false],
      [1000, 1000, true],
    ],
    audio: [1, 21, 41, 61, 81, 101, 620],
  });
});

test("CMAF: AAC of an encoder", async () => {
  const container = new FragmentedMp4();
  showing(container, 0);
  sounding(container, 0, aac, Buffer.from("211004608c1c", "hex"), 3);
  const { bytes } = container.take(40);
  expect((await timesOf(container, [bytes])).audio).toEqual([0, 23, 46]);
});

test("CMAF: another configuration of picture or sound needs another session", () => {
  const container = new FragmentedMp4();
  showing(container, 0);
  sounding(container, 0, opus, OPUS_PACKET);
  showing(container, 40, 40, readVideoConfig(Uint8Array.from(AVC_CONFIG)));
  sounding(container, 20, readOpusConfig(OPUS_HEAD), OPUS_PACKET);
  const other = Uint8Array.from(AVC_CONFIG);
  other[3] = 13;
  expect(() => showing(container, 80, 80, { ...video, bytes: other })).toThrow(/connect again/);
  expect(() => sounding(container, 40, aac, OPUS_PACKET)).toThrow(/connect again/);
});

test("Opus: the length of a packet stands in its first bytes (RFC 6716, 3.1); a header that is none is refused", () => {
  const lengths = [[0x00], [0x18], [0x60], [0x78], [0x80], [0xf8], [0xf9], [0xfb, 0x03]].map((bytes) => opusSamples(Uint8Array.from(bytes)));
  expect(lengths).toEqual([480, 2880, 480, 960, 120, 960, 1920, 2880]);
  expect(() => opusSamples(Uint8Array.of(0xfb, 0))).toThrow(MediaProblem);
  expect(() => opusSamples(Uint8Array.of(0xfb, 7))).toThrow(MediaProblem);
  expect(opus).toMatchObject({ channels: 1, preSkip: 312, gain: 0 });
  const surround = Uint8Array.from(OPUS_HEAD);
  surround[9] = 6;
  for (const header of [surround, OPUS_HEAD.subarray(0, 18), Buffer.from("x".repeat(19))])
    expect(() => readOpusConfig(header)).toThrow(/Opus header/);
});

test("ISO/IEC 14496-12: neither track has a language", () => {
  const container = new FragmentedMp4();
  showing(container, 0);
  sounding(container, 0, opus, OPUS_PACKET);
  const head = Buffer.from(container.take(0).head as Uint8Array);
  const languages: string[] = [];
  for (let at = head.indexOf("mdhd"); at !== -1; at = head.indexOf("mdhd", at + 1)) {
    // Behind the type: version and flags, two times, the scale and the duration.
    const packed = head.readUInt16BE(at + 4 + 4 + 8 + 4 + 4);
    languages.push(String.fromCharCode(...[10, 5, 0].map((shift) => ((packed >> shift) & 31) + 0x60)));
  }
  expect(languages).toEqual(["und", "und"]);
});
