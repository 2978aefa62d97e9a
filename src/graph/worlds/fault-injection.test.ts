import { describe, expect, test } from "bun:test";
import type { FaultyPost } from "#webhooks/deps";
import { appUsage, caseUsage } from "../response/usage.ts";
import { changesResponse, errorOf, Faults, type FaultTarget } from "./fault-injection.ts";

/** Makes faults that use the given random numbers in turn, and lists the times that they waited. */
function made(...fractions: number[]) {
  const slept: number[] = [];
  const time = { nowMs: 0 };
  const sleepMs = async (ms: number): Promise<void> => {
    await Promise.resolve();
    slept.push(ms);
  };
  const faults = new Faults({ sleepMs, randomFraction: () => fractions.shift() ?? 0, monotonicMs: () => time.nowMs });
  return { faults, slept, time };
}

const target = (words: Partial<FaultTarget> = {}): FaultTarget => ({
  ...{ operation: "listLabels", node: "1", tokens: ["t"], parameter: (name: string) => ({ limit: "5", fields: "id" })[name], isPart: false },
  ...words,
});

const post = (words: Partial<FaultyPost> = {}): FaultyPost => ({
  ...{ delivery: "7", callback: "3", fields: ["messages", "feed"], entity: "1", isRetry: false },
  ...words,
});

test("D-370: a fault lets requests pass first, and ends some real time after its first request", async () => {
  const { faults, time } = made();
  faults.add({ operation: "listLabels", status: 503, skip: 2, lasts_ms: 50 });
  const met = async () => (await faults.match(target())) !== undefined;
  expect([await met(), await met(), await met(), await met()]).toEqual([false, false, true, true]);
  expect((await faults.match(target({ operation: "createLabel" }))) !== undefined).toBe(false);
  time.nowMs = 49;
  expect(await met()).toBe(true);
  time.nowMs = 50;
  expect(await met()).toBe(false);
  expect(faults.list()).toEqual([]);
});

test("D-370: two faults at two requests do not hide each other", async () => {
  const { faults } = made();
  faults.add({ operation: "listLabels", status: 503, skip: 0, times: 1 });
  faults.add({ operation: "listLabels", status: 500, skip: 1, times: 1 });
  const statuses = [await faults.match(target()), await faults.match(target()), await faults.match(target())].map((one) => one?.status);
  expect(statuses).toEqual([503, 500, undefined]);
});

describe("D-150: a fault for requests", () => {
  test.each([
    ["its operation", { operation: "listLabels" }, true],
    ["any operation", { operation: "*" }, true],
    ["another operation", { operation: "createLabel" }, false],
    ["its node", { operation: "*", node: "1" }, true],
    ["another node", { operation: "*", node: "2" }, false],
    ["its token", { operation: "*", token: "t" }, true],
    ["another token", { operation: "*", token: "u" }, false],
    ["all its parameters", { operation: "*", query: { limit: "5", fields: "id" } }, true],
    ["one parameter of two", { operation: "*", query: { limit: "5", fields: "name" } }, false],
    ["a parameter that was not sent", { operation: "*", query: { after: "x" } }, false],
  ])("matches %s: %p, %p", async (_title, input, isMet) => {
    const { faults } = made();
    faults.add(input);
    expect((await faults.match(target())) !== undefined).toBe(isMet);
  });

  test("applies the given number of times, is counted, and is then deleted", async () => {
    const { faults } = made();
    faults.add({ operation: "*", status: 500, times: 2 });
    expect(faults.isEmpty).toBe(false);
    expect(await faults.match(target())).toMatchObject({ status: 500 });
    expect(faults.list()).toEqual([{ id: "1", operation: "*", status: 500, times: 2, met: 1 }]);
    expect(await faults.match(target())).toMatchObject({ status: 500 });
    expect(faults.isEmpty).toBe(true);
    expect(await faults.match(target())).toBeUndefined();
  });

  test("applies to the given share: when a random number is below it", async () => {
    const { faults } = made(0.24, 0.25, 0.99, 0.999_999);
    faults.add({ operation: "*", probability: 0.25 });
    expect(await faults.match(target())).toMatchObject({ probability: 0.25 });
    expect(await faults.match(target())).toBeUndefined();
    expect(await faults.match(target())).toBeUndefined();
    faults.clear();
    faults.add({ operation: "*" });
    expect(await faults.match(target())).toEqual({ id: "2", operation: "*" });
    expect(faults.list()).toMatchObject([{ id: "2", met: 1 }]);
  });

  test("the first that matches counts, after its latency", async () => {
    const { faults, slept } = made();
    faults.add({ operation: "createLabel", status: 400 });
    faults.add({ operation: "*", status: 503, latency_ms: 70 });
    faults.add({ operation: "*", status: 500, latency_ms: 90 });
    expect(await faults.match(target())).toMatchObject({ status: 503 });
    expect(slept).toEqual([70]);
    expect(faults.list().map(({ met }) => met)).toEqual([0, 1, 0]);
  });

  test("one that changes a response does not apply to a part of a batch", async () => {
    for (const change of [{ body: "" }, { reset: true }, { cut_body_at: 0 }, { body_bytes_per_second: 1 }]) {
      const { faults } = made();
      faults.add({ operation: "*", ...change });
      expect(await faults.match(target({ isPart: true }))).toBeUndefined();
      expect(await faults.match(target())).toEqual({ id: "1", operation: "*", ...change });
    }
    expect(changesResponse({ operation: "*", reset: false, status: 500 })).toBe(false);
  });

  test("does not match webhooks, nor does a webhook fault match requests", async () => {
    const { faults } = made();
    faults.add({ operation: "*" });
    expect(await faults.matchWebhook(post())).toBeUndefined();
    faults.clear();
    faults.add({ webhook: "*", effect: "lose" });
    expect(await faults.match(target())).toBeUndefined();
  });
});

