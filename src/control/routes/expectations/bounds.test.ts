/** Tests the limits of an expectation: its waiting time, the interval of its checks, and the size of its response. */
import { expect, test } from "bun:test";
import { expectEntries } from "#control-contract/expectation";
import { openControl } from "#harness/control";
import { catchTimers } from "#harness/time/stopped-time";
import { nextTurn } from "#kernel/turns";

const request = (trace_id: string) => ({
  ...{ trace_id, operation: "listLabels", method: "GET", surface: "base", path: "/v26.0/2001/custom_labels", query: "", status: 200, time: 0 },
  ...{ duration_ms: 1, app: "1001", request_body: "", response_body: "" },
});

test("it waits for a minute at most, for one request by default, and not at all by default", async () => {
  const { request: ask, plaza } = await openControl();
  const expectRequests = (path: string, body: object) => ask("POST", path, body);
  expect((await expectRequests("requests/expect", { operation: "listLabels" })).status).toBe(422);
  plaza.world.requests.add(request("A1"));
  expect(await expectRequests("requests/expect", { operation: "listLabels" })).toMatchObject({ status: 200, body: { count: 1 } });
  expect((await expectRequests("requests/expect", { operation: "listLabels", within_ms: 60_000 })).status).toBe(200);
  for (const path of ["requests/expect", "deliveries/expect"]) {
    for (const within_ms of [60_001, -1, 0.5])
      expect(await expectRequests(path, { within_ms })).toMatchObject({ status: 400, body: { error: { parameter: "within_ms" } } });
    for (const count of [-1, 0.5])
      expect(await expectRequests(path, { count })).toMatchObject({ status: 400, body: { error: { parameter: "count" } } });
    expect((await expectRequests(path, { count: 0, within_ms: 0, operation: path.startsWith("req") ? "createLabel" : undefined })).status).toBe(200);
  }
});

test("entries without notifications are read fifty times a second, and once more at the end", async () => {
  let now = 0;
  const pauses: number[] = [];
  let reads = 0;
  const sleepMs = async (ms: number): Promise<void> => {
    pauses.push(ms);
    now += ms;
  };
  const read = async () => {
    reads++;
    return [];
  };
  const waiting = expectEntries(
    { what: "webhook", read, show: (entry) => entry },
    { kind: {}, match: {} },
    { count: 1, within_ms: 50 },
    { nowMs: () => now, monotonicMs: () => now, sleepMs },
  );
  await expect(waiting).rejects.toThrow("expected 1 webhook, saw 0");
  expect({ pauses, reads }).toEqual({ pauses: [20, 20, 10], reads: 4 });
});

test("an announced entry is checked when it arrives, and nothing is read meanwhile", async () => {
  const { timeouts } = catchTimers();
  const entries: { operation: string }[] = [];
  const announced = Promise.withResolvers<void>();
  let reads = 0;
  const waiting = expectEntries(
    {
      what: "request",
      read: async () => {
        reads++;
        return entries;
      },
      next: () => announced.promise,
      show: ({ operation }) => operation,
    },
    { kind: { operation: "a" }, match: {} },
    { count: 1, within_ms: 60_000 },
    { nowMs: () => 0, monotonicMs: () => 0, sleepMs: () => Promise.reject(new Error("nobody sleeps")) },
  );
  await nextTurn();
  expect(reads).toBe(1);
  expect(timeouts).toMatchObject([{ ms: 60_000, isCleared: false }]);
  entries.push({ operation: "a" });
  announced.resolve();
  expect(await waiting).toEqual({ count: 1, data: ["a"] });
  expect(reads).toBe(2);
  expect(timeouts).toMatchObject([{ isCleared: true }]);
});

test("it shows the newest fifty entries of the kind", async () => {
  const all = Array.from({ length: 60 }, (_, at) => ({ operation: at % 10 === 9 ? "b" : "a", at }));
  const refusal = await expectEntries(
    { what: "request", read: async () => all, show: ({ at }) => at },
    { kind: { operation: "a" }, match: { status: 200 } },
    { count: 1, within_ms: 0 },
    { nowMs: () => 0, monotonicMs: () => 0, sleepMs: async () => {} },
  ).catch((error: unknown) => error);
  const ofKind = all.filter(({ operation }) => operation === "a").map(({ at }) => at);
  expect(ofKind.length).toBeGreaterThan(50);
  expect(refusal).toMatchObject({ beside: { count: 0, data: ofKind.slice(0, 50) } });
});
