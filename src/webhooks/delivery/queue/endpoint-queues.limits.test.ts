/** Tests the number of deliveries that the queues of a process may claim together, exactly at the limits of the process. */
import { expect, test } from "bun:test";
import { fixtureMigrations } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { TimeOrderedIds } from "#system";
import { type Health, insertCallback, saveHealth } from "../../callbacks/callbacks.store.ts";
import { Callbacks } from "../../callbacks/callbacks.ts";
import type { Claimed } from "../claims.ts";
import { EndpointQueues } from "./endpoint-queues.ts";

const HELD_MAX = 2_048;
const HELD_RETRIES_MAX = 512;
const HELD_SLOW_MAX = 256;
const NOW = 1_000;

let lastId = 0;
const claimedFor = (callback: string, isRetry = false): Claimed => {
  const id = String(++lastId);
  const event = { id, object: "page", field: "feed", entity: id, phone: null, time_ms: 0, payload: "{}", traceparent: null, tracestate: null };
  const row = { ...event, event: id, app: "1", callback, members: 0, first_attempt_ms: 0, tries: 0, attempts: "[]" };
  return { row, members: [], isRetry, isProbe: false, fence: 1, firstMs: 0 };
};

const PAUSED: Health = { failing_since_ms: 1, last_failure_ms: 1, alerted_ms: 1, paused_ms: 1, probe_due_ms: NOW };
const WELL: Health = { failing_since_ms: null, last_failure_ms: null, alerted_ms: null, paused_ms: null, probe_due_ms: null };

/** Makes queues. `healths` has the health of each callback by its id; all these callbacks are known. */
async function openQueues(healths: Readonly<Record<string, Health>> = {}) {
  const database = await (await newWorkStore("sqlite", fixtureMigrations)).open();
  const callbacks = new Callbacks(database, new TimeOrderedIds(() => 1));
  for (const [id, health] of Object.entries(healths)) {
    await database.write(async (tx) => {
      await insertCallback(tx, id, "1001", `https://receiver.example/${id}`);
      await saveHealth(tx, id, health);
    });
    await callbacks.find(id);
  }
  const wakes: number[] = [];
  const queues = new EndpointQueues({ callbacks, perSecondMax: 0, wakeIn: (ms) => wakes.push(ms) });
  const hold = (callback: string, count: number, isRetry = false): Claimed[] =>
    Array.from({ length: count }, () => {
      const one = claimedFor(callback, isRetry);
      queues.hold(one, true);
      return one;
    });
  const claims = async (isHurried = true) =>
    (await queues.requestClaims(NOW, isHurried)).map(({ queue, firsts, retries, isProbe }) => ({ queue, firsts, retries, isProbe }));
  return { queues, hold, claims, wakes };
}

const spare = ({ queues }: { queues: EndpointQueues }, callback: string): void => {
  for (let n = 0; n < 22; n++) queues.get(callback).failed(false, 200, performance.now() + 1_000_000);
};

test("a process holds 2,048 deliveries, and claims 512 at once", async () => {
  const { queues, hold, claims } = await openQueues();
  hold("8", HELD_MAX - 3);
  for (const callback of ["7", "9"]) queues.get(callback).firstWaits();
  // The concurrency window of the first queue has four slots, but the process has room for only three deliveries, so the second queue may claim none.
  expect(await claims()).toEqual([{ queue: "7", firsts: 3, retries: 0, isProbe: false }]);
  expect(await queues.hasCapacity("7", false)).toBe(true);
  const last = hold("8", 3);
  expect(await claims()).toEqual([]);
  expect(await queues.hasCapacity("7", false)).toBe(false);
  queues.stored(last[0] as Claimed, false);
  expect(await claims()).toHaveLength(1);
});

test("512 deliveries are claimed in a turn, queue by queue, and another queue is first each time", async () => {
  const { queues, claims } = await openQueues();
  for (let callback = 101; callback <= 300; callback++) queues.get(String(callback)).firstWaits();
  const [first, second] = [await claims(), await claims()];
  for (const turn of [first, second]) expect(turn.reduce((sum, { firsts }) => sum + firsts, 0)).toBe(512);
  expect([first[0]?.queue, second[0]?.queue]).toEqual(["101", "102"]);
});

