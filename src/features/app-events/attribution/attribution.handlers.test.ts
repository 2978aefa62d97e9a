import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Row, Sql } from "#storage/sql";
import { recordTouch, type TouchInput } from "./attribution.control.ts";
import { reportOf } from "./attribution.handlers.ts";

const NOW = 1_795_000_000;
const DAY = 86_400;
const SHOP = nodeId("1001");
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const EM = sha256("ada@example.com");

const world = {
  clock: { now: NOW, frozen: true },
  apps: [
    { id: "1001", name: "Shop", secret: "s" },
    { id: "1002", name: "Other", secret: "o" },
  ],
  ads: [
    { id: "8501", app: "1001", campaign_id: "9501", objective: "APP_INSTALLS" },
    { id: "8502", app: "1002", campaign_id: "9502", objective: "LINK_CLICKS", tracked_apps: ["1001"] },
    { id: "8503", app: "1001", campaign_id: "9503", objective: "LINK_CLICKS" },
  ],
};

const post = (plaza: TestPlaza, body: Record<string, unknown>) =>
  plaza.post("/v26.0/1001/activities", { bearer: "1001|s", headers: { "x-forwarded-for": "1.2.3.4" }, body });
const install = (plaza: TestPlaza, more: Record<string, unknown> = { advertiser_id: "a" }) => post(plaza, { event: "MOBILE_APP_INSTALL", ...more });
const buy = (plaza: TestPlaza, _logTime: number, more: Record<string, unknown> = {}) =>
  post(plaza, { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events: [{ _eventName: "buy", _logTime, _valueToSum: 2 }], ...more });
const click = ({ world: w }: TestPlaza, touch: Partial<TouchInput>) => recordTouch(w, "click", { ad: "8501", time: NOW - DAY, ...touch });
const view = ({ world: w }: TestPlaza, touch: Partial<TouchInput>) => recordTouch(w, "impression", { ad: "8501", time: NOW - 3_600, ...touch });
const ask = async (plaza: TestPlaza, query: Record<string, unknown> = { advertiser_id: "a" }) =>
  (await plaza.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query })).body.data;

