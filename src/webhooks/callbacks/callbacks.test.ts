import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { postAt, type Receiver, startReceiver, valuesAt } from "#harness/receiver";
import { chatappField, fixtureMigrations, newFeatures, openWebhooks, pauseCallback, type WebhookFixture } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { sql } from "#storage/sql";
import { listDeliveries, listEventsOf } from "../history/list.store.ts";
import { listCallbacks } from "./callbacks.store.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;

onEachDatabase("routes and callbacks", (kind) => {
  async function open(): Promise<{ fixture: WebhookFixture; receiver: Receiver }> {
    const receiver = startReceiver();
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    return { fixture: openWebhooks(database, { features: newFeatures(receiver.url) }), receiver };
  }
  const deliveries = async ({ database }: WebhookFixture) => (await listDeliveries(database.reader, {}, { limit: 100 })).rows;
  const callbacks = async ({ database }: WebhookFixture) => (await listCallbacks(database.reader, { limit: 100 })).rows;

  test("ROUTE-1 to ROUTE-3: the phone's override, the account's, the app's callback; D-63: for fields that honour them", async () => {
    const { fixture, receiver } = await open();
    const [phone, account] = [startReceiver(), startReceiver()];
    fixture.features.overrides.set("1001 4001", account.url).set("1001 4101", phone.url);
    await fixture.emit("4001", { n: 1 }, { phone: "4101" });
    await fixture.emit("4001", { n: 2 }, { phone: "4102" });
    await fixture.emit("4001", { n: 3 });
    await fixture.emit("4001", { n: 4 }, { phone: "4101", field: "account_update" });
    await fixture.emit("4002", { n: 5 });
    await fixture.loop.runDue();
    expect({ phone: valuesAt(phone), account: valuesAt(account) }).toEqual({ phone: [{ n: 1 }], account: [{ n: 2 }, { n: 3 }] });
    expect(valuesAt(receiver)).toContainAllValues([{ n: 4 }, { n: 5 }]);
  });

  test("D-57: one app's override does not touch another app's webhooks", async () => {
    const { fixture, receiver } = await open();
    const [override, other] = [startReceiver(), startReceiver()];
    fixture.features.apps.set("1002", { url: other.url, secret: "x" });
    fixture.features.subscribers = () => ["1001", "1002"];
    fixture.features.overrides.set("1001 4001", override.url);
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    expect({ own: valuesAt(receiver), override: valuesAt(override), other: valuesAt(other) }).toEqual({
      own: [],
      override: [{ n: 1 }],
      other: [{ n: 1 }],
    });
  });

  test("D-63: a retry follows later changes of the route, with the same id and body", async () => {
    const { fixture, receiver } = await open();
    const override = startReceiver();
    override.response = () => new Response(null, { status: 500 });
    fixture.features.overrides.set("1001 4001", override.url);
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    fixture.features.overrides.clear();
    await fixture.advance(15);
    expect({ override: valuesAt(override), own: valuesAt(receiver) }).toEqual({ override: [{ n: 1 }], own: [{ n: 1 }] });
    expect(postAt(receiver, 0).body).toBe(postAt(override, 0).body);
    expect(postAt(receiver, 0).headers["webhook-id"]).toBe(postAt(override, 0).headers["webhook-id"] as string);
    expect(await deliveries(fixture)).toMatchObject([{ status: 2, url: receiver.url }]);
  });

  test("an override that is set between the event and its first attempt is used", async () => {
    const { fixture, receiver } = await open();
    const override = startReceiver();
    await fixture.emit("4001", { n: 1 });
    fixture.features.overrides.set("1001 4001", override.url);
    await fixture.loop.runDue();
    expect({ override: valuesAt(override), own: valuesAt(receiver) }).toEqual({ override: [{ n: 1 }], own: [] });
  });

  test("a replay sends the same bytes with the same id; a span replays all events since a time, to one callback or all", async () => {
    const { fixture, receiver } = await open();
    const other = startReceiver();
    fixture.features.apps.set("1002", { url: other.url, secret: "x" });
    fixture.features.subscribers = ({ entity }) => (entity === "4002" ? ["1002"] : ["1001"]);
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    fixture.clock.ms += 1_000;
    const sinceMs = fixture.clock.ms;
    for (const [account, n] of [
      ["4001", 2],
      ["4001", 3],
      ["4002", 4],
    ] as const) {
      await fixture.emit(account, { n });
      await fixture.loop.runDue();
    }
    const [row] = await deliveries(fixture);
    await fixture.webhooks.replay(row?.id as string);
    await fixture.loop.runDue();
    expect(valuesAt(other)).toEqual([{ n: 4 }, { n: 4 }]);
    expect(postAt(other, 1).body).toBe(postAt(other, 0).body);
    expect(postAt(other, 1).headers["webhook-id"]).toBe(postAt(other, 0).headers["webhook-id"] as string);

    expect(await fixture.webhooks.replaySpan({ sinceMs })).toEqual({ replayed: 3 });
    await fixture.loop.runDue();
    expect({ first: valuesAt(receiver).length, second: valuesAt(other).length }).toEqual({ first: 5, second: 3 });
    const ofReceiver = (await callbacks(fixture)).find(({ url }) => url === receiver.url)?.id as string;
    expect(await fixture.webhooks.replaySpan({ sinceMs, callback: ofReceiver })).toEqual({ replayed: 2 });
    await fixture.loop.runDue();
    expect({ first: valuesAt(receiver).length, second: valuesAt(other).length }).toEqual({ first: 7, second: 3 });
    expect(await fixture.webhooks.replay("123")).toBe(false);
  });

  test("ended deliveries are kept for thirty days, waiting ones for as long as they wait", async () => {
    const { fixture, receiver } = await open();
    await fixture.database.write(async (tx) => {
      for (const n of [1, 2, 3]) {
        await fixture.webhooks.emit(tx, chatappField("messages"), { entity: "4001" as never, payload: { n } });
      }
    });
    await fixture.advance(10);
    receiver.response = () => new Response(null, { status: 500 });
    await fixture.emit("4001", { n: 4 });
    await fixture.advance(29 * DAY);
    for (const { id } of await callbacks(fixture)) await fixture.database.write((tx) => pauseCallback(tx, id, fixture.clock.ms));
    await fixture.emit("4002", { n: 5 });
    expect(await deliveries(fixture)).toMatchObject([
      { status: 0, members: 0 },
      { status: 3, members: 0 },
      { status: 2, members: 2 },
    ]);
    await fixture.advance(2 * DAY + HOUR);
    expect((await deliveries(fixture)).map(({ status }) => status)).toEqual([0, 3]);
    await fixture.advance(2 * DAY);
    expect((await deliveries(fixture)).map(({ status }) => status)).toEqual([0]);
    const { reader } = fixture.database;
    expect(await reader.all(sql`SELECT CAST(e.payload AS TEXT) AS payload FROM webhook_events e`)).toEqual([{ payload: '{"n":5}' }]);
  });

  test("sent deliveries are listed newest first, by state, callback and field, with events and attempts", async () => {
    const { fixture, receiver } = await open();
    receiver.response = ({ values }) => new Response("x".repeat(1_000), { status: (values[0] as { n: number }).n === 3 ? 410 : 200 });
    await fixture.database.write(async (tx) => {
      for (const n of [1, 2]) {
        await fixture.webhooks.emit(tx, chatappField("messages"), { entity: "4001" as never, payload: { n, text: "ü" } });
      }
    });
    await fixture.emit("4002", { n: 3 }, { field: "calls" });
    await fixture.loop.runDue();
    const { reader } = fixture.database;
    const all = (await listDeliveries(reader, {}, { limit: 10 })).rows;
    expect(all).toMatchObject([
      { status: 3, members: 0, field: "calls" },
      { status: 2, members: 1, field: "messages" },
    ]);
    expect((await listDeliveries(reader, { statuses: [2] }, { limit: 10 })).rows.map(({ id }) => id)).toEqual([all[1]?.id as string]);
    expect((await listDeliveries(reader, { field: "calls", callback: all[0]?.callback }, { limit: 10 })).rows.map(({ id }) => id)).toEqual([
      all[0]?.id as string,
    ]);
    expect((await listDeliveries(reader, { callback: "1" }, { limit: 10 })).rows).toEqual([]);
    const page = await listDeliveries(reader, {}, { limit: 1 });
    expect(page).toMatchObject({ hasNext: true, rows: [{ id: all[0]?.id as string }] });
    expect((await listEventsOf(reader, all[1]?.id as string)).map(({ payload }) => JSON.parse(payload))).toEqual([
      { n: 1, text: "ü" },
      { n: 2, text: "ü" },
    ]);
    const kept = { callback: all[0]?.callback, status: 410, latency_ms: expect.any(Number), answer: "x".repeat(256) };
    expect(JSON.parse(all[0]?.attempts ?? "")).toEqual([{ time_ms: fixture.clock.ms, timestamp: fixture.clock.ms / 1000, ...kept }]);
  });
});
