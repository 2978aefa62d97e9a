/** D-137: checks that callbacks that fail are paused, tried once an hour, and resumed. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { type Receiver, startReceiver, valuesAt } from "#harness/receiver";
import { fixtureMigrations, newFeatures, openWebhooks, pauseCallback, type WebhookFixture } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { listDeliveries } from "../history/list.store.ts";
import { callbackFact, listCallbacks } from "./callbacks.store.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;

onEachDatabase("pauses", (kind) => {
  async function open() {
    const receiver = startReceiver();
    const health = { isWell: true };
    receiver.response = () => new Response(null, { status: health.isWell ? 200 : 500 });
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    return { fixture: openWebhooks(database, { features: newFeatures(receiver.url) }), receiver, health };
  }
  const deliveries = async ({ database }: WebhookFixture) => (await listDeliveries(database.reader, {}, { limit: 100 })).rows;
  const callbackOf = async ({ database }: WebhookFixture, { url }: Receiver) =>
    (await listCallbacks(database.reader, { limit: 100 })).rows.find((one) => one.url === url);

  /** Emits an event every 12 hours, until the given time has passed. */
  async function emitFor(fixture: WebhookFixture, seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 12 * HOUR) {
      await fixture.emit("4009", { at: passed });
      await fixture.advance(Math.min(12 * HOUR, seconds - passed));
    }
  }

  /** Eleven events fail; the last of them pauses the callback. */
  async function pauseByFailures(fixture: WebhookFixture, health: { isWell: boolean }): Promise<void> {
    health.isWell = false;
    await emitFor(fixture, 5 * DAY);
    await fixture.emit("4009", { at: 5 * DAY });
    await fixture.loop.runDue();
  }

  test("a callback that fails for an hour raises one alert; one that works again does not", async () => {
    const { fixture, receiver, health } = await open();
    health.isWell = false;
    await fixture.emit("4001", { n: 1 });
    await fixture.advance(HOUR - 1);
    expect(fixture.alerts).toEqual([]);
    await fixture.advance(2);
    expect(fixture.alerts).toHaveLength(1);
    expect(fixture.alerts[0]).toMatchObject({ app: "1001", url: receiver.url });
    health.isWell = true;
    await fixture.advance(2 * HOUR);
    expect(await callbackOf(fixture, receiver)).toMatchObject({ failing_since_ms: null, alerted_ms: null });
    health.isWell = false;
    await fixture.emit("4001", { n: 2 });
    await fixture.advance(60);
    health.isWell = true;
    await fixture.advance(2 * HOUR);
    expect(fixture.alerts).toHaveLength(1);
    expect(fixture.pauses).toEqual([]);
  });

  test("after five days of failures it is paused; events are kept, one attempt an hour is made, and a success sends everything", async () => {
    const { fixture, receiver, health } = await open();
    await pauseByFailures(fixture, health);
    expect(fixture.pauses).toMatchObject([{ app: "1001", url: receiver.url, paused_ms: fixture.clock.ms }]);
    expect(fixture.alerts).toHaveLength(1);
    const before = receiver.posts.length;
    await fixture.emit("4001", { n: 1 });
    await fixture.emit("4001", { n: 2 });
    await fixture.emit("4002", { n: 3 });
    await fixture.advance(HOUR - 1);
    expect(receiver.posts).toHaveLength(before);
    await fixture.advance(1);
    expect(receiver.posts).toHaveLength(before + 1);
    await fixture.advance(5 * HOUR);
    expect(receiver.posts).toHaveLength(before + 6);
    health.isWell = true;
    receiver.posts.length = 0;
    await fixture.advance(HOUR);
    expect(valuesAt(receiver)).toContainAllValues([{ n: 1 }, { n: 2 }, { n: 3 }, { at: 5 * DAY }]);
    expect(await callbackOf(fixture, receiver)).toMatchObject({ failing_since_ms: null, alerted_ms: null, paused_ms: null, probe_due_ms: null });
    // After a day, the retries of deliveries from the past days become due.
    await fixture.advance(DAY);
    expect((await deliveries(fixture)).filter(({ status }) => status !== 2 && status !== 3)).toEqual([]);
    expect(fixture.pauses).toHaveLength(1);
  });

  test("attempts at a paused callback use up no delivery, and keep the order of its entity", async () => {
    const { fixture, receiver, health } = await open();
    await pauseByFailures(fixture, health);
    await fixture.advance(3 * DAY);
    for (const n of [1, 2, 3]) {
      await fixture.emit("4001", { n });
      await fixture.advance(DAY);
    }
    // The deliveries that wait are those that waited for a retry when the callback was paused, and the three new ones.
    expect((await deliveries(fixture)).filter(({ status }) => status === 0).length).toBeGreaterThan(3);
    const tried = receiver.posts.filter(({ values }) => (values[0] as { n?: number }).n === 1);
    expect(tried.length).toBeGreaterThan(50);
    health.isWell = true;
    receiver.posts.length = 0;
    await fixture.advance(HOUR);
    expect(valuesAt(receiver).flatMap((value) => (value as { n?: number }).n ?? [])).toEqual([1, 2, 3]);
    // D-62: a delivery that was sent once keeps its id and body.
    const first = receiver.posts.find(({ values }) => (values[0] as { n?: number }).n === 1);
    for (const { body, headers } of tried) {
      expect({ body, id: headers["webhook-id"] }).toEqual({ body: first?.body as string, id: first?.headers["webhook-id"] as string });
    }
    expect((await deliveries(fixture)).filter(({ status }) => status === 0)).toEqual([]);
  });

  test("if nothing waits, the next event finds out at once", async () => {
    const { fixture, receiver } = await open();
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    const { id } = (await callbackOf(fixture, receiver)) as { id: string };
    await fixture.database.write((tx) => pauseCallback(tx, id, fixture.clock.ms));
    await fixture.advance(3 * HOUR);
    expect(receiver.posts).toHaveLength(1);
    await fixture.emit("4001", { n: 2 });
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await callbackOf(fixture, receiver)).toMatchObject({ paused_ms: null });
  });

  test("silence is no failure: one delivery that fails to its end pauses nothing", async () => {
    const { fixture, receiver, health } = await open();
    health.isWell = false;
    await fixture.emit("4001", { n: 1 });
    await fixture.advance(30 * DAY);
    expect(fixture.pauses).toEqual([]);
    // At this time no attempt has shown that the callback works again.
    expect(await callbackOf(fixture, receiver)).toMatchObject({ failing_since_ms: expect.any(Number), paused_ms: null });
    const againMs = fixture.clock.ms;
    await fixture.emit("4001", { n: 2 });
    await fixture.loop.runDue();
    expect(await callbackOf(fixture, receiver)).toMatchObject({ failing_since_ms: againMs, paused_ms: null });
  });

  test("a gap of more than 12 hours between attempts begins a new series", async () => {
    const { fixture, health } = await open();
    health.isWell = false;
    for (let passed = 0; passed < 12 * DAY; passed += 60 * HOUR) {
      await fixture.emit("4001", { n: passed });
      await fixture.advance(60 * HOUR);
    }
    expect(fixture.pauses).toEqual([]);
  });

  test("the retries of successive deliveries are attempts without a gap", async () => {
    const { fixture, health } = await open();
    health.isWell = false;
    for (let passed = 0; passed <= 5 * DAY; passed += 30 * HOUR) {
      await fixture.emit("4001", { n: passed });
      await fixture.advance(30 * HOUR);
    }
    expect(fixture.pauses).toHaveLength(1);
  });

  test("one success in five days is enough", async () => {
    const { fixture, health } = await open();
    health.isWell = false;
    await emitFor(fixture, 3 * DAY);
    health.isWell = true;
    await fixture.emit("4002", { n: 1 });
    await fixture.loop.runDue();
    health.isWell = false;
    await emitFor(fixture, 4 * DAY);
    expect(fixture.pauses).toEqual([]);
    await emitFor(fixture, 2 * DAY);
    expect(fixture.pauses).toHaveLength(1);
  });

  test("410 pauses at once, with an alert; nothing is tried until somebody resumes it", async () => {
    const { fixture, receiver } = await open();
    receiver.response = () => new Response(null, { status: 410 });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    expect(fixture.pauses).toMatchObject([{ url: receiver.url, probe_due_ms: null }]);
    expect(await callbackOf(fixture, receiver)).toMatchObject({ alerted_ms: fixture.clock.ms, paused_ms: fixture.clock.ms });
    await fixture.emit("4001", { n: 2 });
    receiver.response = () => new Response("well again");
    await fixture.advance(3 * DAY);
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
    await fixture.database.write((tx) => fixture.webhooks.resumeUrl(tx, "1001", receiver.url));
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("410 as the response to an hourly attempt ends these attempts", async () => {
    const { fixture, receiver, health } = await open();
    await pauseByFailures(fixture, health);
    await fixture.emit("4001", { n: 1 });
    receiver.response = () => new Response(null, { status: 410 });
    await fixture.advance(HOUR);
    expect(fixture.pauses).toHaveLength(2);
    const before = receiver.posts.length;
    await fixture.advance(2 * DAY);
    expect(receiver.posts).toHaveLength(before);
  });

  test("deliveries that were claimed before a callback returned 410 wait", async () => {
    const { fixture, receiver } = await open();
    for (let n = 0; n < 12; n++) await fixture.emit(`40${10 + n}`, { n });
    receiver.response = () => new Response(null, { status: 410 });
    fixture.loop.start();
    while (fixture.pauses.length === 0) await Bun.sleep(1);
    await fixture.webhooks.dispatcher.settled();
    await fixture.loop.stop();
    // Only the first requests, which Plaza sent at the same time before the callback was paused, have arrived at the receiver.
    expect(receiver.posts.length).toBeLessThan(12);
    expect((await deliveries(fixture)).filter(({ status }) => status === 0).length).toBe(12 - receiver.posts.length);
  });

  test("deliveries that were claimed while somebody paused the callback wait", async () => {
    const { fixture, receiver } = await open();
    const { database, clock } = fixture;
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    const { id } = (await callbackOf(fixture, receiver)) as { id: string };
    await database.write(async (tx) => tx.invalidate(callbackFact, id));
    await fixture.emit("4001", { n: 2 });
    // The test pauses the callback after a claim has read the callback's row and before the claim gets this row.
    const { reader } = database;
    const get = reader.get.bind(reader);
    reader.get = async (query) => {
      const row = await get(query);
      if (row === undefined || !("paused_ms" in row)) return row as never;
      reader.get = get;
      await database.write((tx) => pauseCallback(tx, id, clock.ms));
      return row as never;
    };
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
    expect(await deliveries(fixture)).toMatchObject([{ status: 0, attempts: "[]" }, { status: 2 }]);
    await fixture.advance(HOUR);
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("an override that was removed and set again has not failed yet", async () => {
    const { fixture, health } = await open();
    const override = startReceiver();
    override.response = () => new Response(null, { status: 500 });
    const route = async (isSet: boolean) => {
      if (isSet) fixture.features.overrides.set("1001 4009", override.url);
      else fixture.features.overrides.clear();
      await fixture.database.write((tx) => fixture.webhooks.routesChanged(tx, "1001"));
    };
    await route(true);
    await emitFor(fixture, 4 * DAY);
    expect(await callbackOf(fixture, override)).toMatchObject({ failing_since_ms: expect.any(Number) });
    await route(false);
    health.isWell = true;
    // The last delivery that waits for a retry is sent by its new route when the retry is due.
    await fixture.advance(12 * HOUR);
    expect(await callbackOf(fixture, override)).toMatchObject({ failing_since_ms: null });
    await route(true);
    await emitFor(fixture, 4 * DAY);
    expect(fixture.pauses).toEqual([]);
  });

  test("deliveries to a removed paused callback take their new route, and it is like a new one", async () => {
    const { fixture, receiver } = await open();
    const override = startReceiver();
    override.response = () => new Response(null, { status: 410 });
    fixture.features.overrides.set("1001 4001", override.url);
    for (const n of [1, 2, 3]) {
      await fixture.emit("4001", { n });
      await fixture.loop.runDue();
    }
    expect(receiver.posts).toEqual([]);
    fixture.features.overrides.clear();
    await fixture.database.write((tx) => fixture.webhooks.routesChanged(tx, "1001"));
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 2 }, { n: 3 }]);
    expect(await callbackOf(fixture, override)).toMatchObject({ paused_ms: null });
  });

  test("replaying to a paused callback resumes it", async () => {
    const { fixture, receiver } = await open();
    receiver.response = () => new Response(null, { status: 410 });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    await fixture.emit("4001", { n: 2 });
    await fixture.loop.runDue();
    receiver.response = () => new Response("ok");
    const before = receiver.posts.length;
    await fixture.webhooks.replay((await deliveries(fixture)).at(-1)?.id as string);
    await fixture.loop.runDue();
    expect(valuesAt(receiver).slice(before)).toContainAllValues([{ n: 1 }, { n: 2 }]);
  });
});
