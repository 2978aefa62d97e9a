import { expect, test } from "bun:test";
import { chatappField, newRooms, type Office, officeMigrations, openOffice, type Receiver, startReceiver, valuesAt } from "#harness/post-office";
import { newWorkStore, onBothDatabases } from "#harness/work-database";
import { sql } from "#storage/sql";
import { listCallbacks } from "./callbacks.store.ts";
import { listDeliveries, listEventsOf } from "./delivery-list.store.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;

onBothDatabases("routes and callbacks", (kind) => {
  async function open(hasCallback = true): Promise<{ office: Office; receiver: Receiver }> {
    const receiver = startReceiver();
    const database = await (await newWorkStore(kind, officeMigrations)).open();
    return { office: openOffice(database, { rooms: newRooms(hasCallback ? receiver.url : undefined) }), receiver };
  }
  const deliveries = async ({ database }: Office) => (await listDeliveries(database.reader, {}, { limit: 100 })).rows;
  const callbacks = async ({ database }: Office) => (await listCallbacks(database.reader, { limit: 100 })).rows;
  const rerouted = ({ database, webhooks }: Office, app = "1001") => database.write((tx) => webhooks.routesChanged(tx, app));

  test("ROUTE-1 to ROUTE-3: the phone's override, the account's, the app's callback; D-63: for fields that honour them", async () => {
    const { office, receiver } = await open();
    const [phone, account] = [startReceiver(), startReceiver()];
    office.rooms.overrides.set("1001 4001", account.url).set("1001 4101", phone.url);
    await office.emit("4001", { n: 1 }, { phone: "4101" });
    await office.emit("4001", { n: 2 }, { phone: "4102" });
    await office.emit("4001", { n: 3 });
    await office.emit("4001", { n: 4 }, { phone: "4101", field: "account_update" });
    await office.emit("4002", { n: 5 });
    await office.loop.runDue();
    expect([valuesAt(phone), valuesAt(account)]).toEqual([[{ n: 1 }], [{ n: 2 }, { n: 3 }]]);
    expect(valuesAt(receiver)).toContainAllValues([{ n: 4 }, { n: 5 }]);
  });

  test("D-57: one app's override does not touch another app's webhooks", async () => {
    const { office, receiver } = await open();
    const [override, other] = [startReceiver(), startReceiver()];
    office.rooms.apps.set("1002", { url: other.url, secret: "x" });
    office.rooms.subscribers = () => ["1001", "1002"];
    office.rooms.overrides.set("1001 4001", override.url);
    await office.emit("4001", { n: 1 });
    await office.loop.runDue();
    expect([valuesAt(receiver), valuesAt(override), valuesAt(other)]).toEqual([[], [{ n: 1 }], [{ n: 1 }]]);
  });

  test("D-63: a retry honours what was set or removed meanwhile, with the same id and body", async () => {
    const { office, receiver } = await open();
    const override = startReceiver();
    override.answer = () => new Response(null, { status: 500 });
    office.rooms.overrides.set("1001 4001", override.url);
    await office.emit("4001", { n: 1 });
    await office.loop.runDue();
    office.rooms.overrides.clear();
    await office.advance(15);
    expect([valuesAt(override), valuesAt(receiver)]).toEqual([[{ n: 1 }], [{ n: 1 }]]);
    expect(receiver.received[0]?.text).toBe(override.received[0]?.text as string);
    expect(receiver.received[0]?.headers["webhook-id"]).toBe(override.received[0]?.headers["webhook-id"] as string);
    expect((await deliveries(office)).map(({ status, url }) => [status, url])).toEqual([[2, receiver.url]]);
  });

  test("an override that is set between the event and its first attempt is honoured", async () => {
    const { office, receiver } = await open();
    const override = startReceiver();
    await office.emit("4001", { n: 1 });
    office.rooms.overrides.set("1001 4001", override.url);
    await office.loop.runDue();
    expect([valuesAt(override), valuesAt(receiver)]).toEqual([[{ n: 1 }], []]);
  });

  test("without a callback, or with one that is not verified, events wait and say why; once it is there they arrive", async () => {
    const { office, receiver } = await open(false);
    await office.emit("4001", { n: 1 });
    await office.loop.runDue();
    office.rooms.apps.set("1001", { url: receiver.url, isVerified: false, secret: "s" });
    await office.database.write(async (tx) => tx.invalidate("app", "1001"));
    await office.emit("4001", { n: 2 });
    await office.loop.runDue();
    const reasons = (await deliveries(office)).map(({ attempts }) => JSON.parse(attempts).at(-1).error);
    expect(reasons).toEqual(["callback_not_verified", "no_callback"]);
    office.rooms.apps.set("1001", { url: receiver.url, secret: "s" });
    await office.database.write(async (tx) => tx.invalidate("app", "1001"));
    await rerouted(office);
    await office.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("events without a callback have failed after the whole table, and can be replayed", async () => {
    const { office, receiver } = await open(false);
    await office.emit("4001", { n: 1 });
    await office.advance(37 * HOUR);
    const [row] = await deliveries(office);
    expect(row?.status).toBe(3);
    office.rooms.apps.set("1001", { url: receiver.url, secret: "s" });
    await office.database.write(async (tx) => tx.invalidate("app", "1001"));
    expect(await office.webhooks.replay(row?.id as string)).toBe(true);
    await office.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
  });

  test("a callback that fails for an hour raises an alert, once; one that works again does not", async () => {
    const { office, receiver } = await open();
    let isWell = false;
    receiver.answer = () => new Response(null, { status: isWell ? 200 : 500 });
    await office.emit("4001", { n: 1 });
    await office.advance(HOUR - 1);
    expect(office.alerts).toEqual([]);
    await office.advance(2);
    expect(office.alerts).toHaveLength(1);
    expect(office.alerts[0]).toMatchObject({ app: "1001", url: receiver.url });
    isWell = true;
    await office.advance(2 * HOUR);
    expect((await callbacks(office))[0]).toMatchObject({ failing_since_ms: null, alerted_ms: null });
    isWell = false;
    await office.emit("4001", { n: 2 });
    await office.advance(60);
    isWell = true;
    await office.advance(2 * HOUR);
    expect(office.alerts).toHaveLength(1);
    expect(office.pauses).toEqual([]);
  });

  test("after five days it is paused: events are kept, nothing is sent, and all goes out when it is resumed", async () => {
    const { office, receiver } = await open();
    let isWell = false;
    receiver.answer = () => new Response(null, { status: isWell ? 200 : 500 });
    await office.emit("4001", { n: 1 });
    await office.advance(5 * DAY);
    expect(office.pauses).toHaveLength(1);
    const before = receiver.received.length;
    isWell = true;
    await office.emit("4001", { n: 2 });
    await office.emit("4002", { n: 3 });
    await office.advance(20 * DAY);
    expect(receiver.received).toHaveLength(before);
    expect((await deliveries(office)).map(({ status, paused_ms }) => [status, paused_ms !== null])).toEqual([
      [0, true],
      [0, true],
      [3, true],
    ]);
    await office.database.write((tx) => office.webhooks.resumeUrl(tx, "1001", receiver.url));
    await office.loop.runDue();
    expect(valuesAt(receiver).slice(before)).toContainAllValues([{ n: 2 }, { n: 3 }]);
    expect((await callbacks(office))[0]).toMatchObject({ failing_since_ms: null, paused_ms: null });
  });

  test("replaying to a paused callback resumes it", async () => {
    const { office, receiver } = await open();
    receiver.answer = () => new Response(null, { status: 500 });
    await office.emit("4001", { n: 1 });
    await office.advance(5 * DAY);
    await office.emit("4001", { n: 2 });
    receiver.answer = () => new Response("ok");
    const before = receiver.received.length;
    await office.webhooks.replay((await deliveries(office)).at(-1)?.id as string);
    await office.loop.runDue();
    expect(valuesAt(receiver).slice(before)).toContainAllValues([{ n: 1 }, { n: 2 }]);
  });

  test("what waits for a paused callback finds its new way when the override is removed", async () => {
    const { office, receiver } = await open();
    const override = startReceiver();
    override.answer = () => new Response(null, { status: 500 });
    office.rooms.overrides.set("1001 4001", override.url);
    await office.emit("4001", { n: 1 });
    await office.advance(5 * DAY);
    await office.emit("4001", { n: 2 });
    await office.emit("4001", { n: 3 });
    await office.loop.runDue();
    expect(receiver.received).toEqual([]);
    office.rooms.overrides.clear();
    await rerouted(office);
    await office.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 2 }, { n: 3 }]);
  });

  test("replay sends the same bytes with the same id; of a span, what was made since, for one callback or all", async () => {
    const { office, receiver } = await open();
    const other = startReceiver();
    office.rooms.apps.set("1002", { url: other.url, secret: "x" });
    office.rooms.subscribers = ({ entity }) => (entity === "4002" ? ["1002"] : ["1001"]);
    await office.emit("4001", { n: 1 });
    await office.loop.runDue();
    office.clock.ms += 1_000;
    const sinceMs = office.clock.ms;
    for (const [account, n] of [
      ["4001", 2],
      ["4001", 3],
      ["4002", 4],
    ] as const) {
      await office.emit(account, { n });
      await office.loop.runDue();
    }
    const [row] = await deliveries(office);
    await office.webhooks.replay(row?.id as string);
    await office.loop.runDue();
    expect(valuesAt(other)).toEqual([{ n: 4 }, { n: 4 }]);
    expect(other.received[1]?.text).toBe(other.received[0]?.text as string);
    expect(other.received[1]?.headers["webhook-id"]).toBe(other.received[0]?.headers["webhook-id"] as string);

    expect(await office.webhooks.replaySpan({ sinceMs })).toEqual({ replayed: 3 });
    await office.loop.runDue();
    expect([valuesAt(receiver).length, valuesAt(other).length]).toEqual([5, 3]);
    const ofReceiver = (await callbacks(office)).find(({ url }) => url === receiver.url)?.id as string;
    expect(await office.webhooks.replaySpan({ sinceMs, callback: ofReceiver })).toEqual({ replayed: 2 });
    await office.loop.runDue();
    expect([valuesAt(receiver).length, valuesAt(other).length]).toEqual([7, 3]);
    expect(await office.webhooks.replay("123")).toBe(false);
  });

  test("what has ended is kept for thirty days, what waits for as long as it waits", async () => {
    const { office, receiver } = await open();
    await office.database.write(async (tx) => {
      for (const n of [1, 2, 3]) {
        await office.webhooks.emit(tx, chatappField("messages"), { entity: "4001" as never, payload: { n } });
      }
    });
    await office.advance(10);
    receiver.answer = () => new Response(null, { status: 500 });
    await office.emit("4001", { n: 4 });
    await office.advance(29 * DAY);
    await office.emit("4002", { n: 5 });
    expect((await deliveries(office)).map(({ status, members }) => [status, members])).toEqual([
      [0, 0],
      [3, 0],
      [2, 2],
    ]);
    await office.advance(2 * DAY + HOUR);
    expect((await deliveries(office)).map(({ status }) => status)).toEqual([0, 3]);
    await office.advance(2 * DAY);
    expect((await deliveries(office)).map(({ status }) => status)).toEqual([0]);
    const { reader } = office.database;
    expect(await reader.all(sql`SELECT CAST(e.payload AS TEXT) AS payload FROM webhook_events e`)).toEqual([{ payload: '{"n":5}' }]);
  });

  test("what was sent can be looked at: newest first, by state, callback and field, with its events and attempts", async () => {
    const { office, receiver } = await open();
    receiver.answer = ({ values }) => new Response("x".repeat(1_000), { status: (values[0] as { n: number }).n === 3 ? 410 : 200 });
    await office.database.write(async (tx) => {
      for (const n of [1, 2]) {
        await office.webhooks.emit(tx, chatappField("messages"), { entity: "4001" as never, payload: { n, text: "ü" } });
      }
    });
    await office.emit("4002", { n: 3 }, { field: "calls" });
    await office.loop.runDue();
    const { reader } = office.database;
    const all = (await listDeliveries(reader, {}, { limit: 10 })).rows;
    expect(all.map(({ status, members, field }) => [status, members, field])).toEqual([
      [3, 0, "calls"],
      [2, 1, "messages"],
    ]);
    expect((await listDeliveries(reader, { statuses: [2] }, { limit: 10 })).rows.map(({ id }) => id)).toEqual([all[1]?.id as string]);
    expect((await listDeliveries(reader, { field: "calls", callback: all[0]?.lane }, { limit: 10 })).rows.map(({ id }) => id)).toEqual([
      all[0]?.id as string,
    ]);
    expect((await listDeliveries(reader, { callback: "1" }, { limit: 10 })).rows).toEqual([]);
    const page = await listDeliveries(reader, {}, { limit: 1 });
    expect([page.hasNext, page.rows.map(({ id }) => id)]).toEqual([true, [all[0]?.id as string]]);
    expect((await listEventsOf(reader, all[1]?.id as string)).map(({ payload }) => JSON.parse(payload))).toEqual([
      { n: 1, text: "ü" },
      { n: 2, text: "ü" },
    ]);
    expect(JSON.parse(all[0]?.attempts ?? "")).toEqual([
      { time_ms: office.clock.ms, callback: all[0]?.lane, status: 410, latency_ms: expect.any(Number), answer: "x".repeat(256) },
    ]);
  });
});
