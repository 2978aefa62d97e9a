/** Tests which files a recording writes segment by segment, and the limits for the disk space of recordings. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { RecordingSpace, type SpaceLimits } from "./recording-space.ts";
import { type RecordedSegment, SessionRecording } from "./session-recording.ts";

const MIB = 1_048_576;
const BOUNDLESS: SpaceLimits = { bytesMax: 0, reserveBytes: 0 };

function newRecording(limits = BOUNDLESS) {
  const root = temporaryFolder();
  const failures: string[] = [];
  const space = new RecordingSpace(root, limits);
  const place = { root, world: "w", video: "7", session: 3 };
  const recording = new SessionRecording(place, space, (failure, error) => failures.push(`${failure}: ${(error as Error).message}`));
  const folder = join(root, "w", "7", "3");
  const index = () => readFileSync(join(folder, "index"), "utf8");
  return { recording, failures, folder, index, files: () => readdirSync(folder).sort(), root, space };
}

const segmentOf = (text: string, more: Partial<RecordedSegment> = {}): RecordedSegment => ({
  bytes: Buffer.from(text),
  durationMs: 1_999.6,
  beganRealMs: 1_000.4,
  isDiscontinuous: false,
  ...more,
});

test("segments of a transport stream follow one another, and are in the index with duration, bytes and beginning", async () => {
  const { recording, failures, folder, index, files } = newRecording();
  recording.add(segmentOf("first"));
  recording.add(segmentOf("second!", { durationMs: 500, beganRealMs: 3_000 }));
  await recording.end();
  expect(files()).toEqual(["0.ts", "1.ts", "index"]);
  expect(["0.ts", "1.ts"].map((name) => readFileSync(join(folder, name), "utf8"))).toEqual(["first", "second!"]);
  expect(index()).toBe("2000 5 1000\n500 7 3000\nend\n");
  expect(failures).toEqual([]);
});

test("a failure is reported once, and nothing more is written: neither a segment nor the end", async () => {
  const { recording, failures, folder, index, files } = newRecording();
  recording.add(segmentOf("first"));
  // A folder with the name of the next segment's file makes the next write fail.
  while (!existsSync(folder)) await Bun.sleep(1);
  mkdirSync(join(folder, "1.ts.part"));
  for (const text of ["second", "third"]) recording.add(segmentOf(text));
  await recording.end();
  expect(failures).toEqual([expect.stringMatching(/^no_storage: EISDIR/)]);
  expect(files()).toEqual(["0.ts", "1.ts.part", "index"]);
  expect(index()).toBe("2000 5 1000\n");
});

test("a segment without space for it is not written, and ends the recording", async () => {
  const { recording, failures, index, files } = newRecording({ bytesMax: 6, reserveBytes: 0 });
  for (const text of ["first", "ab", "c"]) recording.add(segmentOf(text));
  await recording.end();
  expect(failures).toEqual(["no_storage: the recordings would use more than the 6 bytes of --recordings-bytes-max"]);
  expect(files()).toEqual(["0.ts", "index"]);
  expect(index()).toBe("2000 5 1000\n");
});

test("a failure of the disk at any step is reported, and no later step is written", async () => {
  const refused = async (inTheWay: string, isFolder: boolean) => {
    const { recording, failures, root, folder } = newRecording();
    await recording.end();
    const again = join(root, "w", "8", "1");
    mkdirSync(isFolder ? join(again, inTheWay) : join(root, "w", "8"), { recursive: true });
    if (!isFolder) writeFileSync(again, "");
    const place = { root, world: "w", video: "8", session: 1 };
    const other = new SessionRecording(place, new RecordingSpace(root, BOUNDLESS), (_, error) => failures.push((error as { code: string }).code));
    for (const text of ["a", "b"]) other.add(segmentOf(text));
    await other.end();
    expect(readdirSync(folder)).toEqual(["index"]);
    return { failures, left: isFolder ? readdirSync(again).sort() : [] };
  };
  expect(await refused("0.ts.part", true)).toEqual({ failures: ["EISDIR"], left: ["0.ts.part"] });
  expect(await refused("index", true)).toEqual({ failures: ["EISDIR"], left: ["0.ts", "index"] });
  // The recording fails, because a file has the path of the folder for recordings.
  expect(await refused("", false)).toEqual({ failures: ["EEXIST"], left: [] });
});

test("up to 64 MiB may wait for the disk; written bytes no longer wait", async () => {
  const half = { bytes: new Uint8Array(32 * MIB) };
  const { recording, failures } = newRecording();
  for (let turn = 0; turn < 2; turn++) {
    recording.add(segmentOf("", half));
    recording.add(segmentOf("", half));
    expect(failures).toEqual([]);
    // The promise of `end` resolves when both segments are written.
    await recording.end();
  }
  const slow = newRecording();
  slow.recording.add(segmentOf("", half));
  slow.recording.add(segmentOf("", half));
  slow.recording.add(segmentOf("x"));
  slow.recording.add(segmentOf("y"));
  expect(slow.failures).toEqual(["no_storage: the disk is too slow for the recording"]);
  await slow.recording.end();
  expect(slow.files()).toEqual([]);
});

test("recordings have up to their maximum of bytes; deleted ones no longer count", async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "old"));
  writeFileSync(join(root, "old", "0.ts"), "x".repeat(40));
  const space = new RecordingSpace(root, { bytesMax: 100, reserveBytes: 0 });
  await space.take(50);
  await space.take(10);
  await expect(space.take(1)).rejects.toThrow("the recordings would use more than the 100 bytes of --recordings-bytes-max");
  rmSync(join(root, "old"), { recursive: true });
  // The sizes of the recorded files were added up again, and the sum was 0, because this test writes no files.
  await space.take(100);
  await expect(space.take(1)).rejects.toMatchObject({ name: "NoSpace" });
});

test("the total is counted again after a GiB was used, and not a byte before", async () => {
  const gib = 1024 * MIB;
  const spaceOf = (bytesMax: number) => new RecordingSpace(temporaryFolder(), { bytesMax, reserveBytes: 0 });
  const early = spaceOf(gib + 9);
  await early.take(gib - 2);
  await expect(early.take(12)).rejects.toMatchObject({ name: "NoSpace" });
  // This test writes no files, so each time the sizes of the recorded files are added up, the sum is 0.
  const space = spaceOf(gib + 10);
  await space.take(gib - 1);
  await space.take(1);
  await space.take(11);
  await space.take(gib - 12);
  await expect(space.take(12)).rejects.toMatchObject({ name: "NoSpace" });
});

test("the disk is checked again after 16 MiB were used: what others write and delete counts", async () => {
  let free = 100 * MIB;
  let looks = 0;
  const space = new RecordingSpace(temporaryFolder(), { bytesMax: 0, reserveBytes: 10 * MIB }, async () => {
    looks++;
    return free;
  });
  await space.take(16 * MIB - 1);
  await space.take(1);
  expect(looks).toBe(1);
  free = 11 * MIB;
  await space.take(MIB);
  expect(looks).toBe(2);
  await expect(space.take(1)).rejects.toThrow(
    `the recording would leave ${10 * MIB - 1} bytes of the disk free, and --disk-reserve-bytes is ${10 * MIB}`,
  );
  free = 12 * MIB;
  await space.take(2 * MIB);
});

test("without a limit nothing is counted, and the reserve of the disk stays free", async () => {
  const root = temporaryFolder();
  const { bavail, bsize } = statfsSync(root);
  const free = bavail * bsize;
  await new RecordingSpace(root, { bytesMax: 0, reserveBytes: Math.floor(free / 2) }).take(1);
  const full = new RecordingSpace(root, { bytesMax: 0, reserveBytes: 2 * free });
  await expect(full.take(1)).rejects.toThrow(/^the recording would leave \d+ bytes of the disk free, and --disk-reserve-bytes is \d+$/);
  // The check of the free disk space also counts the bytes that are about to be written.
  await expect(new RecordingSpace(root, BOUNDLESS).take(2 * free)).rejects.toThrow(/--disk-reserve-bytes/);
  // A request for space that is refused does not reduce the space.
  const space = new RecordingSpace(root, BOUNDLESS);
  await expect(space.take(2 * free)).rejects.toThrow(/--disk-reserve-bytes/);
  await space.take(1);
});
