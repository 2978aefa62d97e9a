/** Checks the overview's chart for requests from before the console connected. */
import { expect, test } from "bun:test";
import { Rates } from "#console/api/rate";

const T = 1_795_000_000_000;
const counts = (seen: number, refused = 0, failed = 0) => ({ seen, refused, failed });
/** The values of the chart for the last seconds, 5 s each. */
const from = (rates: Rates, nowMs: number, seconds: number) => rates.history(nowMs).all.slice(-seconds / 5);

test("the stream's requests are counted in steps of five seconds, and the last three seconds for the header", () => {
  const rates = new Rates();
  rates.connect(T);
  rates.add(T + 1_000, counts(10, 2, 1));
  rates.add(T + 6_000, counts(5));
  expect(rates.perSecond(T + 6_500)).toBe(5 / 3);
  expect(from(rates, T + 15_000, 15)).toEqual([2, 1, 0]);
  const { times, refused, failed, sums } = rates.history(T + 15_000);
  expect({ times: times.slice(-2), refused: refused.at(-3), failed: failed.at(-3), sums }).toEqual({
    times: [-5, 0],
    refused: 0.4,
    failed: 0.2,
    sums: counts(15, 2, 1),
  });
});

test("before the connection only the log's requests are known, from its oldest entry on", () => {
  const rates = new Rates();
  rates.connect(T);
  expect(from(rates, T + 5_000, 15)).toEqual([null, null, 0]);
  rates.addEarlier([
    { atMs: T - 6_000, status: 200 },
    { atMs: T - 1_000, status: 503 },
    // The event stream has reported this request to the console already.
    { atMs: T + 1_000, status: 200 },
  ]);
  expect(from(rates, T + 5_000, 20)).toEqual([null, 0.2, 0.2, 0]);
  // Requests count only once, even if the log is read again.
  rates.addEarlier([{ atMs: T - 1_000, status: 503 }]);
  expect(rates.history(T + 5_000).sums).toEqual(counts(2, 0, 1));
});

test("while the tab was hidden nothing is known, and requests from that time are not part of the current rate", () => {
  const rates = new Rates();
  rates.connect(T);
  rates.disconnect(T + 5_000);
  rates.connect(T + 30_000);
  rates.add(T + 30_100, counts(1_000));
  rates.add(T + 30_200, counts(5));
  expect(rates.perSecond(T + 30_300)).toBe(5 / 3);
  expect(from(rates, T + 35_000, 35)).toEqual([0, null, null, null, null, null, 1]);
});

test("a short loss of the connection does not count, and another filter loses nothing", () => {
  const rates = new Rates();
  rates.connect(T);
  rates.disconnect(T + 2_000);
  rates.connect(T + 2_500);
  rates.add(T + 2_600, counts(5));
  expect(from(rates, T + 5_000, 5)).toEqual([1]);
  rates.clear();
  expect(from(rates, T + 5_000, 5)).toEqual([null]);
});

test("counts are dropped after ten minutes", () => {
  const rates = new Rates();
  rates.connect(T);
  rates.add(T, counts(5));
  expect(rates.history(T + 600_000).sums.seen).toBe(5);
  expect(rates.history(T + 605_000).sums.seen).toBe(0);
});
