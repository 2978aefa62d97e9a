import { expect, test } from "bun:test";
import { playlistOf, withEnd } from "./playlist.ts";

const segment = (number: number, durationMs: number, beganRealMs: number) => ({ number, durationMs, beganRealMs });
const first = { session: 1, hasEnded: true, segments: [segment(0, 2000, 1000), segment(1, 2000, 3000), segment(2, 1480, 5000)] };
const second = { session: 3, hasEnded: false, segments: [segment(0, 3040, 60_000)] };
test("RFC 8216: all segments in order, a break between sessions, and an end when the broadcast is over", () => {
  const lines = [
    ...["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:4", "#EXT-X-PLAYLIST-TYPE:EVENT"],
    ...["#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:01.000Z", "#EXTINF:2.000,", "1/0.ts", "#EXTINF:2.000,", "1/1.ts", "#EXTINF:1.480,", "1/2.ts"],
    ...["#EXT-X-DISCONTINUITY", "#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:01:00.000Z", "#EXTINF:3.040,", "3/0.ts"],
  ];
  expect(playlistOf([first, second], null)).toBe(`${lines.join("\n")}\n`);
  expect(withEnd(playlistOf([first, second], null) ?? "")).toBe(`${lines.join("\n")}\n#EXT-X-ENDLIST\n`);
});

test("D-115: what was recorded before the video was published is a preview, and is not in the playlist", () => {
  expect(playlistOf([first, second], 2999)?.match(/^\d.*ts$/gm)).toEqual(["1/1.ts", "1/2.ts", "3/0.ts"]);
  const onlySecond = playlistOf([first, second], 5001);
  expect(onlySecond?.match(/^\d.*ts$/gm)).toEqual(["3/0.ts"]);
  expect(onlySecond).not.toContain("DISCONTINUITY");
  // A segment that began in the very millisecond of the publication is part of it.
  expect(playlistOf([first, second], 3000)?.match(/^\d.*ts$/gm)).toEqual(["1/1.ts", "1/2.ts", "3/0.ts"]);
  expect(playlistOf([first, second], 3001)?.match(/^\d.*ts$/gm)).toEqual(["1/2.ts", "3/0.ts"]);
});

test("RFC 8216, 4.3.3.1: the target duration is the longest of all segments in whole seconds, and at least one", () => {
  const targetOf = (...durations: number[]) => {
    const sessions = durations.map((ms, at) => ({ ...first, session: at + 1, segments: [segment(0, ms, 1000), segment(1, 1, 2000)] }));
    return /TARGETDURATION:(\d+)/.exec(playlistOf(sessions, null) ?? "")?.[1];
  };
  expect([targetOf(0), targetOf(400), targetOf(1000), targetOf(1001), targetOf(3001, 2000)]).toEqual(["1", "1", "1", "2", "4"]);
});

test("there is no playlist before there is a segment", () => {
  expect(playlistOf([], null)).toBeUndefined();
  expect(playlistOf([{ ...first, segments: [] }], null)).toBeUndefined();
  expect(playlistOf([first], 6000)).toBeUndefined();
});
