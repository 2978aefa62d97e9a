import { expect, test } from "bun:test";
import fc from "fast-check";
import { MediaProblem } from "./bits.ts";
import { Packager } from "./packager.ts";
import { type AudioPacket, readAudioTag, readVideoTag, type VideoPacket } from "./packets.ts";
import { TransportStream } from "./transport-stream.ts";

/** A configuration of x264: 320×180, baseline. */
const VIDEO_CONFIG = Buffer.from("1700000000" + "0142c00cffe100176742c00cda05067e7c0440000003004000000c83c50aa801000468ce0fc8", "hex");
/** The H.264 configuration above with 24 as its level. */
const OTHER_VIDEO_CONFIG = Buffer.from(VIDEO_CONFIG.toString("hex").replaceAll("42c00c", "42c018"), "hex");
/** A configuration of AAC LC, 44.1 kHz, mono. */
const AUDIO_CONFIG = Buffer.from("af001208", "hex");
/** The AAC configuration above with 48 kHz. */
const AUDIO_CONFIG_48 = Buffer.from("af001188", "hex");
const picture = (isKey: boolean): Uint8Array => Buffer.from(`${isKey ? "17" : "27"}01000000${"00000002"}${isKey ? "65" : "41"}88`, "hex");
const sound = Buffer.from("af01211004608c1c", "hex");

const video = (body: Uint8Array): VideoPacket => readVideoTag(body) as VideoPacket;
const audio = (body: Uint8Array): AudioPacket => readAudioTag(body) as AudioPacket;

const FRAME_MS = 40;
const SOUND_MS = 20;

