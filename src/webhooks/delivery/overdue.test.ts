import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { type Receiver, startReceiver, valuesAt } from "#harness/receiver";
import { chatappField, fixtureMigrations, newFeatures, openWebhooks, pauseCallback, type WebhookFixture } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";
import { listCallbacks } from "../callbacks/callbacks.store.ts";
import { CHECK_EVERY_MS, OverdueWatch } from "./overdue.ts";

test("only a delivery that is the oldest of its queue at two checks is suspected", () => {
  const watch = new OverdueWatch();
  const first = (delivery: string, queue = "7") => ({ queue, delivery, isRetry: false });
  expect(watch.waitMs(5)).toBe(0);
  expect(watch.compare([first("1"), first("2", "8")], 1_000)).toEqual([]);
  expect([watch.waitMs(1_000), watch.waitMs(30_999), watch.waitMs(31_000), watch.waitMs(31_001)]).toEqual([30_000, 1, 0, 0]);
  expect(watch.compare([first("3"), first("2", "8"), { ...first("1"), isRetry: true }], 2_000)).toEqual([first("2", "8")]);
  expect(watch.compare([first("3")], 3_000)).toEqual([first("3")]);
  expect(watch.compare([], 4_000)).toEqual([]);
  expect(watch.compare([first("3")], 5_000)).toEqual([]);
});

onEachDatabase("overdue deliveries", (kind) => {
  /** Opens webhooks and delivers one event, so that the engine has searched the database. */
  async function open(): Promise<{ fixture: WebhookFixture; receiver: Receiver }> {
    const receiver = startReceiver();
    const fixture = openWebhooks(await (await newWorkStore(kind, fixtureMigrations)).open(), { features: newFeatures(receiver.url) });
    await fixture.emit("4001", { n: 0 });
    await fixture.loop.runDue();
    return { fixture, receiver };
  }

  async function checkTwice({ webhooks }: WebhookFixture): Promise<void> {
    const nowMs = performance.now();
    for (const monotonicMs of [nowMs, nowMs + CHECK_EVERY_MS]) await webhooks.dispatcher.checkOverdue(monotonicMs);
  }

  const emit = (fixture: WebhookFixture, account: string, n: number) =>
    fixture.database.write((tx) => fixture.webhooks.make(tx, chatappField("messages"), { entity: nodeId(account), payload: { n } }));

  test("a delivery that nobody looks for is reported, counted and sent", async () => {
    const { fixture, receiver } = await open();
    const [delivery = ""] = await emit(fixture, "4002", 1);
    const [callback] = (await listCallbacks(fixture.database.reader, { limit: 1 })).rows;
    await checkTwice(fixture);
    expect(fixture.overdue.splice(0)).toEqual([{ queue: callback?.id as string, delivery, isRetry: false }]);
    expect(fixture.webhooks.metrics.overdue).toBe(1);
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 0 }, { n: 1 }]);
  });

  test("so is a due retry, but not a later one", async () => {
    const { fixture, receiver } = await open();
    receiver.response = () => new Response(null, { status: 500 });
    await emit(fixture, "4002", 1);
    await fixture.loop.runDue();
    await checkTwice(fixture);
    expect(fixture.overdue).toEqual([]);
    fixture.clock.ms += 15_000;
    await checkTwice(fixture);
    expect(fixture.overdue.splice(0)).toMatchObject([{ isRetry: true }]);
  });

  test("a delivery with a reason to wait is not: behind its entity's delivery, for a paused callback", async () => {
    const { fixture } = await open();
    const { database } = fixture;
    await emit(fixture, "4002", 1);
    await emit(fixture, "4002", 2);
    // The test writes the rows as they are while another process is sending the first delivery.
    await database.write((tx) =>
      tx.run(
        sql`UPDATE webhook_deliveries SET status = 1, first_callback = NULL, fence = 5 WHERE id = (SELECT MIN(id) FROM webhook_deliveries WHERE status = 0)`,
      ),
    );
    await checkTwice(fixture);
    await database.write((tx) => tx.run(sql`UPDATE webhook_deliveries SET status = 2, queue_entity = NULL, fence = 0, ended_ms = 1 WHERE fence = 5`));

    const [callback] = (await listCallbacks(database.reader, { limit: 1 })).rows;
    await database.write((tx) => pauseCallback(tx, callback?.id as string, fixture.clock.ms));
    await checkTwice(fixture);
    expect(fixture.overdue).toEqual([]);
  });
});
