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
import { Packager } from "./packager.ts";
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

/** What ffprobe reads of the segments one after the other, in ms; and how loud they are at most, in dB. */
async function readBy(container: FragmentedMp4, segments: readonly Uint8Array[]) {
  const { head } = container.take(0);
  const path = join(temporaryFolder(), "joined.mp4");
  writeFileSync(path, Buffer.concat([head as Uint8Array, ...segments]));
  const { packets } = await probe(path);
  const ms = (text: string): number => Math.round(Number(text) * 1000);
  const of = (kind: "video" | "audio") => packets.filter(({ codec_type }) => codec_type === kind);
  return {
    path,
    video: of("video").map(({ dts_time, pts_time, flags }) => [ms(dts_time), ms(pts_time), flags.startsWith("K")]),
    audio: of("audio").map(({ pts_time }) => ms(pts_time)),
  };
}

/** The loudest sample that ffmpeg decodes, in dB; -91 is none. */
async function loudness(path: string): Promise<{ readonly samples: number; readonly maxDb: number }> {
  const child = Bun.spawn(["ffmpeg", "-hide_banner", "-i", path, "-map", "0:a", "-af", "volumedetect", "-f", "null", "-"], { stderr: "pipe" });
  const text = await new Response(child.stderr).text();
  const number = (name: string): number => Number(new RegExp(`${name}: (-?[0-9.]+)`).exec(text)?.[1]);
  return { samples: number("n_samples"), maxDb: number("max_volume") };
}

/** From the first to the last time, one every so many ms. */
const every = (stepMs: number, fromMs: number, toMs: number): number[] =>
  Array.from({ length: Math.round((toMs - fromMs) / stepMs) + 1 }, (_, nth) => Math.round(fromMs + nth * stepMs));

test("CMAF: pictures keep both of their times, also over segments, and sound is one line of samples", async () => {
  const container = new FragmentedMp4();
  showing(container, 0, 80);
  showing(container, 40, 200);
  showing(container, 80, 80);
  // Rounded times: the samples are 20 ms long.
  for (const ms of [0, 21, 40, 61]) sounding(container, ms, opus, OPUS_PACKET);
  const first = container.take(1000).bytes;
  showing(container, 1000, 1000);
  sounding(container, 80, opus, OPUS_PACKET, 2);
  const second = container.take(1040).bytes;
  expect(container.isEmpty).toBe(true);
  expect(await readBy(container, [first, second])).toMatchObject({
    video: [
      [0, 80, true],
      [40, 200, false],
      [80, 80, false],
      [1000, 1000, true],
    ],
    audio: [0, 20, 40, 60, 80, 100],
  });
});

test("CMAF: AAC of an encoder", async () => {
  const container = new FragmentedMp4();
  showing(container, 0);
  sounding(container, 0, aac, Buffer.from("211004608c1c", "hex"), 3);
  const { bytes } = container.take(40);
  expect((await readBy(container, [bytes])).audio).toEqual([0, 23, 46]);
});

test("D-117, CMAF: where the encoder sent no sound there is silence: before the first sound, in a gap, and until the last picture ends", async () => {
  const container = new FragmentedMp4();
  showing(container, 1000);
  sounding(container, 1200, opus, OPUS_PACKET);
  const first = container.take(2000).bytes;
  showing(container, 2000);
  sounding(container, 2001, opus, OPUS_PACKET);
  const second = container.take(3000).bytes;
  showing(container, 3000);
  sounding(container, 3020, opus, OPUS_PACKET);
  const last = container.take(3093, true).bytes;
  expect((await readBy(container, [first])).audio).toEqual(every(20, 1000, 1200));
  expect((await readBy(container, [first, second])).audio).toEqual(every(20, 1000, 2020));
  expect((await readBy(container, [first, second, last])).audio).toEqual(every(20, 1000, 3080));
});

test("CMAF: sound that comes 50 ms too late comes at a trembling time; 51 ms are a gap, in whole frames", async () => {
  for (const [ms, times] of [
    [1070, [1000, 1020]],
    [1071, [1000, 1020, 1040, 1060, 1080]],
  ] as const) {
    const container = new FragmentedMp4();
    showing(container, 1000);
    sounding(container, 1000, opus, OPUS_PACKET);
    sounding(container, ms, opus, OPUS_PACKET);
    expect((await readBy(container, [container.take(1040).bytes])).audio).toEqual([...times]);
  }
});

test("D-117, CMAF: the sound begins with the first picture, if only by a millisecond, or before it", async () => {
  for (const [ms, times] of [
    [1001, [1000, 1020]],
    [1000, [1000]],
    [999, [999]],
  ] as const) {
    const container = new FragmentedMp4();
    showing(container, 1000);
    sounding(container, ms, opus, OPUS_PACKET);
    expect((await readBy(container, [container.take(1010, true).bytes])).audio).toEqual([...times]);
  }
});

