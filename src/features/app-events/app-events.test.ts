import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza, type TestRequest, type TestResponse } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import { deactivateEventName, listDaySums, listEventNames, logEntry } from "./app-events.control.ts";
import { listEvents } from "./log/log.store.ts";

const SHOP = nodeId("1001");
const NOW = 1_795_000_000;

const world = {
  clock: { now: NOW, frozen: true },
  apps: [
    { id: "1001", name: "Shop", secret: "s3cret", event_name_limit: 1_000 },
    { id: "1002", name: "Small", secret: "small", event_name_limit: 2 },
    { id: "1003", name: "Automatic", secret: "auto", automatic_event_logging: true, allow_tokenless_events: true },
  ],
  users: [{ id: "3001", name: "Ada" }],
};

const from = { "x-forwarded-for": "203.0.113.7" };

function report(plaza: TestPlaza, events: unknown, more: Record<string, unknown> = {}, request: TestRequest = {}): Promise<TestResponse> {
  const body = { event: "CUSTOM_APP_EVENTS", advertiser_id: "device-1", custom_events: events, ...more };
  return plaza.post("/v26.0/1001/activities", { bearer: "1001|s3cret", headers: from, ...request, body });
}

const install = (plaza: TestPlaza, device: Record<string, unknown>) =>
  plaza.post("/v26.0/1001/activities", { bearer: "1001|s3cret", headers: from, body: { event: "MOBILE_APP_INSTALL", ...device } });

const logOf = async ({ world }: TestPlaza, app = SHOP) =>
  (await listEvents(world.database.reader, app, { name: undefined, since: undefined }, { limit: 1_000 })).rows.map(logEntry);

const namesOf = async (plaza: TestPlaza, app = SHOP) => new Map((await listEventNames(plaza.world, app)).map((entry) => [entry.name, entry]));

