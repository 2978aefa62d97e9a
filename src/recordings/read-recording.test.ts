/** Tests that complete and incomplete recordings can be read and removed, and that a removed recording leaves no files. */
import { describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { readRecording, recordingVersion, removeRecording, removeRecordings } from "./read-recording.ts";

/** Makes sessions of the video 7 in the world w, given the texts of their indexes; undefined means a session without an index. */
function recordingOf(sessions: Readonly<Record<string, string | undefined>>) {
  const root = temporaryFolder();
  for (const [session, index] of Object.entries(sessions)) {
    const folder = join(root, "w", "7", session);
    mkdirSync(folder, { recursive: true });
    if (index !== undefined) writeFileSync(join(folder, "index"), index);
  }
  return { root, indexOf: (session: number) => join(root, "w", "7", String(session), "index") };
}

const segment = (number: number, durationMs: number, beganRealMs: number, isDiscontinuous = false) => ({
  number,
  durationMs,
  beganRealMs,
  isDiscontinuous,
});

describe("a session", () => {
  test.each<[index: string | undefined, session: object]>([
    ["2000 5 1000\n500 7 3000\nend\n", { segments: [segment(0, 2_000, 1_000), segment(1, 500, 3_000)], hasEnded: true }],
    ["2000 5 1000\n", { segments: [segment(0, 2_000, 1_000)], hasEnded: false }],
    // In this index of a session, the last line is still being written.
    ["2000 5 1000\n500 7 30", { segments: [segment(0, 2_000, 1_000)], hasEnded: false }],
    ["end\n", { segments: [], hasEnded: true }],
    ["", { segments: [], hasEnded: false }],
    [undefined, { segments: [], hasEnded: false }],
    // A line of the index that is not valid adds no segment, and the segments of later lines keep their numbers.
    ["2000 5 1000\nx\n500 7 3000\n", { segments: [segment(0, 2_000, 1_000), segment(2, 500, 3_000)], hasEnded: false }],
  ])("%j", async (index, session) => {
    const { root } = recordingOf({ 3: index });
    expect(await readRecording(root, "w", "7")).toEqual([{ session: 3, ...session }] as never);
  });
});

test("sessions are sorted by number, and other files in the folder are ignored", async () => {
  const { root } = recordingOf({ 10: "", 9: "", 100: "", x: "", "1x": "", "1234567890123456": "", "123456789012345": "" });
  expect((await readRecording(root, "w", "7")).map(({ session }) => session)).toEqual([9, 10, 100, 123_456_789_012_345]);
  expect(await readRecording(root, "w", "8")).toEqual([]);
  expect(await recordingVersion(root, "w", "8")).toBe("");
});

test("the version changes with each line and each session", async () => {
  const { root, indexOf } = recordingOf({ 2: "2000 5 1000\n", 10: undefined });
  expect(await recordingVersion(root, "w", "7")).toBe("2 12,10 0");
  appendFileSync(indexOf(2), "end\n");
  appendFileSync(indexOf(10), "");
  expect(await recordingVersion(root, "w", "7")).toBe("2 16,10 0");
});

test("an unreadable disk is not an empty recording", async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "w"));
  writeFileSync(join(root, "w", "7"), "a file in the place of the folder");
  await expect(readRecording(root, "w", "7")).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(recordingVersion(root, "w", "7")).rejects.toMatchObject({ code: "ENOTDIR" });
  const inPlace = recordingOf({ 1: undefined });
  mkdirSync(inPlace.indexOf(1));
  await expect(readRecording(inPlace.root, "w", "7")).rejects.toMatchObject({ code: "EISDIR" });
});

test("LIVE-14: nothing of a removed video or world stays, and everything of others does", async () => {
  const { root } = recordingOf({ 1: "2000 5 1000\n" });
  for (const other of [join(root, "w", "8", "1"), join(root, "v", "7", "1")]) mkdirSync(other, { recursive: true });
  await removeRecording(root, "w", "7");
  expect([join(root, "w", "7"), join(root, "w", "8", "1"), join(root, "v", "7", "1")].map((path) => existsSync(path))).toEqual([false, true, true]);
  await removeRecordings(root, "w");
  expect([join(root, "w"), join(root, "v", "7", "1")].map((path) => existsSync(path))).toEqual([false, true]);
  // Removing a missing recording succeeds.
  await removeRecording(root, "w", "7");
  await removeRecordings(root, "w");
});
