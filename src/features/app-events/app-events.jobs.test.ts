import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";
import { listEventNames } from "./app-events.control.ts";
import { readRetentionDays, saveRetentionDays } from "./app-events.jobs.ts";
import { recordTouch } from "./attribution/attribution.control.ts";
import { appEvents } from "./index.ts";
import { listEvents } from "./log/log.store.ts";

const NOW = 1_795_000_000;
const DAY = 86_400;
const SHOP = nodeId("1001");
const world = { clock: { now: NOW, frozen: true }, apps: [{ id: "1001", name: "Shop", secret: "s" }], ads: [{ id: "8501", app: "1001" }] };

const send = (plaza: TestPlaza, event_id: string, _logTime?: number) =>
  plaza.post("/v26.0/1001/activities", {
    bearer: "1001|s",
    headers: { "x-forwarded-for": "1.2.3.4" },
    body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events: [{ _eventName: "n", event_id, _logTime }] },
  });

const idsOf = async (plaza: TestPlaza) =>
  (await listEvents(plaza.world.database.reader, SHOP, { name: undefined, since: undefined }, { limit: 100 })).rows.map(({ event_id }) => event_id);

async function advance(plaza: TestPlaza, days: number): Promise<void> {
  await plaza.world.clock.set(plaza.world.clock.nowMs() + days * DAY * 1_000, true);
  await plaza.world.work.runDue();
}

onEachDatabase("retention of app events", (database) => {
  test("old raw events are deleted; counts, sums and newer events stay", async () => {
    const plaza = await openPlaza({ database, world });
    await saveRetentionDays(plaza.world, 10);
    await send(plaza, "old");
    await advance(plaza, 6);
    await send(plaza, "new");
    expect(await idsOf(plaza)).toEqual(["new", "old"]);
    await advance(plaza, 5);
    expect(await idsOf(plaza)).toEqual(["new"]);
    expect(await listEventNames(plaza.world, SHOP)).toMatchObject([{ name: "n", count: 2 }]);
    await recordTouch(plaza.world, "click", { ad: "8501", advertiser_id: "a", time: NOW - 1 });
    const { data } = (await plaza.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query: { advertiser_id: "a" } })).body;
    expect(data).toMatchObject([{ event_time: NOW + 6 * DAY }]);
    await advance(plaza, 6);
    expect(await idsOf(plaza)).toEqual([]);
    // The numbers of deleted requests are not used for new requests, even if the log is empty, so old entries of the index do not lead to new
    // requests.
    await send(plaza, "after");
    const { rows } = await listEvents(plaza.world.database.reader, SHOP, { name: undefined, since: undefined }, { limit: 100 });
    expect(rows.map(({ request, event_id }) => ({ request, event_id }))).toEqual([{ request: 3, event_id: "after" }]);
  });

  test("D-290: ids that a request names together stay one device after retention deleted the request", async () => {
    const plaza = await openPlaza({ database, world });
    await saveRetentionDays(plaza.world, 10);
    const cookie = "x".repeat(22);
    const buy = (ids: object) =>
      plaza.post("/v26.0/1001/activities", {
        bearer: "1001|s",
        headers: { "x-forwarded-for": "1.2.3.4" },
        body: { event: "CUSTOM_APP_EVENTS", ...ids, custom_events: [{ _eventName: "buy" }] },
      });
    const rowsOf = async () =>
      (await plaza.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query: { attribution: cookie } })).body.data.length;
    await recordTouch(plaza.world, "click", { ad: "8501", advertiser_id: "a", time: NOW });
    await buy({ advertiser_id: "a", attribution: cookie });
    await advance(plaza, 6);
    await buy({ advertiser_id: "a", attribution: cookie });
    await advance(plaza, 1);
    await buy({ attribution: cookie });
    expect(await rowsOf()).toBe(3);
    await advance(plaza, 4);
    expect(await rowsOf()).toBe(2);
    // The only request that is left has the cookie but not the advertising id, and the click has the advertising id.
    await advance(plaza, 6);
    expect(await idsOf(plaza)).toEqual([null]);
    expect(await rowsOf()).toBe(1);
  });

  test("D-71: a key lives for 48 hours after arrival and event time, even if raw events are kept for a day only", async () => {
    const plaza = await openPlaza({ database, world });
    await saveRetentionDays(plaza.world, 1);
    const times = { past: NOW - 30 * DAY, now: NOW, later: NOW + 10 * DAY };
    const sendAll = async () => {
      for (const [id, time] of Object.entries(times)) await send(plaza, id, time);
    };
    await sendAll();
    await plaza.world.clock.set(plaza.world.clock.nowMs() + (2 * DAY - 1) * 1_000, true);
    await plaza.world.work.runDue();
    await sendAll();
    expect(await idsOf(plaza)).toEqual(["later", "now", "past"]);
    await advance(plaza, 2);
    expect(await idsOf(plaza)).toEqual(["later"]);
    await send(plaza, "later", times.later);
    await advance(plaza, 7);
    await send(plaza, "later", times.later + DAY);
    expect(await idsOf(plaza)).toEqual(["later"]);
    await advance(plaza, 2);
    expect(await idsOf(plaza)).toEqual([]);
  });

  test("a far future event does not keep the events that arrived with it or after it", async () => {
    const plaza = await openPlaza({ database, world });
    await saveRetentionDays(plaza.world, 1);
    await send(plaza, "a");
    await send(plaza, "far", NOW + 4_000 * DAY);
    await send(plaza, "b");
    await advance(plaza, 3);
    expect(await idsOf(plaza)).toEqual(["far"]);
    await send(plaza, "c");
    await advance(plaza, 3);
    expect(await idsOf(plaza)).toEqual(["far"]);
    await send(plaza, "far", NOW + 4_000 * DAY);
    expect(await idsOf(plaza)).toEqual(["far"]);
  });

  test("deleted requests also leave the index of devices, and the newest requests stay in it", async () => {
    const plaza = await openPlaza({ database, world });
    await saveRetentionDays(plaza.world, 3);
    await send(plaza, "a");
    const { reader } = plaza.world.database;
    const entries = async () =>
      (await reader.all<{ request: number }>(sql`SELECT i.request FROM app_event_devices i ORDER BY i.request`)).map(({ request }) => request);
    expect(await entries()).toEqual([1]);
    await advance(plaza, 2);
    await send(plaza, "b");
    await advance(plaza, 2);
    expect(await entries()).toEqual([2]);
    expect(await idsOf(plaza)).toEqual(["b"]);
  });

  test("an app that is removed and created again has no events", async () => {
    const plaza = await openPlaza({ database, world });
    await send(plaza, "e");
    await plaza.world.database.write((tx) => appEvents.onOwnerDeleted?.(tx, SHOP, plaza.world) ?? Promise.resolve());
    expect(await idsOf(plaza)).toEqual([]);
    expect(await listEventNames(plaza.world, SHOP)).toEqual([]);
    await send(plaza, "e");
    expect(await idsOf(plaza)).toEqual(["e"]);
    expect(await listEventNames(plaza.world, SHOP)).toMatchObject([{ name: "n", active: true, count: 1 }]);
  });

  test("0 days keep raw events forever, and the default is 90", async () => {
    const plaza = await openPlaza({ database, world });
    expect(await readRetentionDays(plaza.world)).toBe(90);
    await saveRetentionDays(plaza.world, 0);
    await send(plaza, "e");
    await advance(plaza, 1_000);
    expect(await idsOf(plaza)).toEqual(["e"]);
    await saveRetentionDays(plaza.world, 90);
    await advance(plaza, 1);
    expect(await idsOf(plaza)).toEqual([]);
  });
});
