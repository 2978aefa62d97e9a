import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openPlaza } from "#harness/plaza";
import { temporaryFolder } from "#harness/server";
import { playlistOf, readKeptPlaylist, withEnd } from "./playlist.ts";

const segment = (number: number, durationMs: number, beganRealMs: number, isDiscontinuous = false) => ({
  ...{ number, durationMs, beganRealMs, isDiscontinuous },
});
const first = { session: 1, hasEnded: true, segments: [segment(0, 2000, 1000), segment(1, 2000, 3000), segment(2, 1480, 5000)] };
const second = { session: 3, hasEnded: false, segments: [segment(0, 3040, 60_000)] };
test("RFC 8216: all segments in order, a break between sessions, and an end when the broadcast is over", () => {
  const lines = [
    ...["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:6", "#EXT-X-PLAYLIST-TYPE:EVENT"],
    ...["#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:01.000Z", "#EXTINF:2.000,", "1/0.ts", "#EXTINF:2.000,", "1/1.ts", "#EXTINF:1.480,", "1/2.ts"],
    ...["#EXT-X-DISCONTINUITY", "#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:01:00.000Z", "#EXTINF:3.040,", "3/0.ts"],
  ];
  expect(playlistOf([first, second], null)).toBe(`${lines.join("\n")}\n`);
  expect(withEnd(playlistOf([first, second], null) ?? "")).toBe(`${lines.join("\n")}\n#EXT-X-ENDLIST\n`);
});

test("D-115: a recording from before the publication is a preview, and not in the playlist", () => {
  expect(playlistOf([first, second], 2999)?.match(/^\d.*ts$/gm)).toEqual(["1/1.ts", "1/2.ts", "3/0.ts"]);
  const onlySecond = playlistOf([first, second], 5001);
  expect(onlySecond?.match(/^\d.*ts$/gm)).toEqual(["3/0.ts"]);
  expect(onlySecond).not.toContain("DISCONTINUITY");
  // A segment that began in the millisecond of the publication is part of the broadcast.
  expect(playlistOf([first, second], 3000)?.match(/^\d.*ts$/gm)).toEqual(["1/1.ts", "1/2.ts", "3/0.ts"]);
  expect(playlistOf([first, second], 3001)?.match(/^\d.*ts$/gm)).toEqual(["1/2.ts", "3/0.ts"]);
});

test("RFC 8216, 6.2.1: the target duration is the same from the first segment on", () => {
  const targetOf = (...durations: number[]) => {
    const segments = durations.map((ms, at) => segment(at, ms, 1_000 * at));
    return /TARGETDURATION:(\d+)/.exec(playlistOf([{ ...first, segments }], null) ?? "")?.[1];
  };
  expect([targetOf(400), targetOf(400, 2_000), targetOf(400, 2_000, 6_400)]).toEqual(["6", "6", "6"]);
});

test("D-297: a segment that does not continue the one before it has a break and its own date", () => {
  const session = { ...first, segments: [segment(0, 2_000, 1_000, true), segment(1, 2_000, 3_000), segment(2, 500, 5_000, true)] };
  expect(playlistOf([session], null)?.split("\n").slice(4)).toEqual([
    ...["#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:01.000Z", "#EXTINF:2.000,", "1/0.ts", "#EXTINF:2.000,", "1/1.ts"],
    ...["#EXT-X-DISCONTINUITY", "#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:05.000Z", "#EXTINF:0.500,", "1/2.ts", ""],
  ]);
  // The video was published after the second segment, so the playlist begins with the third segment.
  expect(playlistOf([session], 4_000)).not.toContain("DISCONTINUITY");
});

test("without a segment there is no playlist", () => {
  expect(playlistOf([], null)).toBeUndefined();
  expect(playlistOf([{ ...first, segments: [] }], null)).toBeUndefined();
  expect(playlistOf([first], 6000)).toBeUndefined();
});

test("a playlist is created once for all viewers, and again when a segment, an end or a session is recorded", async () => {
  const { world } = await openPlaza({ database: "sqlite" });
  const recordings = temporaryFolder();
  const record = (session: number, line: string): void => {
    const folder = join(recordings, world.name, "7", String(session));
    mkdirSync(folder, { recursive: true });
    appendFileSync(join(folder, "index"), line);
  };
  const read = (fromRealMs: number | null = null) => readKeptPlaylist(world, recordings, "7", fromRealMs);
  const segments = async (fromRealMs?: number) => (await read(fromRealMs)).playlist?.match(/^\d.*ts$/gm);
  expect(await read()).toMatchObject({ playlist: undefined, openUntilRealMs: undefined });
  record(1, "2000 900 1000\n");
  const first = await read();
  expect(first).toMatchObject({ playlist: expect.stringContaining("1/0.ts\n"), openUntilRealMs: 3000 });
  expect(await read()).toBe(first);
  record(1, "2000 900 3000\n");
  expect(await segments()).toEqual(["1/0.ts", "1/1.ts"]);
  // The video was published after the first segment, which was a preview.
  expect(await segments(2000)).toEqual(["1/1.ts"]);
  record(1, "end\n");
  expect((await read()).openUntilRealMs).toBeUndefined();
  record(2, "1000 900 60000\n");
  expect(await segments()).toEqual(["1/0.ts", "1/1.ts", "2/0.ts"]);
  // The second session of the recording continues, although the first session has ended.
  expect((await read()).openUntilRealMs).toBe(61_000);
  record(2, "2000 900 61000\n");
  expect((await read()).openUntilRealMs).toBe(63_000);
  record(2, "end\n");
  expect((await read()).openUntilRealMs).toBeUndefined();
  // For another video, Plaza does not return the playlist that it has in memory.
  expect((await readKeptPlaylist(world, recordings, "8", null)).playlist).toBeUndefined();
});
