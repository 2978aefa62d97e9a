/** D-422: recordings in a folder and in a bucket behave in the same way. */
import { describe, expect, test } from "bun:test";
import { startObjectStore } from "#harness/live/object-store";
import { temporaryFolder } from "#harness/server";
import { lastSession, readRecording, recordingVersion, removeRecording, removeRecordings } from "./read-recording.ts";
import { RecordingSpace } from "./recording-space.ts";
import { storeAt } from "./recording-store.ts";
import { type RecordedSegment, SessionRecording } from "./session-recording.ts";

const segmentOf = (text: string): RecordedSegment => ({ bytes: Buffer.from(text), durationMs: 2_000, beganRealMs: 1_000, isDiscontinuous: false });
const entry = (number: number) => ({ number, durationMs: 2_000, beganRealMs: 1_000, isDiscontinuous: false });

const kinds: Record<string, () => Promise<string>> = {
  folder: async () => temporaryFolder(),
  bucket: async () => (await startObjectStore()).addressOf("some/prefix"),
};

function record(root: string, world: string, video: string, session: number, bytesMax = 0) {
  const failures: string[] = [];
  const space = new RecordingSpace(root, { bytesMax, reserveBytes: 0 });
  const recording = new SessionRecording({ root, world, video, session }, space, (_, error) => failures.push((error as Error).message));
  return { recording, failures };
}

const textOf = async (root: string, path: string): Promise<string | undefined> => {
  const found = await storeAt(root).open(path);
  return found && new Response(found.content).text();
};

describe.each(Object.entries(kinds))("a %s", (_, open) => {
  test("has sessions in their order, which grow segment by segment, and loses only the videos and worlds that are removed", async () => {
    const root = await open();
    expect([await readRecording(root, "w", "7"), await lastSession(root, "w", "7"), await recordingVersion(root, "w", "7")]).toEqual([[], 0, ""]);
    const first = record(root, "w", "7", 9);
    first.recording.add(segmentOf("first"));
    while ((await readRecording(root, "w", "7"))[0]?.segments.length !== 1) await Bun.sleep(5);
    const version = await recordingVersion(root, "w", "7");
    first.recording.add(segmentOf("second!"));
    await first.recording.end();
    expect(await recordingVersion(root, "w", "7")).not.toBe(version);
    const next = record(root, "w", "7", 10);
    next.recording.add(segmentOf("third"));
    await next.recording.end();
    expect([...first.failures, ...next.failures]).toEqual([]);
    expect(await readRecording(root, "w", "7")).toEqual([
      { session: 9, segments: [entry(0), entry(1)], hasEnded: true },
      { session: 10, segments: [entry(0)], hasEnded: true },
    ]);
    expect(await lastSession(root, "w", "7")).toBe(10);
    expect([await textOf(root, "w/7/9/1.ts"), await textOf(root, "w/7/9/2.ts")]).toEqual(["second!", undefined]);
    for (const [world, video] of [
      ["w", "77"],
      ["v", "7"],
      ["w2", "7"],
    ] as const)
      await record(root, world, video, 1).recording.end();
    await removeRecording(root, "w", "7");
    // For a while, an object store may still list a folder that has no objects any more.
    const paths = ["w/7/9", "w/7/10", "w/77/1", "v/7/1", "w2/7/1"];
    const left = async () => {
      const texts = await Promise.all(paths.map((path) => storeAt(root).readText(`${path}/index`)));
      return paths.filter((_, at) => texts[at] !== "");
    };
    expect(await left()).toEqual(["w/77/1", "v/7/1", "w2/7/1"]);
    await removeRecordings(root, "w");
    expect(await left()).toEqual(["v/7/1", "w2/7/1"]);
    expect(await storeAt(root).usedBytes()).toBe(8);
    // Removing a missing recording succeeds.
    await removeRecordings(root, "w");
  });

  test("ends a recording that needs more than the bytes of all recordings", async () => {
    const root = await open();
    const { recording, failures } = record(root, "w", "7", 1, 12);
    for (const text of ["12345", "67890", "more"]) recording.add(segmentOf(text));
    await recording.end();
    expect(failures).toEqual(["the recordings would use more than the 12 bytes of --recordings-bytes-max"]);
    expect((await readRecording(root, "w", "7"))[0]).toEqual({ session: 1, segments: [entry(0), entry(1)], hasEnded: false });
  });
});

test("a bucket whose server is killed ends the recording with its complete segments, and has them when it is back", async () => {
  const store = await startObjectStore();
  const root = store.addressOf("killed");
  const { recording, failures } = record(root, "w", "7", 1);
  recording.add(segmentOf("first"));
  while ((await readRecording(root, "w", "7"))[0]?.segments.length !== 1) await Bun.sleep(5);
  await store.kill();
  recording.add(segmentOf("second"));
  await recording.end();
  expect(failures).toHaveLength(1);
  await expect(readRecording(root, "w", "7")).rejects.toMatchObject({ code: "ConnectionRefused" });
  await store.start();
  expect(await readRecording(root, "w", "7")).toEqual([{ session: 1, segments: [entry(0)], hasEnded: false }]);
  expect(await textOf(root, "w/7/1/0.ts")).toBe("first");
});