/** Sends pictures, with a key frame every `keyMs`, and sound, from `start` until the given times (ms). */
function send(until: { video: number; audio: number }, { keyMs = 2000, announced = false, start = 0, config = true } = {}) {
  const seen: string[] = [];
  let now = 0;
  const packager = new Packager(new TransportStream(), {
    began: ({ width, height, codec }) => seen.push(`began ${width}x${height} ${codec}`),
    segment: ({ durationMs }) => seen.push(`segment ${durationMs}`),
    audioMissing: () => seen.push("audio missing"),
    monotonicMs: () => now,
  });
  packager.addVideo(start, video(VIDEO_CONFIG));
  if (announced) packager.announceAudio();
  if (config && until.audio > 0) packager.addAudio(start, audio(AUDIO_CONFIG));
  for (let ms = 0; ms < Math.max(until.video, until.audio); ms += SOUND_MS) {
    now = ms;
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

test("key frames at shorter distances do not make segments of less than a second", () => {
  expect(send({ video: 4100, audio: 4100 }, { keyMs: 400 }).seen.slice(1)).toEqual(["segment 1200", "segment 1200", "segment 1200"]);
});

test("times that wrap after 49 days continue", () => {
  expect(send({ video: 4100, audio: 4100 }, { start: 2 ** 32 - 2000 }).seen.slice(1)).toEqual(["segment 2000", "segment 2000"]);
});

test("LIVE-11, D-51: without audio 2 s of video end the stream, or 4 s if audio is announced, and none of it is a segment", () => {
  expect(send({ video: 2000, audio: 0 }).seen).toEqual(["began 320x180 avc1.42c00c"]);
  expect(send({ video: 2080, audio: 0 }).seen).toEqual(["began 320x180 avc1.42c00c", "audio missing"]);
  expect(send({ video: 4000, audio: 0 }, { announced: true }).seen).toEqual(["began 320x180 avc1.42c00c"]);
  expect(send({ video: 20_000, audio: 0 }, { announced: true }).seen).toEqual(["began 320x180 avc1.42c00c", "audio missing"]);
});

test("LIVE-11, D-51: audio that stops ends the stream after 10 s", () => {
  expect(send({ video: 13_000, audio: 3000 }).seen).not.toContain("audio missing");
  expect(send({ video: 30_000, audio: 3000 }).seen.at(-1)).toBe("audio missing");
});

test("another codec, a broken stream, or one without key frames is refused with a reason for the person at the encoder", () => {
  const { packager } = send({ video: 100, audio: 100 });
  expect(() => video(Uint8Array.of(0x12, 0))).toThrow(/H\.264/);
  expect(() => audio(Uint8Array.of(0x2f, 0))).toThrow(/AAC/);
  expect(() => audio(Buffer.from("af00", "hex"))).toThrow(MediaProblem);
  expect(() => packager.addVideo(200, video(Buffer.from("1700000000" + "0142c00cffe1ffff67", "hex")))).toThrow(MediaProblem);
  expect(() => packager.addVideo(200, video(Buffer.from("2701000000" + "00ffffff41", "hex")))).toThrow(/cut off/);
  expect(() => send({ video: 30_000, audio: 30_000 }, { keyMs: 1_000_000 })).toThrow(/key frame/);
  expect(() => send({ video: 0, audio: 11_000 })).toThrow(/no picture/);
});

test("the audio delay is zero before there is audio, or if it is ahead; otherwise the distance to the newest picture", () => {
  expect(send({ video: 0, audio: 0 }).packager.audioBehindMs).toBe(0);
  expect(send({ video: 40, audio: 40 }).packager.audioBehindMs).toBe(0);
  expect(send({ video: 1_000, audio: 2_000 }).packager.audioBehindMs).toBe(0);
  // The last picture came at 1,960 ms, and the last sound at 980 ms.
  expect(send({ video: 2_000, audio: 1_000 }).packager.audioBehindMs).toBe(980);
  expect(send({ video: 1_000, audio: 0 }).packager.audioBehindMs).toBe(960);
});

test("missing pictures for a quarter of a second are a gap, even after the first one; audio before it is not", () => {
  const gapsOf = (soundMs: number, ...pictureMs: readonly number[]): number => {
    const { packager } = send({ video: 0, audio: soundMs });
    for (const [nth, ms] of pictureMs.entries()) packager.addVideo(ms, video(picture(nth === 0)));
    return packager.gaps;
  };
  expect([gapsOf(0, 0, 249), gapsOf(0, 0, 250), gapsOf(0, 0, 40, 290, 330, 600)]).toEqual([0, 1, 2]);
  expect([gapsOf(400, 400, 440), gapsOf(400, 400, 650)]).toEqual([0, 1]);
});

/** A container that records the packets that the packager adds; its segments are empty. */
function watched() {
  const seen: string[] = [];
  let count = 0;
  let now = 0;
  const packager = new Packager(
    {
      get isEmpty() {
        return count === 0;
      },
      addPicture: ({ isKey, decodeMs, showMs }) => {
        count++;
        seen.push(`${isKey ? "key" : "picture"} ${decodeMs} ${showMs}`);
      },
      addSound: ({ ms, frames, config }) => {
        count++;
        const isUsual = config.sampleRate === 44_100;
        seen.push(`sound ${ms} ${frames.length}${isUsual ? "" : " at 48 kHz"}`);
      },
      take: () => {
        count = 0;
        return new Uint8Array();
      },
    },
    {
      began: () => void seen.push("began"),
      segment: ({ durationMs, isDiscontinuous }) => void seen.push(`segment ${durationMs}${isDiscontinuous ? ", discontinuous" : ""}`),
      audioMissing: () => void seen.push("audio missing"),
      monotonicMs: () => now,
    },
  );
  /** Sends a picture whose time stamp is also its time of arrival, unless `arrivedMs` is given. */
  const at = (ms: number, isKey = false, compositionMs = 0, arrivedMs = ms): void => {
    now = arrivedMs;
    packager.addVideo(ms, { kind: "frame", isKey, compositionMs, bytes: Uint8Array.of(0, 0, 0, 1, 9) });
  };
  const hearAt = (ms: number, arrivedMs: number): void => {
    now = arrivedMs;
    packager.addAudio(ms, audio(sound));
  };
  const hear = (...times: readonly number[]): void => {
    for (const ms of times) hearAt(ms, ms);
  };
  const configure = (): void => {
    packager.addVideo(0, video(VIDEO_CONFIG));
    packager.addAudio(0, audio(AUDIO_CONFIG));
  };
  return { packager, seen, at, hear, hearAt, configure };
}

test("packets before the first key frame or its configuration are dropped, except for their time", () => {
  const { seen, at, hear, configure } = watched();
  at(0, true);
  hear(0);
  expect(seen).toEqual([]);
  configure();
  at(0);
  hear(0, 20);
  expect(seen).toEqual([]);
  at(40, true, 80);
  expect(seen).toEqual(["began", "key 40 120"]);
  at(80, false, -20);
  expect(seen.at(-1)).toBe("picture 80 60");
});

test("audio is collected for 150 ms, or until the segment's end", () => {
  const { packager, seen, at, hear, configure } = watched();
  configure();
  at(0, true);
  hear(0, 149);
  expect(seen).toEqual(["began", "key 0 0"]);
  hear(150, 160);
  expect(seen.slice(2)).toEqual(["sound 0 3"]);
  packager.end();
  expect(seen.slice(3)).toEqual(["sound 160 1", "segment 33"]);
  // After the end, the packager ignores further packets.
  at(1_100, true);
  hear(1_100, 1_300);
  expect(seen.slice(5)).toEqual([]);
});

test("D-297: audio of another form begins with the next segment, which is discontinuous and may begin before a second is over", () => {
  const { packager, seen, at, hear, configure } = watched();
  configure();
  at(0, true);
  hear(20);
  // If the encoder sends the same configuration a second time, nothing changes.
  packager.addAudio(30, audio(AUDIO_CONFIG));
  hear(40);
  packager.addAudio(50, audio(AUDIO_CONFIG_48));
  hear(60, 300);
  at(320);
  at(400, true);
  hear(410);
  packager.end();
  expect(seen).toEqual([
    ...["began", "key 0 0", "picture 320 320", "sound 20 2", "segment 400", "key 400 400", "sound 410 1 at 48 kHz", "segment 33, discontinuous"],
  ]);
});

test("D-297: pictures of another form begin a discontinuous segment, and a repeated configuration does not", () => {
  const { packager, seen, at, hear, configure } = watched();
  configure();
  at(0, true);
  hear(20);
  packager.addVideo(0, video(VIDEO_CONFIG));
  at(300, true);
  packager.addVideo(400, video(OTHER_VIDEO_CONFIG));
  at(440, true);
  packager.end();
  expect(seen.slice(2)).toEqual(["key 300 300", "sound 20 1", "segment 440", "key 440 440", "segment 33, discontinuous"]);
});

test("D-297: no segment is longer than six seconds when rounded, at any distance of key frames and any pause of pictures", () => {
  const { seen, at, hear, configure } = watched();
  configure();
  for (let ms = 0; ms < 18_000; ms += 20) {
    if (ms % 40 === 0 && (ms < 10_000 || ms > 17_000)) at(ms, ms === 0);
    hear(ms);
  }
  // No packet arrives for seven seconds, because of the network or the encoder.
  at(25_000, true);
  hear(25_010);
  at(26_000, true);
  const durations = seen.flatMap((one) => (one.startsWith("segment") ? [one.slice(8)] : []));
  expect(durations).toEqual(["5000", "5500", "5500", "2013", "1000, discontinuous"]);
});

test("a segment is cut at a key frame after a second, not a millisecond earlier, and only when there is audio", () => {
  const { seen, at, hear, configure } = watched();
  configure();
  at(0, true);
  at(1_500, true);
  expect(seen).toEqual(["began", "key 0 0", "key 1500 1500"]);
  hear(1_510);
  at(1_999);
  at(2_000, true);
  at(2_999, true);
  at(3_000, true);
  expect(seen.slice(3)).toEqual([
    "picture 1999 1999",
    "sound 1510 1",
    "segment 2000",
    "key 2000 2000",
    "key 2999 2999",
    "segment 1000",
    "key 3000 3000",
  ]);
});

test("a feed without audio, with audio only before its first picture, or without a beginning has no segment", () => {
  for (const [isHeard, isSeen] of [
    [false, true],
    [true, true],
    [true, false],
  ]) {
    const { packager, seen, at, hear, configure } = watched();
    configure();
    if (isHeard) hear(0);
    if (isSeen) for (const ms of [10, 1_500]) at(ms, true);
    packager.end();
    const beginMs = isHeard ? 10 : 0;
    expect(seen).toEqual(isSeen ? ["began", `key ${beginMs} ${beginMs}`, `key ${beginMs + 1_490} ${beginMs + 1_490}`] : []);
  }
});

test("LIVE-11: the stream before a silence that ends it is its last segment", () => {
  const { seen, at, hear, configure } = watched();
  configure();
  at(0, true);
  hear(500);
  at(9_000, true);
  at(10_501);
  expect(seen).toEqual(["began", "key 0 0", "sound 500 1", "segment 533", "key 9000 9000", "segment 33, discontinuous", "audio missing"]);
});

test("LIVE-11, D-51: silence ends a stream a millisecond after its time, once, and so do pictures without key frames and audio alone", () => {
  const silentFrom = (configureSound: boolean, limitMs: number, heardMs?: number) => {
    const { packager, seen, at, hear } = watched();
    packager.addVideo(0, video(VIDEO_CONFIG));
    if (configureSound) packager.addAudio(0, audio(AUDIO_CONFIG));
    at(0, true);
    if (heardMs !== undefined) hear(heardMs);
    at((heardMs ?? 0) + limitMs);
    expect(seen).not.toContain("audio missing");
    for (const ms of [1, 2]) at((heardMs ?? 0) + limitMs + ms);
    packager.end();
    return seen.filter((one) => one.startsWith("audio")).length;
  };
  expect([silentFrom(false, 2_000), silentFrom(true, 4_000), silentFrom(true, 10_000, 500)]).toEqual([1, 1, 1]);
  const { at, hear, configure } = watched();
  configure();
  at(0, true);
  hear(9_000);
  at(10_000, true);
  hear(19_000, 29_000);
  at(30_000);
  expect(() => at(30_001)).toThrow("no key frame came for 20 s");
  const alone = watched();
  alone.configure();
  alone.hear(0, 10_000);
  expect(() => alone.hear(10_001)).toThrow("no picture came for 10 s");
});

test("D-51: audio from long before the first picture counts as silence from that picture on", () => {
  const { seen, at, hear, configure } = watched();
  configure();
  hear(0);
  at(8_000, true);
  at(18_000);
  expect(seen).not.toContain("audio missing");
  at(18_001);
  expect(seen.at(-1)).toBe("audio missing");
});

test("audio frames keep their order, and packets before a configuration or the first picture do not count", () => {
  const given: number[][] = [];
  const seen: string[] = [];
  const packager = new Packager(
    {
      isEmpty: false,
      addPicture: ({ decodeMs }) => void seen.push(`picture ${decodeMs}`),
      addSound: ({ frames }) => void given.push(frames.map(([first = 0]) => first)),
      take: () => new Uint8Array(),
    },
    { began: () => {}, segment: ({ durationMs }) => void seen.push(`segment ${durationMs}`), audioMissing: () => {}, monotonicMs: () => 0 },
  );
  const hear = (ms: number, byte: number): void => packager.addAudio(ms, { kind: "frame", bytes: Uint8Array.of(byte) });
  const at = (ms: number): void => packager.addVideo(ms, { kind: "frame", isKey: true, compositionMs: 0, bytes: Uint8Array.of(0, 0, 0, 1, 9) });
  hear(5_000, 1);
  packager.addVideo(6_000, video(VIDEO_CONFIG));
  packager.addAudio(6_000, audio(AUDIO_CONFIG));
  hear(10_000, 2);
  hear(10_200, 3);
  at(10_500);
  for (const [nth, byte] of [4, 5, 6].entries()) hear(10_500 + nth * 10, byte);
  // A configuration of the video does not count as a picture.
  packager.addVideo(10_600, video(VIDEO_CONFIG));
  at(11_500);
  packager.end();
  expect({ given, seen }).toEqual({ given: [[4, 5, 6]], seen: ["picture 500", "segment 1000", "picture 1500", "segment 33"] });
});

/**
 * Sends a clip of `untilMs` in real time: 25 pictures a second, a key frame every 2 s, and sound. `stamp` computes the time stamp of a packet from
 * the packet's time.
 */
function play(untilMs: number, stamp: (ms: number, track: "video" | "audio") => number) {
  const one = watched();
  one.configure();
  for (let ms = 0; ms < untilMs; ms += 20) {
    if (ms % 40 === 0) one.at(stamp(ms, "video") >>> 0, ms % 2_000 === 0, 0, ms);
    one.hearAt(stamp(ms, "audio") >>> 0, ms);
  }
  one.packager.end();
  const segments = one.seen.flatMap((text) => (text.startsWith("segment") ? [text.slice(8)] : []));
  const wholeMs = segments.reduce((sum, text) => sum + Number.parseInt(text, 10), 0);
  return { ...one, wholeMs, breaks: segments.filter((text) => text.endsWith("discontinuous")).length, isSilent: one.seen.includes("audio missing") };
}

test.each([
  ["+12 s", 14_000, (ms: number) => ms + (ms < 7_000 ? 0 : 12_000), 1],
  ["-12 s", 26_000, (ms: number) => ms - (ms < 13_000 ? 0 : 12_000), 1],
  ["+60 s", 14_000, (ms: number) => ms + (ms < 7_000 ? 0 : 60_000), 1],
  ["-12 s of the sound alone", 26_000, (ms: number, track: string) => ms - (ms < 13_000 || track === "video" ? 0 : 12_000), 1],
  ["+12 s of the pictures alone", 26_000, (ms: number, track: string) => ms + (ms < 13_000 || track === "audio" ? 0 : 12_000), 1],
  ["a clip of 9 s three times", 27_000, (ms: number) => ms % 9_000, 2],
  ["49 days in the middle of a wrap, and back", 14_000, (ms: number) => (ms < 7_000 ? 2 ** 32 - 3_000 + ms : 5_000_000 + ms), 1],
  ["no step", 14_000, (ms: number) => ms, 0],
])("D-297: a step of the encoder's clock is not silence, and the recording continues: %s", (_, untilMs, stamp, steps) => {
  const { packager, wholeMs, breaks, isSilent } = play(untilMs, stamp);
  expect({ isSilent, steps: packager.clockSteps, breaks }).toEqual({ isSilent: false, steps, breaks: steps });
  expect(Math.abs(wholeMs - untilMs)).toBeLessThan(100);
  expect(packager.audioBehindMs).toBeLessThan(50);
});

const clockStep = fc.record({
  atMs: fc.integer({ min: 1, max: 19_000 }),
  byMs: fc.oneof(fc.integer({ min: 2_000, max: 2 ** 31 - 1 }), fc.integer({ min: -(2 ** 31), max: -2_000 }), fc.constantFrom(-12_000, 12_000)),
  track: fc.constantFrom("both", "video", "audio"),
});

test("D-297: whatever steps the clocks of pictures and audio make, together or alone, the recording is as long as the broadcast", () => {
  fc.assert(
    fc.property(fc.array(clockStep, { maxLength: 4 }), (steps) => {
      const stamp = (ms: number, track: string): number =>
        steps.reduce((sum, step) => sum + (ms >= step.atMs && (step.track === "both" || step.track === track) ? step.byMs : 0), ms);
      const { wholeMs, isSilent, packager } = play(20_000, stamp);
      expect({ isSilent, isCounted: packager.clockSteps <= 2 * steps.length }).toEqual({ isSilent: false, isCounted: true });
      // Several clock steps at one time may add up to less than a second, which counts as a pause and not as a step.
      expect(Math.abs(wholeMs - 20_000)).toBeLessThan(100 + 1_000 * steps.length);
    }),
  );
});

test("D-297: arriving audio is not missing, however far its time stamps are behind, and the network may delay everything", () => {
  const late = play(26_000, (ms, track) => ms + (track === "audio" ? 0 : 11_000));
  expect({ isSilent: late.isSilent, steps: late.packager.clockSteps }).toEqual({ isSilent: false, steps: 1 });
  // No packet arrives for 7 s, and then all packets at once: the last sound before the pause arrived more than 10 s earlier.
  const { seen, at, hearAt, configure } = watched();
  configure();
  for (let ms = 0; ms < 4_000; ms += 40) {
    at(ms, ms % 2_000 === 0);
    if (ms < 500) hearAt(ms, ms);
  }
  for (let ms = 4_000; ms < 11_000; ms += 40) {
    at(ms, ms % 2_000 === 0, 0, 11_000);
    hearAt(ms, 11_000);
  }
  expect(seen).not.toContain("audio missing");
});

test("pictures without a first key frame or a configuration are refused after 10 s with what is missing", () => {
  const keyless = watched();
  keyless.configure();
  keyless.at(0);
  keyless.at(10_000);
  expect(() => keyless.at(10_001)).toThrow("no key frame came for 10 s");
  const unconfigured = watched();
  unconfigured.at(0, true);
  unconfigured.at(10_000, true);
  expect(() => unconfigured.at(10_001, true)).toThrow("no configuration of the H.264 video came for 10 s");
});
