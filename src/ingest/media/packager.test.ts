import { expect, test } from "bun:test";
import { readAudioTag, readVideoTag } from "./flv.ts";
import { Packager } from "./packager.ts";
import type { AudioPacket, VideoPacket } from "./packets.ts";
import { MediaProblem } from "./problem.ts";
import { TransportStream } from "./transport-stream.ts";

/** Of x264: 320×180, baseline. */
const VIDEO_CONFIG = Buffer.from("1700000000" + "0142c00cffe100176742c00cda05067e7c0440000003004000000c83c50aa801000468ce0fc8", "hex");
/** AAC LC, 44.1 kHz, mono. */
const AUDIO_CONFIG = Buffer.from("af001208", "hex");
const picture = (isKey: boolean): Uint8Array => Buffer.from(`${isKey ? "17" : "27"}01000000${"00000002"}${isKey ? "65" : "41"}88`, "hex");
const sound = Buffer.from("af01211004608c1c", "hex");

const video = (body: Uint8Array): VideoPacket => readVideoTag(body) as VideoPacket;
const audio = (body: Uint8Array): AudioPacket => readAudioTag(body) as AudioPacket;

const FRAME_MS = 40;
const SOUND_MS = 20;

/** Sends pictures, with a key frame every `keyMs`, and sound, each from and until some time (ms). */
function send(until: { video: number; audio: number }, { keyMs = 2000, announced = false, start = 0, config = true } = {}) {
  const seen: string[] = [];
  const packager = new Packager(new TransportStream(), {
    began: ({ width, height, codec }) => seen.push(`began ${width}x${height} ${codec}`),
    segment: ({ durationMs }) => seen.push(`segment ${durationMs}`),
    audioMissing: () => seen.push("audio missing"),
  });
  packager.addVideo(start, video(VIDEO_CONFIG));
  if (announced) packager.announceAudio();
  if (config && until.audio > 0) packager.addAudio(start, audio(AUDIO_CONFIG));
  for (let ms = 0; ms < Math.max(until.video, until.audio); ms += SOUND_MS) {
    if (ms < until.video && ms % FRAME_MS === 0) packager.addVideo((start + ms) >>> 0, video(picture(ms % keyMs === 0)));
    if (ms < until.audio) packager.addAudio((start + ms) >>> 0, audio(sound));
  }
  return { packager, seen };
}

test("segments go from key frame to key frame, and the last one ends with the last picture", () => {
  const { packager, seen } = send({ video: 5000, audio: 5000 });
  packager.end();
  packager.end();
  expect(seen).toEqual(["began 320x180 avc1.42c00c", "segment 2000", "segment 2000", "segment 993"]);
});

test("key frames that come faster do not make segments of less than a second", () => {
  expect(send({ video: 4100, audio: 4100 }, { keyMs: 400 }).seen.slice(1)).toEqual(["segment 1200", "segment 1200", "segment 1200"]);
});

test("times that wrap after 49 days go on", () => {
  expect(send({ video: 4100, audio: 4100 }, { start: 2 ** 32 - 2000 }).seen.slice(1)).toEqual(["segment 2000", "segment 2000"]);
});

test("LIVE-11, D-51: without sound 2 s of video end the stream, and 4 s where sound is announced; nothing of it is a segment", () => {
  expect(send({ video: 2000, audio: 0 }).seen).toEqual(["began 320x180 avc1.42c00c"]);
  expect(send({ video: 2080, audio: 0 }).seen).toEqual(["began 320x180 avc1.42c00c", "audio missing"]);
  expect(send({ video: 4000, audio: 0 }, { announced: true }).seen).toEqual(["began 320x180 avc1.42c00c"]);
  expect(send({ video: 20_000, audio: 0 }, { announced: true }).seen).toEqual(["began 320x180 avc1.42c00c", "audio missing"]);
});

test("LIVE-11, D-51: sound that stops ends the stream after 10 s", () => {
  expect(send({ video: 13_000, audio: 3000 }).seen).not.toContain("audio missing");
  expect(send({ video: 30_000, audio: 3000 }).seen.at(-1)).toBe("audio missing");
});

test("what is no H.264 or AAC, is broken, or has no key frames, is refused with words for the person at the encoder", () => {
  const { packager } = send({ video: 100, audio: 100 });
  expect(() => video(Uint8Array.of(0x12, 0))).toThrow(/H\.264/);
  expect(() => video(Uint8Array.of(0x90, 0, 0))).toThrow(/H\.264/);
  expect(() => audio(Uint8Array.of(0x2f, 0))).toThrow(/AAC/);
  expect(() => audio(Buffer.from("af00", "hex"))).toThrow(MediaProblem);
  expect(() => packager.addVideo(200, video(Buffer.from("1700000000" + "0142c00cffe1ffff67", "hex")))).toThrow(MediaProblem);
  expect(() => packager.addVideo(200, video(Buffer.from("2701000000" + "00ffffff41", "hex")))).toThrow(/cut off/);
  expect(() => packager.addVideo(1_000_000, video(picture(false)))).toThrow(/jump/);
  expect(() => send({ video: 30_000, audio: 30_000 }, { keyMs: 1_000_000 })).toThrow(/key frame/);
  expect(() => send({ video: 0, audio: 11_000 })).toThrow(/no picture/);
});

test("sound is behind by nothing before there is anything, and where it goes ahead; else by what the newest picture is newer", () => {
  expect(send({ video: 0, audio: 0 }).packager.audioBehindMs).toBe(0);
  expect(send({ video: 40, audio: 40 }).packager.audioBehindMs).toBe(0);
  expect(send({ video: 1_000, audio: 2_000 }).packager.audioBehindMs).toBe(0);
  // The last picture came at 1,960 ms, the last sound at 980.
  expect(send({ video: 2_000, audio: 1_000 }).packager.audioBehindMs).toBe(980);
  expect(send({ video: 1_000, audio: 0 }).packager.audioBehindMs).toBe(960);
});

test("pictures that are missing for a quarter of a second are a gap, also right after the first one, and the sound before it is none", () => {
  const gapsOf = (soundMs: number, ...pictureMs: readonly number[]): number => {
    const { packager } = send({ video: 0, audio: soundMs });
    for (const [nth, ms] of pictureMs.entries()) packager.addVideo(ms, video(picture(nth === 0)));
    return packager.gaps;
  };
  expect([gapsOf(0, 0, 249), gapsOf(0, 0, 250), gapsOf(0, 0, 40, 290, 330, 600)]).toEqual([0, 1, 2]);
  expect([gapsOf(400, 400, 440), gapsOf(400, 400, 650)]).toEqual([0, 1]);
});
