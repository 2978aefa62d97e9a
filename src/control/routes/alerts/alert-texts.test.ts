/** D-279: tests the exact texts of alerts about callbacks and about a stopped clock. `alerts.test.ts` tests the times at which the alerts come. */
import { expect, spyOn, test } from "bun:test";
import type { Alert } from "#control-contract/alert";
import type { OpenWorld } from "#graph/worlds/open-world";
import { afterThisTest } from "#harness/cleanup";
import * as callbacks from "#webhooks/callbacks/callbacks.store";
import * as unrouted from "#webhooks/history/retention.store";
import * as clock from "../clock.ts";
import { clockAlerts, webhookAlerts } from "./alerts.ts";

const NOW = 1_795_000_000;
const healthy = { failing_since_ms: null, last_failure_ms: null, alerted_ms: null, paused_ms: null, probe_due_ms: null };

async function alertsOf(troubled: object[], counts: { app: string; count: number }[] = []): Promise<readonly Alert[]> {
  const rows = troubled.map((more, at) => ({ id: String(at + 1), url: "http://r/", app: "1001", ...healthy, ...more }));
  const spies = [
    spyOn(callbacks, "listTroubled").mockImplementation(async () => rows as never),
    spyOn(unrouted, "countUnrouted").mockImplementation(async () => counts as never),
  ];
  const found = await webhookAlerts({ database: { reader: {} } } as unknown as OpenWorld);
  for (const spy of spies) spy.mockRestore();
  return found;
}

test("a callback is paused by a person, by its own response, or after five days of failures, and each alert says how it ends", async () => {
  const waits = "New webhooks wait until you resume it";
  const name = "The callback http://r/ of app 1001";
  const paused_ms = NOW * 1_000 + 500;
  const failing = { failing_since_ms: NOW * 1_000, last_failure_ms: NOW * 1_000, alerted_ms: NOW * 1_000 };
  const paused = (id: string, level: string, text: string) => ({ kind: "callback_paused", level, of: id, text, time: NOW + 0.5 });
  expect(await alertsOf([{ paused_ms }, { ...failing, paused_ms }, { ...failing, paused_ms, probe_due_ms: 1 }])).toEqual([
    paused("1", "notice", `${name} is paused by a person. ${waits}.`),
    paused("2", "error", `${name} is paused, because it returned 410. ${waits}.`),
    paused("3", "error", `${name} is paused, because every attempt failed for five days. ${waits}, or until one of its hourly attempts succeeds.`),
  ] as Alert[]);
});

test("a failing callback is a warning, and an error an hour after its first failure", async () => {
  const text = "The callback http://r/ of app 1001 fails. The webhooks of this callback are sent again; after five days the callback is paused.";
  const failing_since_ms = NOW * 1_000 + 250;
  expect(await alertsOf([{ failing_since_ms }, { failing_since_ms, alerted_ms: 1 }])).toEqual([
    { kind: "callback_failing", level: "warning", of: "1", text, time: NOW + 0.25 },
    { kind: "callback_failing", level: "error", of: "2", text, time: NOW + 0.25 },
  ]);
});

test("webhooks that wait for a callback are counted, up to a thousand", async () => {
  const texts = (
    await alertsOf(
      [],
      [1, 2, 999, 1_000].map((count) => ({ app: "1001", count })),
    )
  ).map(({ text }) => text);
  const end = "for a callback of app 1001: the app has no verified callback.";
  expect(texts).toEqual(["1 webhook waits", "2 webhooks wait", "999 webhooks wait", "1000 webhooks and more wait"].map((start) => `${start} ${end}`));
});

test("a stopped clock is an alert if it delays something: the alert names the first deadline and counts the others", async () => {
  const alerts = async (isFrozen: boolean, due: readonly { time: number; kind: string; of: string }[]) => {
    const spy = spyOn(clock, "deadlinesOf").mockImplementation(async () => due as never);
    afterThisTest(() => spy.mockRestore());
    const found = await clockAlerts({ name: "orders", clock: { isFrozen } } as unknown as OpenWorld);
    spy.mockRestore();
    return found;
  };
  const retry = { time: NOW + 0.5, kind: "webhook_retry", of: "http://r/" };
  // If a job that only removes old data is late, nobody is harmed, so no alert comes.
  const tidying = { time: NOW, kind: "webhook_retention", of: "" };
  const alert = (others: string) => ({
    ...{ kind: "clock_stopped", level: "notice", of: "orders", time: NOW + 0.5 },
    text: `The world's clock is stopped, so webhook retry of http://r/, due at 2026-11-18T11:06:40.500Z, waits${others}. Let the clock run, or move it.`,
  });
  expect(await alerts(true, [tidying, retry])).toEqual([alert("")] as Alert[]);
  expect(await alerts(true, [retry, tidying, { ...retry, time: NOW + 1 }, { ...retry, time: NOW + 2 }])).toEqual([
    alert(", and so do 2 more"),
  ] as Alert[]);
  expect(await alerts(true, [tidying])).toEqual([]);
  expect(await alerts(true, [])).toEqual([]);
  expect(await alerts(false, [retry])).toEqual([]);
});
