import { expect, test } from "bun:test";
import { openPlaza } from "#harness/plaza";
import { type FeedHealth, forgetHealth, healthOf, keepHealth, warningsOf } from "./health.ts";

const good: FeedHealth = {
  ...{ video: "5301", session: 1, bits_per_second: 2_000_000, frames_per_second: 30, audio_bits_per_second: 128_000 },
  ...{ audio_behind_ms: 100, gaps: 0, clock_steps: 0, key_frame_ms: 2_000, width: 1280, height: 720 },
};

test("a healthy feed has no warning, even at the limits; beyond them each warning says what to change", () => {
  expect(warningsOf(good)).toEqual([]);
  expect(warningsOf({ ...good, key_frame_ms: null })).toEqual([]);
  expect(warningsOf({ ...good, key_frame_ms: 4_000, audio_behind_ms: 2_000, audio_bits_per_second: 4_000 })).toEqual([]);
  expect(warningsOf({ ...good, key_frame_ms: 4_600 })).toEqual(["key frames every 5 s let viewers start late: set a key frame interval of 2 s"]);
  expect(warningsOf({ ...good, key_frame_ms: 4_001 })).toEqual(["key frames every 4 s let viewers start late: set a key frame interval of 2 s"]);
  expect(warningsOf({ ...good, audio_behind_ms: 2_001 })).toEqual([
    "no sound for 2 s: check the audio source, because the stream ends after 10 s without sound",
  ]);
  expect(warningsOf({ ...good, audio_bits_per_second: 3_999 })).toEqual(["the sound is silent or almost so: check the audio source"]);
  // If a feed has no sound, Plaza does not warn about the bit rate of the sound.
  expect(warningsOf({ ...good, audio_behind_ms: 7_000, audio_bits_per_second: 0 })).toEqual([
    "no sound for 7 s: check the audio source, because the stream ends after 10 s without sound",
  ]);
  expect(warningsOf({ ...good, gaps: 1 })).toEqual(["pictures were missing once: lower the bit rate, or use a better network"]);
  expect(warningsOf({ ...good, gaps: 2, key_frame_ms: 8_000 })).toEqual([
    "key frames every 8 s let viewers start late: set a key frame interval of 2 s",
    "pictures were missing 2 times: lower the bit rate, or use a better network",
  ]);
});

test("the health of a feed is known by world and video, until another feed begins or it ends", async () => {
  const [{ world }, { world: elsewhere }] = [await openPlaza(), await openPlaza()];
  const other = { ...good, video: "5302" };
  expect(healthOf(world, "5301")).toBeUndefined();
  keepHealth(world, [good, other]);
  expect([healthOf(world, "5301"), healthOf(world, "5302"), healthOf(elsewhere, "5301")]).toEqual([good, other, undefined]);
  forgetHealth(world, "5301");
  expect([healthOf(world, "5301"), healthOf(world, "5302")]).toEqual([undefined, other]);
  keepHealth(world, [good]);
  expect([healthOf(world, "5301"), healthOf(world, "5302")]).toEqual([good, undefined]);
});
