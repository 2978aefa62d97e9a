/** Tests the test clip, and how it is sent: in real time, and in a loop without a gap, as any encoder sends. */
import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { temporaryFolder } from "#harness/server";
import { RecordingSpace } from "#recordings/recording-space";
import { readAudioTag, readVideoTag } from "../media/packets.ts";
import { RtmpPort } from "../rtmp-port.ts";
import { CLIP_MS, readClip, type Tag } from "./clip.ts";
import { Playback, playClip } from "./test-encoder.ts";

const KIB = 1_024;

/** The differences between the times of neighbouring tags. */
const stepsOf = (tags: readonly Tag[]): number[] => tags.slice(1).map(({ ms }, at) => ms - (tags[at] as Tag).ms);

test("the clip is small, has B-frames and a key frame every 1.6 s, and its pictures and its sound have the same length", async () => {
  const tags = await readClip();
  expect(tags.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThan(300 * KIB);
  const pictures = tags.filter(({ isAudio }) => !isAudio).map(({ ms, body }) => ({ ms, packet: readVideoTag(body) }));
  const frames = pictures.flatMap(({ ms, packet }) => (packet?.kind === "frame" ? [{ ms, ...packet }] : []));
  expect(frames.map(({ ms }) => ms)).toEqual(Array.from({ length: 120 }, (_, at) => at * 40));
  expect(frames.filter(({ isKey }) => isKey).map(({ ms }) => ms)).toEqual([0, 1_600, 3_200]);
  // Each of the clip's 120 presentation times has one picture. All times are 80 ms later than the decoding times, because the first picture is shown
  // after 80 ms.
  expect(frames.map(({ ms, compositionMs }) => ms + compositionMs).sort((a, b) => a - b)).toEqual(frames.map(({ ms }) => ms + 80));
  expect(new Set(frames.map(({ compositionMs }) => compositionMs)).size).toBeGreaterThan(2);
  const sounds = tags.filter(({ isAudio }) => isAudio).map(({ body }) => readAudioTag(body));
  expect(sounds[0]).toMatchObject({ kind: "config", config: { sampleRate: 48_000, channels: 1 } });
  expect((sounds.filter((packet) => packet?.kind === "frame").length * 1_024) / 48).toBe(CLIP_MS);
});

test("times continue over its repetitions as within it, for pictures and for sound", async () => {
  const sent: Tag[] = [];
  const playback = new Playback(await readClip(), 1_000, (tag) => void sent.push(tag));
  for (let ms = 0; ms < 5 * CLIP_MS; ms += 40) playback.turn(1_000 + ms);
  expect(sent.slice(0, 2).map(({ isAudio, isConfig }) => ({ isAudio, isConfig }))).toEqual([
    { isAudio: false, isConfig: true },
    { isAudio: true, isConfig: true },
  ]);
  const media = sent.slice(2);
  expect(media.some(({ isConfig }) => isConfig)).toBe(false);
  const [pictures, sounds] = [media.filter(({ isAudio }) => !isAudio), media.filter(({ isAudio }) => isAudio)];
  expect(pictures).toHaveLength(5 * 120);
  expect(new Set(stepsOf(pictures))).toEqual(new Set([40]));
  expect(new Set(stepsOf(sounds))).toEqual(new Set([21, 22]));
  expect(Math.abs((pictures.at(-1) as Tag).ms - (sounds.at(-1) as Tag).ms)).toBeLessThan(40);
});

test("it is sent at its own pace; after a pause of the machine it continues where it was, and does not catch up", async () => {
  const sent: Tag[] = [];
  const playback = new Playback(await readClip(), 0, (tag) => void sent.push(tag));
  playback.turn(0);
  const begun = sent.length;
  playback.turn(999);
  expect(sent.slice(begun).every(({ ms }) => ms <= 999)).toBe(true);
  const before = sent.at(-1) as Tag;
  playback.turn(3_600_000);
  const after = sent.slice(sent.indexOf(before) + 1);
  expect(after.map(({ ms }) => ms)).toEqual([after[0]?.ms as number]);
  expect((after[0] as Tag).ms - before.ms).toBeLessThan(40);
});

function openPort(isKnown: (key: string) => boolean) {
  const recordings = temporaryFolder();
  const started = Promise.withResolvers<string>();
  const feed = { world: "default", video: "1", session: 1 };
  const port: RtmpPort = new RtmpPort(
    {
      ...{ hostname: "127.0.0.1", port: 0, recordings, space: new RecordingSpace(recordings, { bytesMax: 0, reserveBytes: 0 }) },
      gate: {
        check: async (key) => (isKnown(key) ? { feed } : undefined),
        start: async (key, { width, height }) => {
          started.resolve(`${key} ${width}x${height}`);
          return { feed };
        },
        end: () => {},
        refused: () => {},
      },
      limits: { bitsPerSecondMax: 5_000_000, connectionsMax: 9, unauthenticatedMax: 9, unauthenticatedPerAddressMax: 9 },
      onError: (error) => started.reject(error),
      onNote: () => {},
    },
    () => {},
  );
  afterThisTest(() => port.stop());
  return { port, feed, started: started.promise };
}

const play = (port: number, key: string) => playClip("127.0.0.1", port, key, () => performance.now());

test("the port accepts it with its key, and disconnects it with a reason when the broadcast ends", async () => {
  const { port, feed, started } = openPort(() => true);
  const { ended } = await play(port.port, "k");
  expect(await started).toBe("k 640x360");
  while (port.publisherOf(feed)?.publishes(feed) !== true) await Bun.sleep(1);
  port.drop([feed]);
  expect(await ended).toBe("The broadcast has ended");
});

test("it stops in order, and an unknown key is refused with the server's reason", async () => {
  const { port, started } = openPort((key) => key === "k");
  const { ended, stop } = await play(port.port, "k");
  await started;
  stop();
  expect(await ended).toBeString();
  await expect(play(port.port, "wrong")).rejects.toThrow("Unknown stream key");
  await port.stop();
  await expect(play(port.port, "k")).rejects.toMatchObject({ code: "ECONNREFUSED" });
});