onEachDatabase("attribution", (database) => {
  const open = () => openPlaza({ database, world });

  test("ATTR-3, D-74: installs and conversions are attributed to a click in any order of arrival", async () => {
    const plaza = await open();
    await install(plaza);
    await click(plaza, { advertiser_id: "a" });
    await buy(plaza, NOW - DAY + 5);
    await buy(plaza, NOW - DAY - 5);
    const due = { ad_id: "8501", campaign_id: "9501", click_time: NOW - DAY, cross_campaign: false, cross_device: false };
    expect(await ask(plaza)).toEqual([
      { event: "CUSTOM_APP_EVENTS", event_name: "buy", event_time: NOW - DAY + 5, ...due },
      { event: "MOBILE_APP_INSTALL", event_time: NOW, ...due },
    ]);
    expect(await ask(plaza, { advertiser_id: "a", event: "MOBILE_APP_INSTALL" })).toMatchObject([{ event: "MOBILE_APP_INSTALL" }]);
    expect(await ask(plaza, { advertiser_id: "b" })).toEqual([]);
    // A device id of zeros counts as a missing id.
    for (const query of [{}, { advertiser_id: "" }, { advertiser_id: "00000000-0000-0000-0000-000000000000" }]) {
      const { status, body } = await plaza.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query });
      expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 100, error_data: { parameter: "advertiser_id" } } } });
    }
  });

  test("D-74: an install and all conversions come back in pages, however many events follow; the report counts them all", async () => {
    const plaza = await open();
    await install(plaza);
    await click(plaza, { advertiser_id: "a" });
    const times = Array.from({ length: 3_100 }, (_, i) => NOW - i);
    for (let at = 0; at < times.length; at += 50) {
      const custom_events = times.slice(at, at + 50).map((_logTime) => ({ _eventName: "buy", _logTime }));
      await post(plaza, { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events });
    }
    type Page = {
      data: { event: string; event_time: number }[];
      paging: { cursors: { before: string; after: string }; next?: string; previous?: string };
    };
    const page = async (query: object): Promise<Page> =>
      (await plaza.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query: { advertiser_id: "a", limit: 100, ...query } })).body;
    const pages: Page[] = [await page({})];
    for (let last = pages[0]; last?.paging.next !== undefined; last = pages[pages.length - 1])
      pages.push(await page({ after: last.paging.cursors.after }));
    const rows = pages.flatMap(({ data }) => data);
    expect(rows.slice(0, -1).map(({ event_time }) => event_time)).toEqual(times.toReversed());
    expect(rows[3_100]).toMatchObject({ event: "MOBILE_APP_INSTALL" });
    const [first, second] = pages;
    expect(await page({ before: second?.paging.cursors.before })).toMatchObject({ data: first?.data as never });
    expect(await ask(plaza, { advertiser_id: "a", event: "MOBILE_APP_INSTALL" })).toHaveLength(1);
    const report = await reportOf(plaza.world, SHOP, 0, NOW);
    expect(report.map(({ click_through }) => click_through)).toEqual([1, 3_100]);
  });

  test("D-74: a page of a device with many events reads as many rows as one with few", async () => {
    const plaza = await open();
    const send = async (id: string, requests: number, events: number) => {
      const ids = { advertiser_id: id, attribution: id.repeat(22) };
      await click(plaza, ids);
      await install(plaza, ids);
      for (let i = 0; i < requests; i++) {
        const custom_events = Array.from({ length: events }, () => ({ _eventName: "buy" }));
        await post(plaza, { event: "CUSTOM_APP_EVENTS", ...ids, ud: { em: sha256(id) }, custom_events });
      }
    };
    await send("a", 1, 9);
    await send("b", 60, 50);
    await send("c", 400, 1);
    const { reader } = plaza.world.database;
    const all = reader.all.bind(reader);
    let rows = 0;
    reader.all = async <R extends Row>(statement: Sql): Promise<R[]> => {
      const found = await all<R>(statement);
      rows += found.length;
      return found;
    };
    const rowsRead = async (query: Record<string, unknown>, count: number) => {
      rows = 0;
      expect(await ask(plaza, query)).toHaveLength(count);
      return rows;
    };
    // The number of read rows includes the entries of the index: 16 entries for each id.
    const entries = 2 * 16;
    for (const query of [{ limit: 10 }, { event: "MOBILE_APP_INSTALL" }]) {
      const count = "limit" in query ? 10 : 1;
      const few = await rowsRead({ advertiser_id: "a", ...query }, count);
      expect(await rowsRead({ advertiser_id: "b", ...query }, count)).toBeLessThanOrEqual(few + 2 + entries);
      expect(await rowsRead({ attribution: "c".repeat(22), ...query }, count)).toBeLessThanOrEqual(few + 2 + entries);
    }
  });

  test("D-31: a page beyond an end is empty and links back to the rows at that end", async () => {
    const plaza = await open();
    await click(plaza, { advertiser_id: "a" });
    for (const time of [NOW - 2, NOW - 1]) await buy(plaza, time);
    const page = async (query: Record<string, unknown>) =>
      (await plaza.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query: { advertiser_id: "a", ...query } })).body;
    const { data, paging } = await page({});
    for (const [end, link] of [
      ["after", "previous"],
      ["before", "next"],
    ] as const) {
      const beyond = await page({ [end]: paging.cursors[end] });
      expect(beyond).toEqual({ data: [], paging: { cursors: {}, [link]: expect.any(String) } });
      const back = new URL(beyond.paging[link]).searchParams;
      expect((await page(Object.fromEntries(back))).data).toEqual(data);
    }
  });

  test("ATTR-1, ATTR-4 to ATTR-6: with consider_views an install without a click is attributed to a view", async () => {
    const plaza = await open();
    await view(plaza, { advertiser_id: "a" });
    const response = await post(plaza, { event: "MOBILE_APP_INSTALL", advertiser_id: "a", consider_views: "TRUE" });
    const row = { event: "MOBILE_APP_INSTALL", event_time: NOW, ad_id: "8501", campaign_id: "9501", cross_campaign: false, cross_device: false };
    expect(response.body).toEqual({ success: true, data: [{ ...row, is_view_through: true, view_time: NOW - 3_600 }] });
    await buy(plaza, NOW);
    expect(await ask(plaza, { advertiser_id: "a", consider_views: true })).toEqual(response.body.data);
    expect(await ask(plaza)).toEqual([]);
    expect((await post(plaza, { event: "MOBILE_APP_INSTALL", advertiser_id: "a", consider_views: false })).body).toEqual({ success: true, data: [] });
    await click(plaza, { advertiser_id: "a" });
    // I1-23: the response has only rows of the event kind that the request reports, although the custom event is attributed to the click, too.
    const again = await post(plaza, { event: "MOBILE_APP_INSTALL", advertiser_id: "a", consider_views: true });
    expect(again.body.data).toEqual([{ ...row, click_time: NOW - DAY }]);
    expect((await ask(plaza, { advertiser_id: "a", consider_views: true }))[1]).toEqual({ ...row, click_time: NOW - DAY });
  });

  test("ATTR-7: an ad with another objective is credited with the apps that it tracks, and no others", async () => {
    const plaza = await open();
    await install(plaza);
    await click(plaza, { advertiser_id: "a", ad: "8503" });
    expect(await ask(plaza)).toEqual([]);
    await click(plaza, { advertiser_id: "a", ad: "8502", time: NOW - 2 * DAY });
    expect(await ask(plaza)).toMatchObject([{ ad_id: "8502", cross_campaign: true }]);
  });

  test("ATTR-8, D-74: equal person keys link devices, through touches and through events", async () => {
    const plaza = await open();
    await click(plaza, { advertiser_id: "tablet", ud: { em: EM } });
    await install(plaza, { advertiser_id: "a", ud: { em: EM.toUpperCase() } });
    expect(await ask(plaza)).toMatchObject([{ cross_device: true }]);
    const other = await open();
    await click(other, { advertiser_id: "tablet" });
    await install(other, { advertiser_id: "a", ud: { em: EM } });
    expect(await ask(other)).toEqual([]);
    await buy(other, NOW, { advertiser_id: "tablet", ud: { em: EM } });
    expect(await ask(other)).toMatchObject([{ event: "MOBILE_APP_INSTALL", cross_device: true }]);
    await click(other, { advertiser_id: "a", time: NOW - 60 });
    expect(await ask(other)).toMatchObject([{ cross_device: false, click_time: NOW - 60 }]);
  });

  test("I1-12, D-76: an event with advertiser_tracking_enabled 0 is not attributed and does not link devices", async () => {
    const plaza = await open();
    await click(plaza, { advertiser_id: "a" });
    await install(plaza, { advertiser_id: "a", advertiser_tracking_enabled: 0 });
    const own = [{ _eventName: "buy", advertiser_tracking_enabled: 1, _logTime: NOW }, { _eventName: "buy" }];
    await post(plaza, { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", advertiser_tracking_enabled: 0, custom_events: own });
    expect(await ask(plaza)).toMatchObject([{ event: "CUSTOM_APP_EVENTS", event_name: "buy" }]);
    await install(plaza, { advertiser_id: "b", ud: { em: EM }, advertiser_tracking_enabled: 0 });
    await click(plaza, { ud: { em: EM } });
    expect(await ask(plaza, { advertiser_id: "b" })).toEqual([]);
  });

  test("D-76: an untracked request joins the two ids of its device, but does not tie the device to a person", async () => {
    const plaza = await open();
    const attribution = "A".repeat(22);
    await post(plaza, { event: "MOBILE_APP_INSTALL", advertiser_id: "a", attribution, ud: { em: EM }, advertiser_tracking_enabled: 0 });
    // A touch of the same person on another device does not belong to the device. A touch (click or impression) that names another id of the device
    // belongs to the device, too.
    await click(plaza, { advertiser_id: "b", ud: { em: EM } });
    await buy(plaza, NOW);
    expect(await ask(plaza)).toEqual([]);
    await click(plaza, { attribution, time: NOW - 60 });
    expect(await ask(plaza)).toMatchObject([{ event: "CUSTOM_APP_EVENTS", click_time: NOW - 60 }]);
  });

  test("D-74: reading attribution needs a device and the app's own token", async () => {
    const plaza = await open();
    const read = (query: Record<string, unknown>, bearer = "1001|s") => plaza.get("/v26.0/1001/app_attribution", { bearer, query });
    expect((await read({})).body.error).toMatchObject({ code: 100, error_data: { parameter: "advertiser_id" } });
    expect((await read({ attribution: "short" })).body.error.error_data).toEqual({ parameter: "attribution" });
    expect((await read({ advertiser_id: "a", event: "x" })).body.error.error_data).toEqual({ parameter: "event" });
    expect((await read({ attribution: "a".repeat(22) })).body).toEqual({ data: [], paging: { cursors: {} } });
    expect((await read({ advertiser_id: "a" }, "1002|o")).body.error).toMatchObject({ code: 100, error_subcode: 33 });
  });

  test("I1-12, D-76: an event with advertiser_tracking_enabled 0 is in the report, by the clicks of its own device", async () => {
    const plaza = await open();
    await click(plaza, { advertiser_id: "a" });
    await click(plaza, { ud: { em: EM } });
    await buy(plaza, NOW, { advertiser_tracking_enabled: 0 });
    await buy(plaza, NOW, { advertiser_id: "b", ud: { em: EM }, advertiser_tracking_enabled: 0 });
    expect(await ask(plaza)).toEqual([]);
    const [row, ...others] = await reportOf(plaza.world, SHOP, NOW - DAY, NOW + DAY);
    expect(row).toMatchObject({ ad_id: "8501", click_through: 1, sums: { "": "2" } });
    expect(others).toEqual([]);
  });

  test("D-70: deferred app links exist only in the profile clients", async () => {
    const link = { event: "DEFERRED_APP_LINK", advertiser_id: "a" };
    const strict = await open();
    const refused = (await post(strict, link)).body.error;
    expect(refused).toMatchObject({ code: 100, error_data: { parameter: "event" } });
    expect(refused.message).toContain("MOBILE_APP_INSTALL, CUSTOM_APP_EVENTS");
    expect(refused.message).not.toContain("DEFERRED_APP_LINK");
    const read = await strict.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query: link });
    expect(read.body.error).toMatchObject({ code: 100, error_data: { parameter: "event" } });
    expect(read.body.error.message).not.toContain("DEFERRED_APP_LINK");
    const clients = await openPlaza({ database, world, profile: "clients" });
    expect((await post(clients, link)).body).toEqual({ success: true });
    await click(clients, { advertiser_id: "a" });
    expect(await ask(clients, link)).toMatchObject([{ event: "DEFERRED_APP_LINK", ad_id: "8501" }]);
  });

  test("LIM-12, D-74: the report counts 1-day views and 28-day clicks, of all events", async () => {
    const plaza = await open();
    await click(plaza, { advertiser_id: "a", time: NOW - 28 * DAY });
    await view(plaza, { advertiser_id: "b", ad: "8502" });
    await buy(plaza, NOW);
    await buy(plaza, NOW + 1);
    await buy(plaza, NOW, { advertiser_id: "b" });
    await buy(plaza, NOW - 2 * 3_600, { advertiser_id: "b" });
    await buy(plaza, NOW, { advertiser_id: "unknown" });
    const none = { cross_campaign: 0, cross_device: 0 };
    const row = { event: "CUSTOM_APP_EVENTS" as const, event_name: "buy" };
    expect(await reportOf(plaza.world, SHOP, NOW - DAY, NOW + DAY)).toEqual([
      { ad_id: "8501", campaign_id: "9501", ...row, click_through: 1, view_through: 0, ...none, sums: { "": "2" } },
      { ad_id: "8502", campaign_id: "9502", ...row, click_through: 0, view_through: 1, cross_campaign: 1, cross_device: 0, sums: { "": "2" } },
    ]);
    expect(await reportOf(plaza.world, SHOP, NOW + 2, NOW + DAY)).toEqual([]);
  });
});
