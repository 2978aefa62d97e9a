import { expect, test } from "bun:test";
import { ConcurrencyWindow } from "./concurrency-window.ts";

const after = (count: number, step: () => void): void => {
  for (let n = 0; n < count; n++) step();
};

/** Sends requests until the window is full, and returns their number. */
function fill(window: ConcurrencyWindow): number {
  let sent = 0;
  for (; window.hasFreeSlot; sent++) window.sent(1);
  return sent;
}

test("a window begins at 4, and a slow receiver's grows with each success up to 128", () => {
  const window = new ConcurrencyWindow();
  expect(window.claimable(0)).toBe(4);
  after(3, () => window.succeeded(200));
  expect(window.claimable(0)).toBe(7);
  after(200, () => window.succeeded(200));
  expect(window.claimable(0)).toBe(128);
  expect(fill(window)).toBe(128);
});

test("a quick receiver has at most 16 running requests, and 256 claimed deliveries, 64 or more at a time", () => {
  const window = new ConcurrencyWindow();
  after(100, () => window.succeeded(1));
  expect(fill(window)).toBe(16);
  expect(window.claimable(0)).toBe(256);
  expect(window.claimable(192)).toBe(64);
  expect(window.claimable(193)).toBe(0);
  // If the queue holds fewer deliveries than the window has slots, even a claim of a few deliveries is worth its cost.
  expect(window.claimable(16)).toBe(240);
});

test("a receiver is quick up to an average of 50 ms: the new response counts for a fifth", () => {
  const claimableAfter = (...latenciesMs: readonly number[]): number => {
    const window = new ConcurrencyWindow();
    for (const latencyMs of latenciesMs) window.succeeded(latencyMs);
    return window.claimable(0);
  };
  expect([claimableAfter(50), claimableAfter(51)]).toEqual([256, 5]);
  expect([claimableAfter(25, 150), claimableAfter(25, 155)]).toEqual([256, 6]);
});

test("in between, a window has four requests for each millisecond of the receiver's latency", () => {
  const sizes = [4, 5, 10, 32, 33].map((latencyMs) => {
    const window = new ConcurrencyWindow();
    after(200, () => window.succeeded(latencyMs));
    return fill(window);
  });
  expect(sizes).toEqual([16, 20, 40, 128, 128]);
});

test("failures and timeouts also show how long the receiver takes", () => {
  const ends = [(window: ConcurrencyWindow) => window.failed(1_000), (window: ConcurrencyWindow) => window.timedOut(1_000)];
  const claimable = ends.map((end) => {
    const window = new ConcurrencyWindow();
    window.succeeded(10);
    const before = window.claimable(0);
    end(window);
    return [before, window.claimable(0)];
  });
  expect(claimable).toEqual([
    [256, 5],
    [256, 2],
  ]);
});

test("a timeout halves the window, down to one request; only the last request says whether the receiver is slow", () => {
  const window = new ConcurrencyWindow();
  after(200, () => window.succeeded(200));
  const sizes: number[] = [];
  expect([new ConcurrencyWindow().isSlow, window.isSlow]).toEqual([false, false]);
  after(8, () => {
    window.timedOut(15_000);
    sizes.push(window.claimable(0));
  });
  expect(sizes).toEqual([64, 32, 16, 8, 4, 2, 1, 1]);
  expect(window.isSlow).toBe(true);
  window.failed(10);
  expect(window.isSlow).toBe(false);
  window.timedOut(15_000);
  window.succeeded(10);
  expect(window.isSlow).toBe(false);
});

test("a failure in time neither grows nor shrinks the window", () => {
  const window = new ConcurrencyWindow();
  after(10, () => window.failed(100));
  expect(window.claimable(0)).toBe(4);
});

test("a slot is free again when the result is stored", () => {
  const window = new ConcurrencyWindow();
  fill(window);
  window.stored(1);
  expect(window.hasFreeSlot).toBe(true);
  window.sent(1);
  expect(window.hasFreeSlot).toBe(false);
});

test("POSTs with many events are fewer: none is sent while 256 events are in doubt", () => {
  const window = new ConcurrencyWindow();
  window.sent(255);
  expect(window.hasFreeSlot).toBe(true);
  window.sent(1);
  expect(window.hasFreeSlot).toBe(false);
  window.stored(255);
  expect(window.hasFreeSlot).toBe(true);
});

test("retries may take half a window, and always one", () => {
  const window = new ConcurrencyWindow();
  expect(window.retriesMax).toBe(2);
  after(4, () => window.timedOut(15_000));
  expect(window.retriesMax).toBe(1);
});
