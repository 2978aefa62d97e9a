import { expect, test } from "bun:test";
import { onEachDatabase, openPlaza } from "#harness/plaza";
const world = { apps: [{ id: "1001", name: "Shop", secret: "s3", event_name_limit: 5 }], ads: [{id:"8501", app:"1001", campaign_id:"8502"}] };
onEachDatabase("smoke", (database) => {
  test("it works", async () => {
    const plaza = await openPlaza({ database, world });
    const send = (events: unknown, more = {}) => plaza.post("/v26.0/1001/activities", { headers: { "x-forwarded-for": "1.2.3.4" }, bearer: "1001|s3", body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "d1", custom_events: events, ...more } });
    const a = await send([{ _eventName: "pf_mobile_purchase", event_id: "e1", _valueToSum: 0.1, pf_currency: "USD" }, { _eventName: "x y", _valueToSum: "999999999999.999999" }]);
    expect([a.status, a.body]).toEqual([200, { success: true }]);
    console.log(a.headers);
    const b = await send(JSON.stringify([{ _eventName: "pf_mobile_purchase", event_id: "e1", _valueToSum: 0.1, pf_currency: "USD" },{ _eventName: "pf_mobile_purchase", event_id: "e2", _valueToSum: 0.2, pf_currency: "USD" }]), {consider_views: true});
    expect([b.status, b.body]).toEqual([200, { success: true, data: [] }]);
    const c = await Promise.all(["a","b","c","d","e"].map((n) => send([{ _eventName: n }])));
    console.log(c.map((x) => x.status), c[4]?.body);
    console.log((await send([{ _eventName: "a", pf_success: true }])).body, (await plaza.post("/v26.0/1001/activities", {bearer: "nope"})).headers);
    console.log(await plaza.get("/v26.0/1001/app_attribution", {bearer: "1001|s3", query: {advertiser_id: "d1"}}));
  });
});
