import { expect, test } from "bun:test";

/** The script is for browsers, and has no types. */
interface Script {
  readonly SoundTimes: new () => { give(us: number, durationUs: number): void; take(durationUs: number): number };
}
const script: string = "./live-publisher.mjs";
const { SoundTimes } = (await import(script)) as Script;

const DATA_US = 10_000;
const PACKET_US = 20_000;

test("sound that was left out makes what follows no later: packets have the times at which they were heard", () => {
  const times = new SoundTimes();
  const give = (from: number, count: number): void => {
    for (let at = 0; at < count; at++) times.give(from + at * DATA_US, DATA_US);
  };
  give(1_000_000, 4);
  expect([times.take(PACKET_US), times.take(PACKET_US)]).toEqual([1_000_000, 1_020_000]);
  // The connection was broken for five seconds; then the machine was busy for one.
  give(6_000_000, 3);
  give(7_030_000, 3);
  expect([1, 2, 3].map(() => times.take(PACKET_US))).toEqual([6_000_000, 6_020_000, 7_040_000]);
  // The last packet of an encoder is filled up with silence.
  expect(times.take(PACKET_US)).toBe(7_060_000);
});
