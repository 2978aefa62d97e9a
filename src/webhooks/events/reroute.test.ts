/** D-138: tests that waiting deliveries end when their app has unsubscribed. */
import { expect, test } from "bun:test";
import { Type } from "typebox";
import { onEachDatabase } from "#harness/databases";
import { type Receiver, startReceiver, valuesAt } from "#harness/receiver";
import { chatappField, fixtureMigrations, newFeatures, openWebhooks, pauseCallback, type WebhookFixture } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { nodeId } from "#kernel/ids";
import { listCallbacks } from "../callbacks/callbacks.store.ts";
import { defineWebhookField, type WebhookField } from "../catalogue/field.ts";
import { listDeliveries } from "../history/list.store.ts";
import { viewOf } from "../history/view.ts";

const DAY = 24 * 3_600;

onEachDatabase("unsubscribing", (kind) => {
  async function open(): Promise<{ fixture: WebhookFixture; receiver: Receiver }> {
    const receiver = startReceiver();
    const fixture = openWebhooks(await (await newWorkStore(kind, fixtureMigrations)).open(), { features: newFeatures(receiver.url) });
    return { fixture, receiver };
  }
  const rows = async ({ database }: WebhookFixture) => (await listDeliveries(database.reader, {}, { limit: 100 })).rows;
  const views = async (fixture: WebhookFixture) => (await rows(fixture)).map(viewOf);
  /** Replaces the subscriptions of the app, as a feature does: from now on the app has only the given fields. */
  async function subscribe(fixture: WebhookFixture, fields: readonly string[], isAnnounced = true): Promise<void> {
    fixture.features.subscribers = ({ field }) => (fields.includes(field) ? ["1001"] : []);
    if (isAnnounced) await fixture.database.write((tx) => fixture.webhooks.subscriptionsChanged(tx, "1001"));
  }
  const counted = ({ webhooks }: WebhookFixture) => [...webhooks.metrics.entries()].map(({ field, unsubscribed }) => ({ field, unsubscribed }));

  test("a delivery that waits for a retry ends, and stays ended when the app subscribes again; a replay then sends it", async () => {
    const { fixture, receiver } = await open();
    receiver.response = () => new Response(null, { status: 500 });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    await subscribe(fixture, []);
    await fixture.loop.runDue();
    const [ended] = await views(fixture);
    expect(ended).toMatchObject({ status: "unsubscribed", ended_time: fixture.clock.ms / 1000, attempts: [{ status: 500 }] });
    expect(ended).not.toHaveProperty("next_attempt_time");
    expect(counted(fixture)).toEqual([{ field: "messages", unsubscribed: 1 }]);
    // D-137: no delivery waits for the callback any more.
    expect((await listCallbacks(fixture.database.reader, { limit: 1 })).rows).toMatchObject([{ failing_since_ms: null }]);

    await fixture.webhooks.replay(ended?.id ?? "");
    await fixture.loop.runDue();
    expect(await views(fixture)).toMatchObject([{ status: "unsubscribed" }]);
    receiver.response = () => new Response("ok");
    await subscribe(fixture, ["messages"]);
    await fixture.advance(2 * DAY);
    expect(receiver.posts).toHaveLength(1);
    await fixture.webhooks.replay(ended?.id ?? "");
    await fixture.loop.runDue();
    expect(await views(fixture)).toMatchObject([{ status: "delivered" }]);
  });

  test("a delivery for a paused callback, or without a callback, ends too; another app's and another field's do not", async () => {
    const { fixture, receiver } = await open();
    fixture.features.apps.set("1002", { secret: "x" }).set("1003", { secret: "x" });
    fixture.features.subscribers = () => ["1001", "1002", "1003"];
    await fixture.emit("4001", { n: 0 });
    await fixture.loop.runDue();
    const [callback] = (await listCallbacks(fixture.database.reader, { limit: 1 })).rows;
    await fixture.database.write((tx) => pauseCallback(tx, callback?.id ?? "", fixture.clock.ms));
    await fixture.emit("4001", { n: 1 });
    await fixture.emit("4002", { n: 2 }, { field: "history" });
    fixture.features.subscribers = ({ field }) => (field === "history" ? ["1001", "1002", "1003"] : ["1003"]);
    await fixture.database.write(async (tx) => {
      for (const app of ["1001", "1002"]) await fixture.webhooks.subscriptionsChanged(tx, app);
    });
    await fixture.loop.runDue();
    const ended = (await views(fixture)).map(({ app, field, status }) => `${app} ${field} ${status}`).sort();
    expect(ended).toEqual([
      ...["1001 history waiting", "1001 messages delivered", "1001 messages unsubscribed"],
      ...["1002 history waiting", "1002 messages unsubscribed", "1002 messages unsubscribed"],
      ...["1003 history waiting", "1003 messages waiting", "1003 messages waiting"],
    ]);
    expect(valuesAt(receiver)).toEqual([{ n: 0 }]);
  });

  test("each account, each of its numbers and each object is checked by itself", async () => {
    const receiver = startReceiver();
    receiver.response = () => new Response(null, { status: 500 });
    const ofPages: WebhookField = defineWebhookField({
      ...{ object: "page", field: "messages", payload: Type.Object({}), example: () => ({}), summary: "a field with the name of another" },
    });
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    const fixture = openWebhooks(database, { features: newFeatures(receiver.url), fields: [ofPages] });
    const wanted = ["4002", "4102", "page"];
    await fixture.emit("4001", {});
    await fixture.emit("4002", {});
    for (const phone of ["4101", "4102"]) await fixture.emit("4003", {}, { phone });
    await fixture.emit("4004", {});
    await database.write((tx) => fixture.webhooks.emit(tx, ofPages, { entity: nodeId("4004"), payload: {} }));
    await fixture.loop.runDue();
    fixture.features.subscribers = ({ object, entity, phone }) =>
      [object, entity, phone].some((one) => one !== undefined && wanted.includes(one)) ? ["1001"] : [];
    await database.write((tx) => fixture.webhooks.subscriptionsChanged(tx, "1001"));
    await fixture.loop.runDue();
    const states = (await rows(fixture)).toReversed().map((row) => {
      const { object, entity, phone_number, status } = viewOf(row);
      return [object === "page" ? object : (phone_number ?? entity), status];
    });
    expect(states).toEqual([
      ["4001", "unsubscribed"],
      ["4002", "waiting"],
      ["4101", "unsubscribed"],
      ["4102", "waiting"],
      ["4004", "unsubscribed"],
      ["page", "waiting"],
    ]);
  });

  test("a delivery behind an ended one of its entity is sent", async () => {
    const { fixture, receiver } = await open();
    await fixture.emit("4001", { n: 1 });
    await fixture.emit("4001", { n: 2 }, { field: "account_update" });
    await subscribe(fixture, ["account_update"]);
    fixture.loop.start();
    while (receiver.posts.length < 1 || (await rows(fixture)).some(({ status }) => status < 2)) await Bun.sleep(1);
    expect(valuesAt(receiver).at(-1)).toEqual({ n: 2 });
  });

  test("a batch ends only if the app has none of its fields any more", async () => {
    const { fixture, receiver } = await open();
    receiver.response = () => new Response(null, { status: 500 });
    await fixture.database.write(async (tx) => {
      for (const field of ["messages", "history"]) await fixture.webhooks.emit(tx, chatappField(field), { entity: nodeId("4001"), payload: {} });
    });
    await fixture.loop.runDue();
    await subscribe(fixture, ["history"]);
    await fixture.advance(60);
    expect(await views(fixture)).toMatchObject([{ status: "waiting", updates: 2 }]);
    expect(receiver.posts.length).toBeGreaterThan(1);
    await subscribe(fixture, []);
    await fixture.loop.runDue();
    expect(await views(fixture)).toMatchObject([{ status: "unsubscribed", updates: 2 }]);
  });

  test("whatever ended the subscription, a retry checks before it is sent", async () => {
    const { fixture, receiver } = await open();
    receiver.response = () => new Response(null, { status: 500 });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    await subscribe(fixture, [], false);
    await fixture.advance(60);
    expect(receiver.posts).toHaveLength(1);
    expect(await views(fixture)).toMatchObject([{ status: "unsubscribed" }]);
    expect(counted(fixture)).toEqual([{ field: "messages", unsubscribed: 1 }]);
  });

  test("it is removed with the others that ended", async () => {
    const { fixture, receiver } = await open();
    receiver.response = () => new Response(null, { status: 500 });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    await subscribe(fixture, []);
    await fixture.advance(32 * DAY);
    expect(await rows(fixture)).toEqual([]);
  });
});
