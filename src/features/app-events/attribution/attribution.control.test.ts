import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";

const NOW = 1_795_000_000;
const world = {
  clock: { now: NOW, frozen: true },
  apps: [{ id: "1001", name: "Shop", secret: "s" }],
  ads: [{ id: "8501", app: "1001", campaign_id: "9501" }],
};

onEachDatabase("attribution through the control API", (database) => {
  test("D-74: clicks and impressions are recorded, and reported", async () => {
    const { request, plaza } = await openControl({ database, world });
    await plaza.post("/v26.0/1001/activities", {
      bearer: "1001|s",
      headers: { "x-forwarded-for": "1.2.3.4" },
      body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events: [{ _eventName: "buy", _valueToSum: 3 }] },
    });
    expect((await request("POST", "attribution/clicks", { ad: "8501", advertiser_id: "a", time: NOW - 60 })).status).toBe(201);
    expect((await request("POST", "attribution/impressions", { ad: "8501", attribution: "a".repeat(22) })).status).toBe(201);
    expect((await request("POST", "attribution/clicks", { ad: "1001", advertiser_id: "a" })).status).toBe(422);
    expect((await request("POST", "attribution/clicks", { ad: "8501" })).status).toBe(400);
    expect((await request("POST", "attribution/clicks", { ad: "8501", ud: { em: "not hashed" } })).status).toBe(400);
    expect((await request("GET", "app-events/1001/report")).body).toEqual({
      since: 0,
      until: NOW,
      data: [
        {
          ad_id: "8501",
          campaign_id: "9501",
          event: "CUSTOM_APP_EVENTS",
          event_name: "buy",
          click_through: 1,
          view_through: 0,
          cross_campaign: 0,
          cross_device: 0,
          sums: { "": "3" },
        },
      ],
    });
    expect((await request("GET", "app-events/1001/report?since=2&until=1")).status).toBe(400);
    const device = (await request("GET", "app-events/1001/device?advertiser_id=a")).body;
    expect(device.touches).toEqual([
      {
        ...{ id: expect.any(String), kind: "click", time: NOW - 60, until: NOW - 60 + 30 * 86_400 },
        ...{ ad_id: "8501", campaign_id: "9501", objective: "APP_INSTALLS", claims: true },
      },
    ]);
    expect(device.events).toEqual([
      {
        ...{ event: "CUSTOM_APP_EVENTS", event_name: "buy", event_time: NOW, tracked: true },
        ...{ due_to: device.touches[0].id, cross_campaign: false, cross_device: false },
      },
    ]);
    expect((await request("GET", "app-events/1001/device?advertiser_id=other")).body).toMatchObject({ touches: [], events: [] });
    expect((await request("GET", "app-events/1001/device")).status).toBe(400);
    expect((await request("DELETE", "nodes/ads/8501")).status).toBeLessThan(300);
    expect((await plaza.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query: { advertiser_id: "a" } })).body.data).toEqual([]);
  });
});