describe("D-150: a fault for webhooks", () => {
  test.each([
    ["any field", { webhook: "*", effect: "lose" }, true, "lose"],
    ["one field of the POST", { webhook: "feed", effect: "repeat" }, true, "repeat"],
    ["another field", { webhook: "live", effect: "lose" }, true, undefined],
    ["its node", { webhook: "*", node: "1", effect: "lose" }, true, "lose"],
    ["another node", { webhook: "*", node: "2", effect: "lose" }, true, undefined],
    ["an order that can change", { webhook: "*", effect: "reorder" }, true, "reorder"],
    ["an order that cannot change", { webhook: "*", effect: "reorder" }, false, undefined],
    ["another effect where the order cannot change", { webhook: "*", effect: "lose" }, false, "lose"],
  ] as const)("%s", async (_title, input, canReorder, effect) => {
    const { faults } = made();
    faults.add(input);
    expect(await faults.matchWebhook(post({ isRetry: !canReorder }))).toBe(effect);
  });

  test("D-370: the webhooks in one POST are counted one by one, so that a fault affects the POST with its webhook", async () => {
    const { faults } = made();
    faults.add({ webhook: "messages", effect: "repeat", skip: 2, times: 2 });
    const effectOf = (...fields: string[]) => faults.matchWebhook(post({ fields }));
    expect([await effectOf("messages", "feed", "messages"), await effectOf("feed")]).toEqual([undefined, undefined]);
    expect([await effectOf("feed", "messages"), await effectOf("messages")]).toEqual(["repeat", "repeat"]);
    faults.add({ webhook: "*", effect: "repeat", skip: 1, times: 1 });
    expect([await effectOf("feed", "messages"), await effectOf("feed")]).toEqual(["repeat", undefined]);
  });

  test("D-370: one that delays waits, one that batches waits once for each delivery, and one that reorders waits for a later delivery", async () => {
    const { faults, slept } = made();
    faults.add({ webhook: "*", effect: "delay", latency_ms: 30, times: 1 });
    faults.add({ webhook: "*", effect: "batch", times: 2 });
    expect([await faults.matchWebhook(post()), slept]).toEqual([undefined, [30]]);
    expect([await faults.matchWebhook(post()), slept]).toEqual(["batch", [30, 1_000]]);
    expect([await faults.matchWebhook(post()), slept]).toEqual([undefined, [30, 1_000]]);
    expect(faults.isEmpty).toBe(false);
    faults.clear();
    expect(faults.isEmpty).toBe(true);
  });

  test("D-370: a reordered delivery follows the next one of its callback", async () => {
    const never = new Promise<void>(() => {});
    const faults = new Faults({ sleepMs: () => never, randomFraction: () => 0, monotonicMs: () => 0 });
    faults.add({ webhook: "*", effect: "reorder", latency_ms: 30, times: 1 });
    expect(await faults.matchWebhook(post())).toBe("follow");
    expect(faults.isEmpty).toBe(false);
    const followed = faults.matchWebhook(post({ isRetry: true }));
    faults.delivered(post({ delivery: "8", callback: "other" }));
    faults.delivered(post());
    faults.delivered(post({ delivery: "8" }));
    expect(await followed).toBeUndefined();
    expect(faults.isEmpty).toBe(true);
  });
});

describe("the error of a fault", () => {
  const error = (words: Parameters<typeof errorOf>[0]) => errorOf(words, "1");

  test("exists for a status, with code 2 by default, and is transient for 429 and from 500 on", () => {
    expect(errorOf({ operation: "*" }, "1")).toBeUndefined();
    expect(error({ operation: "*", status: 400 })?.entry).toMatchObject({ status: 400, code: 2 });
    expect(error({ operation: "*", status: 400, code: 17 })?.entry).toMatchObject({ code: 17 });
    const passes = (status: number) => error({ operation: "*", status })?.entry.isTransient;
    expect([429, 500, 503].map(passes)).toEqual([true, true, true]);
    expect([400, 428, 430, 499].map(passes)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test("D-22: of an exceeded rate limit has it in its header, with the minutes to wait, rounded up", () => {
    const page = error({ operation: "*", rate_limit: "page", retry_after_seconds: 61 });
    expect({ ...page?.entry }).toMatchObject({ status: 429, code: 613 });
    expect(page?.details.headers).toMatchObject({ "x-business-use-case-usage": caseUsage("1", 100, 2) });
    const app = error({ operation: "*", rate_limit: "app" });
    expect({ ...app?.entry }).toMatchObject({ status: 429, code: 4 });
    expect(app?.details.headers).toMatchObject({ "retry-after": "60", "x-app-usage": appUsage(100) });
  });
});