test("D-117, CMAF: a segment without sound is silent, and what comes for it later is left out", async () => {
  const container = new FragmentedMp4();
  showing(container, 0);
  sounding(container, 0, opus, OPUS_PACKET);
  const segments = [container.take(1000).bytes];
  showing(container, 1000);
  segments.push(container.take(2000).bytes);
  showing(container, 2000);
  // The silence ends at 2,000 ms; the third of them begins there.
  sounding(container, 1960, opus, OPUS_PACKET, 4);
  segments.push(container.take(3000).bytes);
  expect((await readBy(container, segments.slice(1, 2))).audio).toEqual(every(20, 20, 1980));
  expect((await readBy(container, segments)).audio).toEqual(every(20, 0, 2020));
});

test("CMAF: sound that is ahead of its pictures is not left out, though the segment between has none of its own", async () => {
  const container = new FragmentedMp4();
  showing(container, 0);
  sounding(container, 0, opus, OPUS_PACKET, 60);
  const segments = [container.take(1000).bytes];
  showing(container, 1000);
  segments.push(container.take(1200).bytes);
  showing(container, 1200);
  // Trembling times.
  sounding(container, 1195, opus, OPUS_PACKET, 2);
  segments.push(container.take(1240).bytes);
  expect((await readBy(container, segments)).audio).toEqual(every(20, 0, 1220));
});

test("D-117, CMAF: decoders hear nothing in the silence, of Opus and of AAC, mono and stereo; other sound lasts longer instead", async () => {
  const stereoHead = Uint8Array.from(OPUS_HEAD);
  stereoHead[9] = 2;
  const [stereo, fast, surround] = ["1210", "1010", "1230"].map((hex) => readAacConfig(Buffer.from(hex, "hex"))) as AudioConfig[];
  const configs = [opus, readOpusConfig(stereoHead), aac, stereo, fast] as AudioConfig[];
  for (const config of configs) {
    const container = new FragmentedMp4();
    showing(container, 0);
    container.addSound({ config, ms: 0, frames: [] });
    const { path, audio } = await readBy(container, [container.take(2000, true).bytes]);
    const { samples, maxDb } = await loudness(path);
    const rate = config.codec === "opus" ? 48_000 : config.sampleRate;
    expect({ maxDb, isLong: samples >= 1.98 * rate * config.channels, packets: audio.length }).toEqual({
      maxDb: -91,
      isLong: true,
      packets: Math.ceil((2 * rate) / (config.codec === "opus" ? 960 : 1024)),
    });
  }
  const main = readAacConfig(Buffer.from("0a10", "hex"));
  for (const config of [surround as AudioConfig, main]) {
    const container = new FragmentedMp4();
    showing(container, 0);
    for (const ms of [0, 1000]) sounding(container, ms, config, Buffer.from("211004608c1c", "hex"));
    expect((await readBy(container, [container.take(1040).bytes])).audio).toEqual([0, 1000]);
  }
});

test("D-117, CMAF: times that jump on purpose make 20 s of silence in a segment and no more", () => {
  const bytesAfter = (jumps: number): number => {
    const container = new FragmentedMp4();
    showing(container, 0);
    for (let nth = 0; nth <= jumps; nth++) sounding(container, nth * 19_990, opus, OPUS_PACKET);
    return container.take(40).bytes.length;
  };
  const [none, one, two, fifty] = [0, 1, 2, 50].map(bytesAfter) as [number, number, number, number];
  const perFrame = 11;
  expect(one - none).toBe(999 * perFrame + OPUS_PACKET.length + 8);
  // The one frame that is left of the 20 s, and the packets.
  expect(two - one).toBe(perFrame + OPUS_PACKET.length + 8);
  expect(fifty - two).toBe(48 * (OPUS_PACKET.length + 8));
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

test("CMAF: a picture of another configuration behind a cut leaves no segment without pictures", () => {
  const segments: number[] = [];
  const packager = new Packager(new FragmentedMp4(), {
    began: () => {},
    segment: ({ durationMs }) => void segments.push(durationMs),
    audioMissing: () => {},
  });
  const key = (ms: number): void => packager.addVideo(ms, { kind: "frame", isKey: true, compositionMs: 0, bytes: picture(true) });
  packager.addVideo(0, { kind: "config", bytes: AVC_CONFIG });
  packager.addAudio(0, { kind: "config", config: opus });
  key(0);
  packager.addAudio(0, { kind: "frame", bytes: OPUS_PACKET });
  const other = Uint8Array.from(AVC_CONFIG);
  other[3] = 13;
  packager.addVideo(1_000, { kind: "config", bytes: other });
  expect(() => key(1_000)).toThrow("connect again");
  packager.end();
  expect(segments).toEqual([1_000]);
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
