/** Tests the operator's view of a device, and reports and lists with more ads and touches than one query reads. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";
import { insertRows } from "../log/rows.store.ts";
import * as ads from "./ads.store.ts";
import { recordTouch } from "./attribution.control.ts";
import { deviceOf, reportOf } from "./attribution.handlers.ts";

const NOW = 1_795_000_000;
const DAY = 86_400;
const SHOP = nodeId("1001");
const world = {
  clock: { now: NOW, frozen: true },
  apps: [
    { id: "1001", name: "Shop", secret: "s" },
    { id: "1002", name: "Other", secret: "o" },
  ],
  ads: [
    { id: "8501", app: "1001", campaign_id: "9501" },
    { id: "8502", app: "1002", campaign_id: "9502", objective: "LINK_CLICKS", tracked_apps: ["1001"] },
    { id: "8503", app: "1002", campaign_id: "9503" },
  ],
};

onEachDatabase("a device", (database) => {
  const open = () => openPlaza({ database, world });

  test("shows its touches, the oldest first and each with its window, and its events with their touches", async () => {
    const plaza = await open();
    const report = (body: object) =>
      plaza.post("/v26.0/1001/activities", { bearer: "1001|s", headers: { "x-forwarded-for": "1.2.3.4" }, body: { advertiser_id: "a", ...body } });
    const touch = (kind: "click" | "impression", ad: string, time: number) => recordTouch(plaza.world, kind, { ad, advertiser_id: "a", time });
    const foreign = await touch("click", "8503", NOW - 1);
    const click = await touch("click", "8502", NOW - 40 * DAY);
    const view = await touch("impression", "8501", NOW - 60);
    await report({ event: "MOBILE_APP_INSTALL" });
    const events = [{ _logTime: NOW - 41 * DAY }, { _logTime: NOW - 40 * DAY, advertiser_tracking_enabled: 0 }, { _logTime: NOW - 10 * DAY }];
    await report({ event: "CUSTOM_APP_EVENTS", custom_events: events.map((event) => ({ _eventName: "buy", ...event })) });
    const shown = (id: string, kind: string, time: number, until: number, ad: number, more: object) => ({
      ...{ id, kind, time, until, ad_id: `850${ad}`, campaign_id: `950${ad}` },
      ...more,
    });
    const buy = { event: "CUSTOM_APP_EVENTS", event_name: "buy" };
    expect(await deviceOf(plaza.world, SHOP, { advertiser_id: "a" })).toEqual({
      ids: ["device:a"],
      touches: [
        shown(click, "click", NOW - 40 * DAY, NOW - 10 * DAY, 2, { objective: "LINK_CLICKS", claims: true }),
        shown(view, "impression", NOW - 60, NOW - 60 + DAY, 1, { objective: "APP_INSTALLS", claims: true }),
        shown(foreign, "click", NOW - 1, NOW - 1 + 30 * DAY, 3, { objective: "APP_INSTALLS", claims: false }),
      ],
      events: [
        { ...buy, event_time: NOW - 10 * DAY, tracked: true, due_to: click, cross_campaign: true, cross_device: false },
        { ...buy, event_time: NOW - 40 * DAY, tracked: false },
        { ...buy, event_time: NOW - 41 * DAY, tracked: true },
        { event: "MOBILE_APP_INSTALL", event_time: NOW, tracked: true, due_to: view, cross_campaign: false, cross_device: false },
      ],
    });
    const list = async (event: string) =>
      (await plaza.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query: { advertiser_id: "a", event, consider_views: true } })).body.data;
    expect(await list("CUSTOM_APP_EVENTS")).toMatchObject([{ event: "CUSTOM_APP_EVENTS", click_time: NOW - 40 * DAY }]);
    expect(await list("MOBILE_APP_INSTALL")).toMatchObject([{ event: "MOBILE_APP_INSTALL", view_time: NOW - 60 }]);
    expect(await deviceOf(plaza.world, SHOP, {})).toBeUndefined();
  });

  test("is shown with its newest 200 events", async () => {
    const plaza = await open();
    const send = (from: number, count: number) => {
      const custom_events = Array.from({ length: count }, (_, at) => ({ _eventName: "buy", _logTime: from + at }));
      const body = { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events };
      return plaza.post("/v26.0/1001/activities", { bearer: "1001|s", headers: { "x-forwarded-for": "1.2.3.4" }, body });
    };
    const times = async () =>
      ((await deviceOf(plaza.world, SHOP, { advertiser_id: "a" })) as { events: { event_time: number }[] }).events.map(
        ({ event_time }) => event_time,
      );
    await send(1, 100);
    await send(101, 100);
    expect(await times()).toEqual(Array.from({ length: 200 }, (_, at) => 200 - at));
    await send(201, 1);
    expect(await times()).toEqual(Array.from({ length: 200 }, (_, at) => 201 - at));
  });
});

onEachDatabase("more events than one read returns", (database) => {
  test("D-76: a page has each event once, even if most events of a request cannot be attributed", async () => {
    const plaza = await openPlaza({ database, world });
    await recordTouch(plaza.world, "click", { ad: "8501", advertiser_id: "a", time: NOW - 60 });
    const custom_events = Array.from({ length: 12 }, (_, at) => ({
      _eventName: "buy",
      _logTime: NOW + at,
      advertiser_tracking_enabled: at % 11 === 0 ? 1 : 0,
    }));
    const body = { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events };
    await plaza.post("/v26.0/1001/activities", { bearer: "1001|s", headers: { "x-forwarded-for": "1.2.3.4" }, body });
    const query = { advertiser_id: "a", limit: 2 };
    const { data, paging } = (await plaza.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query })).body;
    expect(data.map(({ event_time }: { event_time: number }) => event_time - NOW)).toEqual([11, 0]);
    expect(paging.next).toBeUndefined();
  });

  test("an ad's touches are all read, each once and in order", async () => {
    const { database: store } = (await openPlaza({ database, world })).world;
    const ids = Array.from({ length: 5_003 }, (_, at) => at + 1);
    const values = ids.flatMap((id) => [id, "8501", "click", id === 2 ? 49 : 50, "[]"]);
    await store.write((tx) => insertRows(tx, sql`INSERT INTO ad_touches (id, ad, kind, time, identities)`, 5, values));
    const found: number[] = [];
    for await (const { id } of ads.touchesOfAd(store.reader, "8501", 50, 50)) found.push(Number(id));
    expect(found).toEqual(ids.filter((id) => id !== 2));
  });

  test("LIM-12: the report includes every ad, ordered by ad and event", async () => {
    const plaza = await openPlaza({ database, world });
    const last = "99999";
    const rows = Array.from({ length: 1_000 }, (_, at) => [10_000 + at, SHOP, "9", "APP_INSTALLS", "[]"]);
    await plaza.world.database.write(async (tx) => {
      await insertRows(tx, sql`INSERT INTO ads (id, app, campaign_id, objective, tracked_apps)`, 5, rows.flat());
      await ads.insertAd(tx, { id: last, app: SHOP, campaign_id: "9", objective: "APP_INSTALLS", tracked_apps: [] });
    });
    for (const [advertiser_id, ...names] of [["b", "zoom", "buy"] as const, ["a", "buy"] as const]) {
      const body = { event: "CUSTOM_APP_EVENTS", advertiser_id, custom_events: names.map((_eventName) => ({ _eventName })) };
      await plaza.post("/v26.0/1001/activities", { bearer: "1001|s", headers: { "x-forwarded-for": "1.2.3.4" }, body });
    }
    await recordTouch(plaza.world, "click", { ad: last, advertiser_id: "b", time: NOW - 60 });
    await recordTouch(plaza.world, "click", { ad: "8501", advertiser_id: "a", time: NOW - 60 });
    const report = (await reportOf(plaza.world, SHOP, 0, NOW)).map(
      ({ ad_id, event_name, click_through }) => `${ad_id} ${event_name} ${click_through}`,
    );
    expect(report).toEqual(["8501 buy 1", `${last} buy 1`, `${last} zoom 1`]);
  });
});
