import { expect, test } from "bun:test";
import { openConsole } from "#harness/console/console-page";
import { startServer } from "#harness/server";

const DEVICE = "38400000-8cf0-11bd-b23e-10b96e40000d";

test("a device's clicks and views with their windows, and the events attributed to them, are shown on a time line that changes as events arrive", async () => {
  const server = await startServer([]);
  const send = async (fields: Record<string, string>): Promise<void> => {
    const body = new URLSearchParams({ advertiser_id: DEVICE, application_tracking_enabled: "1", ...fields });
    const headers = { authorization: "Bearer demo-app-token", "x-forwarded-for": "203.0.113.7" };
    expect((await fetch(`${server.base_url}/v26.0/1001/activities`, { method: "POST", headers, body })).status).toBe(200);
  };
  const later = async (seconds: number): Promise<void> => {
    const headers = { authorization: `Bearer ${server.control_key}` };
    const body = JSON.stringify({ seconds });
    expect((await fetch(`${server.control_url}/v1/worlds/default/clock/advance`, { method: "POST", headers, body })).status).toBe(200);
  };
  const page = await openConsole(server, "/events?app=1001");
  await page.shows("No event yet");
  await page.fill("Device", DEVICE);
  await page.click("Show attribution");
  await page.shows("No clicks, views or events of this device yet");
  await send({ event: "MOBILE_APP_INSTALL", advertiser_tracking_enabled: "0" });
  await page.shows("no ad, because its tracking is off");
  await later(3_600);
  await page.click("Record a view now");
  await page.shows("view of ad 8501");
  await later(1_800);
  await page.click("Record a click now");
  await page.shows("click on ad 8501", "claims until");
  await later(7_200);
  const custom_events = JSON.stringify([{ _eventName: "checkout", _valueToSum: 12.5, pf_currency: "EUR" }]);
  await send({ event: "CUSTOM_APP_EVENTS", advertiser_tracking_enabled: "1", custom_events });

  await page.shows("checkout", "✓ click on ad 8501, campaign 8502");
  expect(await page.violations()).toEqual([]);
  await page.setTheme("light");
  await page.screenshot("attribution");
  await page.click("All events");
  await page.shows("Events a day", "Attributed to ads");
  // For each ad, the report lists the events after a click and the events after a view. The install is attributed to no ad.
  const report = `[...document.querySelectorAll("table")].find((one) => one.innerText.startsWith("Ad\t"))?.innerText`;
  const until = (row: string) =>
    page.page.evaluateUntil<string | undefined>(server.control_url, report, (shown) => shown?.split("\n").includes(row) ?? false);
  expect(await until("8501\tcheckout\t1\t0")).not.toContain("INSTALL");
  await send({ event: "CUSTOM_APP_EVENTS", advertiser_tracking_enabled: "1", custom_events: JSON.stringify([{ _eventName: "checkout" }]) });
  await until("8501\tcheckout\t2\t0");
  expect(page.page.problems).toEqual([]);
});
