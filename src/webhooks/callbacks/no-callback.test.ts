import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { type Receiver, startReceiver, valuesAt } from "#harness/receiver";
import { fixtureMigrations, newFeatures, openWebhooks, pauseCallback, type WebhookFixture } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { listDeliveries } from "../history/list.store.ts";
import { viewOf } from "../history/view.ts";
import { listCallbacks } from "./callbacks.store.ts";

const HOUR = 3_600;

onEachDatabase("events of an app without a working callback", (kind) => {
  async function open(): Promise<{ fixture: WebhookFixture; receiver: Receiver }> {
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    return { fixture: openWebhooks(database, { features: newFeatures() }), receiver: startReceiver() };
  }
  const deliveries = async ({ database }: WebhookFixture) => (await listDeliveries(database.reader, {}, { limit: 100 })).rows;
  const rerouted = ({ database, webhooks }: WebhookFixture, app = "1001") => database.write((tx) => webhooks.routesChanged(tx, app));

  test("without a verified callback, events wait with a reason; when there is one they arrive", async () => {
    const { fixture, receiver } = await open();
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    fixture.features.apps.set("1001", { url: receiver.url, isVerified: false, secret: "s" });
    await fixture.database.write(async (tx) => tx.invalidate("app", "1001"));
    await fixture.emit("4001", { n: 2 });
    await fixture.loop.runDue();
    const reasons = (await deliveries(fixture)).map(({ attempts }) => JSON.parse(attempts).at(-1).error);
    expect(reasons).toEqual(["callback_not_verified", "no_callback"]);
    fixture.features.apps.set("1001", { url: receiver.url, secret: "s" });
    await fixture.database.write(async (tx) => tx.invalidate("app", "1001"));
    await rerouted(fixture);
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("D-63, D-137: events for a paused callback that the app gives up have no route, say so, and go to the next one; the pause ends", async () => {
    const { fixture, receiver } = await open();
    const other = startReceiver();
    const { features, database, clock } = fixture;
    const use = async (url?: string) => {
      features.apps.set("1001", url === undefined ? { secret: "s" } : { url, secret: "s" });
      await database.write(async (tx) => tx.invalidate("app", "1001"));
      await rerouted(fixture);
      await fixture.loop.runDue();
    };
    const shown = async () => (await deliveries(fixture)).map(viewOf).map(({ status, reason }) => [status, reason]);
    await use(receiver.url);
    receiver.response = () => new Response(null, { status: 500 });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    const paused = (await listCallbacks(database.reader, { limit: 1 })).rows[0]?.id ?? "";
    await database.write((tx) => pauseCallback(tx, paused, clock.ms));
    // At this point in the test, one delivery waits for a retry and one for its first attempt.
    await fixture.emit("4002", { n: 2 });
    await fixture.loop.runDue();
    expect(await shown()).toEqual([
      ["waiting", "callback_paused"],
      ["waiting", "callback_paused"],
    ]);
    await use();
    expect(await shown()).toEqual([
      ["waiting", "no_callback"],
      ["waiting", "no_callback"],
    ]);
    expect((await listCallbacks(database.reader, { limit: 1 })).rows).toMatchObject([{ id: paused, paused_ms: null, failing_since_ms: null }]);
    await use(other.url);
    expect(valuesAt(other)).toContainAllValues([{ n: 1 }, { n: 2 }]);
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
  });

  test("D-62: events without a route for one app never travel with another app's delivery", async () => {
    const { fixture, receiver } = await open();
    const other = startReceiver();
    const { features } = fixture;
    features.apps.set("1002", { url: other.url, isVerified: false, secret: "t" });
    features.subscribers = () => ["1001", "1002"];
    for (const n of [1, 2]) await fixture.emit("4001", { n });
    await fixture.loop.runDue();
    const verify = async (app: string, url: string) => {
      features.apps.set(app, { url, secret: "s" });
      await fixture.database.write(async (tx) => tx.invalidate("app", app));
      await rerouted(fixture, app);
      await fixture.loop.runDue();
    };
    await verify("1002", other.url);
    expect({ first: valuesAt(receiver), second: valuesAt(other) }).toEqual({ first: [], second: [{ n: 1 }, { n: 2 }] });
    await verify("1001", receiver.url);
    expect({ first: valuesAt(receiver), second: valuesAt(other) }).toEqual({ first: [{ n: 1 }, { n: 2 }], second: [{ n: 1 }, { n: 2 }] });
  });

  test("events without a callback fail after the last retry, and can be replayed", async () => {
    const { fixture, receiver } = await open();
    await fixture.emit("4001", { n: 1 });
    await fixture.advance(37 * HOUR);
    const [row] = await deliveries(fixture);
    expect(row?.status).toBe(3);
    fixture.features.apps.set("1001", { url: receiver.url, secret: "s" });
    await fixture.database.write(async (tx) => tx.invalidate("app", "1001"));
    expect(await fixture.webhooks.replay(row?.id as string)).toBe(true);
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
  });
});
