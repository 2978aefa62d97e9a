/** Tests the timeline of pictures and sound (D-297). */
import { expect, test } from "bun:test";
import { StreamTime } from "./stream-time.ts";

test("times count from the first one, and a picture is always later than the one before it", () => {
  const time = new StreamTime();
  expect([time.video(1_000, 0), time.video(1_040, 40), time.video(1_040, 80), time.video(1_039, 120), time.video(1_100, 160)]).toEqual([
    0, 40, 41, 42, 100,
  ]);
  const sound = new StreamTime();
  // Sound may be slightly out of order, but is never earlier than the beginning of the timeline.
  expect([500, 540, 520, 499, 560].map((timestamp) => sound.audio(timestamp, 0))).toEqual([0, 40, 20, 0, 60]);
  expect([sound.video(501, 0), sound.steps]).toEqual([1, 0]);
});

test("they have 32 bits and wrap", () => {
  const time = new StreamTime();
  expect([time.video(2 ** 32 - 10, 0), time.audio(2 ** 32 - 1, 0), time.video(0, 10), time.audio(30, 40), time.steps]).toEqual([0, 9, 10, 40, 0]);
});

test("an unexplained difference of more than a second is a step, forward or back, and the timeline continues by the last duration", () => {
  const stepsOf = (...timestamps: readonly number[]) => {
    const time = new StreamTime();
    const places = [0, 40, ...timestamps].map((timestamp) => time.video(timestamp, 0));
    return [time.steps, ...places.slice(2)];
  };
  expect([stepsOf(1_040), stepsOf(1_041), stepsOf(1_041, 1_081)]).toEqual([
    [0, 1_040],
    [1, 80],
    [1, 80, 120],
  ]);
  expect([stepsOf(2_000_000), stepsOf(-960), stepsOf(-961)]).toEqual([
    [1, 80],
    [0, 41],
    [1, 80],
  ]);
});

test("a pause is not a step if the same time has passed, or if the other track has the same time", () => {
  const paused = new StreamTime();
  paused.video(0, 0);
  expect([paused.video(6_000, 5_000), paused.steps]).toEqual([6_000, 0]);
  // An encoder sends a file faster than in real time: pictures pause, and the sound continues.
  const fast = new StreamTime();
  fast.video(0, 0);
  for (let ms = 0; ms <= 5_000; ms += 20) fast.audio(ms, 0);
  expect([fast.video(5_010, 0), fast.steps]).toEqual([5_010, 0]);
});

test("a step of both tracks counts once and keeps them together, and a track that returns to the other's clock makes no step", () => {
  const time = new StreamTime();
  time.video(0, 0);
  time.audio(5, 0);
  time.video(40, 40);
  expect([time.video(12_080, 80), time.audio(12_085, 80), time.audio(12_108, 103), time.steps]).toEqual([80, 85, 108, 1]);
  expect([time.audio(108, 130), time.steps]).toEqual([131, 2]);
  expect([time.video(12_120, 120), time.audio(12_131, 160), time.steps]).toEqual([120, 131, 2]);
});

test("at the start, tracks may be five seconds apart; beyond that they begin together", () => {
  const startOf = (videoMs: number, audioMs: number) => {
    const time = new StreamTime();
    time.video(videoMs, 0);
    return [time.audio(audioMs, 0), time.steps];
  };
  expect([startOf(0, 5_000), startOf(0, 5_001), startOf(5_000, 0), startOf(5_001, 0)]).toEqual([
    [5_000, 0],
    [0, 1],
    [0, 0],
    [0, 1],
  ]);
});