test("512 retries are held in total, and first attempts have their own room", async () => {
  const { queues, hold, claims } = await openQueues();
  for (const callback of ["7", "9"]) {
    queues.get(callback).retryWaits(NOW);
    queues.get(callback).firstWaits();
  }
  const held = hold("8", HELD_RETRIES_MAX - 3, true);
  // The first queue may claim two deliveries, which is half of its concurrency window, and the second queue may claim the last one.
  expect((await claims()).map(({ retries }) => retries)).toEqual([2, 1]);
  expect(await queues.hasCapacity("7", true)).toBe(true);
  hold("8", 3, true);
  expect(await claims()).toEqual(["9", "7"].map((queue) => ({ queue, firsts: 4, retries: 0, isProbe: false })));
  expect([await queues.hasCapacity("7", true), await queues.hasCapacity("7", false)]).toEqual([false, true]);
  queues.stored(held[0] as Claimed, false);
  expect(await queues.hasCapacity("7", true)).toBe(true);
});

test("receivers that timed out share 256 of them", async () => {
  const { queues, hold, claims } = await openQueues();
  for (const callback of ["7", "9"]) {
    queues.get(callback).firstWaits();
    queues.get(callback).failed(true, 15_000, 0);
  }
  queues.get("8").failed(true, 15_000, 0);
  queues.get("10").firstWaits();
  const held = hold("8", HELD_SLOW_MAX - 3);
  expect(await claims()).toEqual([
    { queue: "7", firsts: 2, retries: 0, isProbe: false },
    { queue: "9", firsts: 1, retries: 0, isProbe: false },
    { queue: "10", firsts: 4, retries: 0, isProbe: false },
  ]);
  expect(await queues.hasCapacity("7", false)).toBe(true);
  hold("8", 3);
  expect((await claims()).map(({ queue }) => queue)).toEqual(["10"]);
  expect([await queues.hasCapacity("7", false), await queues.hasCapacity("10", false)]).toEqual([false, true]);
  queues.stored(held[0] as Claimed, false);
  expect(await queues.hasCapacity("7", false)).toBe(true);
});

test("D-137: a paused callback is tried once, at the exact millisecond, and nothing is reserved for it", async () => {
  const { queues, claims } = await openQueues({
    "7": PAUSED,
    "8": { ...PAUSED, probe_due_ms: NOW + 1 },
    "9": { ...PAUSED, probe_due_ms: null },
    "10": WELL,
  });
  for (const callback of ["7", "8", "9", "10"]) queues.get(callback).retryWaits(NOW + 5);
  expect(await claims()).toEqual([{ queue: "7", firsts: 1, retries: 1, isProbe: true }]);
  expect(await Promise.all(["7", "10"].map((callback) => queues.hasCapacity(callback, true)))).toEqual([false, true]);
  expect(["7", "8", "9", "10", "11"].map((callback) => queues.reserve(callback))).toEqual([false, false, false, true, false]);
  // Deliveries to a paused callback wait for the time of the callback's next test, whether or not they are due.
  expect(queues.hasDue(NOW + 4)).toBe(false);
  expect(queues.nextDueMs(NOW - 1)).toBe(NOW);
  expect(queues.nextDueMs(NOW)).toBe(NOW + 1);
  expect(queues.nextDueMs(NOW + 1)).toBe(NOW + 5);
  expect(queues.nextDueMs(NOW + 5)).toBeUndefined();
  expect(queues.hasDue(NOW + 5)).toBe(true);
});

test("a spared receiver is claimed for only in a hurry, and its turn comes when its time is over", async () => {
  const opened = await openQueues();
  const { queues, claims, wakes } = opened;
  spare(opened, "7");
  queues.get("7").firstWaits();
  expect(await claims(false)).toEqual([]);
  expect(wakes).toHaveLength(1);
  expect(wakes[0]).toBeGreaterThan(900_000);
  expect(await queues.hasCapacity("7", false)).toBe(false);
  expect(await claims(true)).toEqual([{ queue: "7", firsts: 4, retries: 0, isProbe: false }]);
  expect(wakes).toHaveLength(1);
});

test("a place is reserved for an event while the process holds fewer than 2,048, including reserved ones", async () => {
  const { queues, hold } = await openQueues({ "7": WELL, "9": WELL });
  hold("8", HELD_MAX - 2);
  expect(["7", "9", "7"].map((callback) => queues.reserve(callback))).toEqual([true, true, false]);
  queues.releaseReservations();
  // After the call, no queue has a reservation.
  expect(["9", "9", "9"].map((callback) => queues.reserve(callback))).toEqual([true, true, false]);
});

test("ten thousand queues are remembered; then those that equal a new one are forgotten, and no others", async () => {
  const { queues } = await openQueues();
  const [idle, waiting] = [queues.get("1"), queues.get("2")];
  waiting.firstWaits();
  for (let callback = 3; callback <= 10_000; callback++) queues.get(String(callback));
  expect(queues.get("1")).toBe(idle);
  queues.get("10001");
  expect(queues.get("1")).not.toBe(idle);
  expect(queues.get("2")).toBe(waiting);
});