onEachDatabase("app events", (database) => {
  const open = (more = {}) => openPlaza({ database, world: { ...world, ...more } });

  test("I1-5, I1-27: events are reported, logged and counted", async () => {
    const plaza = await open();
    const response = await report(plaza, [{ _eventName: "pf_mobile_purchase", event_id: "e1", _valueToSum: 21.97, pf_currency: "GBP" }]);
    expect({ status: response.status, body: response.body }).toEqual({ status: 200, body: { success: true } });
    expect(await logOf(plaza)).toMatchObject([
      { event: "CUSTOM_APP_EVENTS", event_name: "pf_mobile_purchase", event_id: "e1", event_time: NOW, received_time: NOW, value_to_sum: "21.97" },
    ]);
    expect((await logOf(plaza))[0]).toMatchObject({ parameters: { pf_currency: "GBP" }, advertiser_id: "device-1", ip: "203.0.113.7" });
    expect((await namesOf(plaza)).get("pf_mobile_purchase")).toEqual({
      name: "pf_mobile_purchase",
      standard: true,
      active: true,
      count: 1,
      sums: { GBP: "21.97" },
      first_time: NOW,
      last_time: NOW,
    });
  });

  test("I1-17: custom_events may also be JSON text", async () => {
    const plaza = await open();
    expect((await report(plaza, '[{"_eventName":"a"},{"_eventName":"b","_valueToSum":999999999999.999999}]')).status).toBe(200);
    expect((await namesOf(plaza)).get("b")?.sums).toEqual({ "": "999999999999.999999" });
  });

  test("D-70: one invalid event refuses the whole request, and nothing of it is stored", async () => {
    const plaza = await open();
    const response = await report(plaza, [{ _eventName: "a" }, { _eventName: "b", pf_num_items: "x" }]);
    expect({ status: response.status, code: response.body.error.code, error_data: response.body.error.error_data }).toEqual({
      status: 400,
      code: 100,
      error_data: { parameter: "custom_events[1].pf_num_items" },
    });
    expect(await logOf(plaza)).toEqual([]);
    expect((await namesOf(plaza)).size).toBe(0);
  });

  test("EVT-4: sums are exact, by currency and by day, beyond what 63 bits hold", async () => {
    const plaza = await open();
    const event = (_valueToSum: unknown, pf_currency: string, _logTime = NOW) => ({ _eventName: "n", _valueToSum, pf_currency, _logTime });
    await report(plaza, [event(0.1, "EUR"), event(0.2, "EUR"), event("-0.000001", "EUR", NOW - 86_400)]);
    for (let i = 0; i < 3; i++) await report(plaza, new Array(10).fill(event("999999999999.999999", "USD")));
    expect((await namesOf(plaza)).get("n")).toMatchObject({ count: 33, sums: { EUR: "0.299999", USD: "29999999999999.99997" } });
    const days = await listDaySums(plaza.world, SHOP, NOW - 86_400, NOW);
    expect(days.map(({ day, currency, count, sum }) => ({ day, currency, count, sum }))).toEqual([
      { day: "2026-11-17", currency: "EUR", count: 1, sum: "-0.000001" },
      { day: "2026-11-18", currency: "EUR", count: 2, sum: "0.3" },
      { day: "2026-11-18", currency: "USD", count: 30, sum: "29999999999999.99997" },
    ]);
  });

  test("I1-32, D-71: events with one app, name and event_id are duplicates within 48 h of event time; the first one counts", async () => {
    const plaza = await open();
    const event = (_logTime: number, _eventName = "n", event_id = "e") => ({ _eventName, event_id, _logTime });
    const hours = (count: number) => NOW + count * 3_600;
    const counted = async (events: unknown[]) => {
      const before = (await namesOf(plaza)).get("n")?.count ?? 0;
      expect((await report(plaza, events)).body).toEqual({ success: true });
      return ((await namesOf(plaza)).get("n")?.count ?? 0) - before;
    };
    expect(await counted([event(hours(0)), event(hours(0))])).toBe(1);
    expect(await counted([event(hours(47)), event(hours(-47))])).toBe(0);
    expect(await counted([event(hours(48))])).toBe(1);
    expect(await counted([event(hours(95))])).toBe(0);
    expect(await counted([event(hours(-48))])).toBe(1);
    expect(await counted([event(hours(0), "n", "f"), event(hours(0), "n", "f "), { _eventName: "n" }, { _eventName: "n" }])).toBe(4);
    expect(await counted([event(hours(0), "other name")])).toBe(0);
    expect((await namesOf(plaza)).get("other name")?.count).toBe(1);
  });

  test("D-71: two apps do not share their event ids", async () => {
    const plaza = await open();
    const events = [{ _eventName: "n", event_id: "e" }];
    await report(plaza, events);
    const other = await plaza.post("/v26.0/1002/activities", {
      bearer: "1002|small",
      headers: from,
      body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "d", custom_events: events },
    });
    expect(other.status).toBe(200);
    expect((await namesOf(plaza, nodeId("1002"))).get("n")?.count).toBe(1);
  });

  test("I1-30: one install for each device, by either of its ids", async () => {
    const plaza = await open();
    const cookie = "a".repeat(22);
    for (const device of [{ advertiser_id: "x", attribution: cookie }, { advertiser_id: "x" }, { attribution: cookie }, { advertiser_id: "y" }])
      expect((await install(plaza, device)).body).toEqual({ success: true });
    expect((await logOf(plaza)).map(({ event, advertiser_id }) => ({ event, advertiser_id }))).toEqual([
      { event: "MOBILE_APP_INSTALL", advertiser_id: "y" },
      { event: "MOBILE_APP_INSTALL", advertiser_id: "x" },
    ]);
    expect((await namesOf(plaza)).size).toBe(0);
  });

  test("I1-30: of installs at the same moment one counts for each device, and each app counts its own", async () => {
    const plaza = await open();
    const cookie = "a".repeat(22);
    const devices = [{ advertiser_id: "x" }, { advertiser_id: "x", attribution: cookie }];
    const other = (device: Record<string, unknown>) =>
      plaza.post("/v26.0/1002/activities", { bearer: "1002|small", headers: from, body: { event: "MOBILE_APP_INSTALL", ...device } });
    const sent = Array.from({ length: 10 }, () => devices).flat();
    const responses = await Promise.all(sent.flatMap((device) => [install(plaza, device), other(device)]));
    expect(responses.map(({ body }) => body)).toEqual(responses.map(() => ({ success: true })));
    expect(responses).toHaveLength(40);
    for (const app of [SHOP, nodeId("1002")]) expect((await logOf(plaza, app)).map(({ advertiser_id }) => advertiser_id)).toEqual(["x"]);
  });

  test("LIM-1, D-72: 50 concurrent requests with a new name each fill the limit exactly", async () => {
    const plaza = await open({ apps: [{ id: "1001", name: "Shop", secret: "s3cret", event_name_limit: 20 }] });
    const responses = await Promise.all(Array.from({ length: 50 }, (_, i) => report(plaza, [{ _eventName: `name ${i}` }])));
    expect(responses.filter(({ status }) => status === 200).length).toBe(20);
    for (const { status, body } of responses.filter(({ status }) => status !== 200))
      expect({ status, body }).toMatchObject({
        status: 400,
        body: { error: { code: 100, error_data: { parameter: "custom_events[0]._eventName" } } },
      });
    expect((await namesOf(plaza)).size).toBe(20);
  });

  test("LIM-2, LIM-3, D-72: a request over the limit stores nothing; a deactivated name makes room and is refused", async () => {
    const plaza = await open();
    const app = nodeId("1002");
    const send = (...names: string[]) =>
      plaza.post("/v26.0/1002/activities", {
        bearer: "1002|small",
        headers: from,
        body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "d", custom_events: names.map((_eventName) => ({ _eventName })) },
      });
    expect((await send("a", "AdClick", "c")).body.error).toMatchObject({
      message: expect.stringContaining('the app already has 2 event names, which is its limit, and "c" would be a new one'),
      error_data: { parameter: "custom_events[2]._eventName" },
    });
    expect((await namesOf(plaza, app)).size).toBe(0);
    expect((await send("a", "AdClick")).status).toBe(200);
    expect((await send("c")).status).toBe(400);
    expect((await send("a", "AdClick", "a")).status).toBe(200);
    expect(await deactivateEventName(plaza.world, app, "a")).toBeTrue();
    expect(await deactivateEventName(plaza.world, app, "unknown")).toBeFalse();
    expect((await send("a")).body.error).toMatchObject({ code: 100, error_data: { parameter: "custom_events[0]._eventName" } });
    expect((await send("c")).status).toBe(200);
    expect([...(await namesOf(plaza, app)).values()].map(({ name, active, count }) => ({ name, active, count }))).toEqual([
      { name: "AdClick", active: true, count: 2 },
      { name: "a", active: false, count: 3 },
      { name: "c", active: true, count: 1 },
    ]);
  });
});
