import { expect, test } from "bun:test";
import { CircuitBreaker } from "./circuit-breaker.ts";

const failing = (count: number, isTimeout = false): CircuitBreaker => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < count; n++) breaker.failed(isTimeout, 0);
  return breaker;
};

test("it opens after 22 failures in a row, or 7 timeouts", () => {
  expect(failing(21).isClosed).toBe(true);
  expect(failing(22).isClosed).toBe(false);
  expect(failing(6, true).isClosed).toBe(true);
  expect(failing(7, true).isClosed).toBe(false);
});

test("it stays open for 1 s, then twice as long after each probe that fails, up to 30 s", () => {
  const breaker = failing(22);
  let nowMs = 0;
  const waits: number[] = [];
  for (let probe = 0; probe < 7; probe++) {
    waits.push(breaker.waitMs(nowMs));
    nowMs += breaker.waitMs(nowMs);
    expect({ isClosed: breaker.isClosed, waitMs: breaker.waitMs(nowMs) }).toEqual({ isClosed: false, waitMs: 0 });
    breaker.failed(false, nowMs);
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test("requests that were out together when it opened count as one failure", () => {
  const breaker = failing(60);
  expect(breaker.waitMs(0)).toBe(1_000);
});

test("a success closes it, and the next time it opens for 1 s again", () => {
  const breaker = failing(22);
  breaker.failed(false, 1_000);
  expect(breaker.waitMs(1_000)).toBe(2_000);
  breaker.succeeded();
  expect({ isClosed: breaker.isClosed, waitMs: breaker.waitMs(1_000) }).toEqual({ isClosed: true, waitMs: 0 });
  while (breaker.isClosed) breaker.failed(false, 5_000);
  expect(breaker.waitMs(5_000)).toBe(1_000);
});

test("it remembers some ten requests: one success after many failures is undone by the next failure, many are not", () => {
  const failuresUntilOpen = (breaker: CircuitBreaker): number => {
    let failures = 0;
    for (; breaker.isClosed; failures++) breaker.failed(false, 0);
    return failures;
  };
  const counts = [1, 2, 5, 10, 100].map((successes) => {
    const breaker = failing(60);
    for (let n = 0; n < successes; n++) breaker.succeeded();
    return failuresUntilOpen(breaker);
  });
  expect(counts).toEqual([1, 7, 14, 18, 22]);
});

test("a receiver that fails three requests in ten is never spared", () => {
  const breaker = new CircuitBreaker();
  let die = 7;
  for (let n = 0; n < 100_000; n++) {
    die = (die * 48_271) % 2_147_483_647;
    if (die / 2_147_483_647 < 0.3) breaker.failed(false, 0);
    else breaker.succeeded();
    expect(breaker.isClosed).toBe(true);
  }
});
