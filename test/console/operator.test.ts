import { expect, test } from "bun:test";
import { openConsole } from "#harness/console/console-page";
import { startServer, threeTokens } from "#harness/server";

const { query, headers } = threeTokens("demo-page-token");

test("a person makes an operation fail once, and it works again", async () => {
  const server = await startServer([]);
  const page = await openConsole(server, "/faults");
  await page.shows("No fault is in effect", "listPersonas");
  await page.fill("Operation", "listPersonas");
  await page.press("button", "Create");
  await page.shows("returns 503 with code 2", "once");
  expect(await page.violations()).toEqual([]);
  await page.screenshot("faults");
  const ask = async () => (await fetch(`${server.base_url}/v26.0/2001/personas?${query}`, { headers })).status;
  expect([await ask(), await ask()]).toEqual([503, 200]);
  expect(page.page.problems).toEqual([]);
});

test("a world is saved, changed and restored; another one is created and deleted", async () => {
  const server = await startServer([]);
  const page = await openConsole(server, "/worlds");
  await page.shows("default", "Create one before you break something");
  await page.fill("Name of a snapshot", "before");
  await page.press("button", "Create a snapshot");
  await page.shows("Snapshot created", "before");
  const label = `${server.control_url}/v1/worlds/default/nodes/labels/5001`;
  const authorized = { headers: { authorization: `Bearer ${server.control_key}` } };
  expect((await fetch(label, { method: "DELETE", ...authorized })).status).toBe(200);
  expect((await fetch(label, authorized)).status).toBe(404);
  await page.click("Restore");
  await page.click("Restore default to before");
  await page.shows("World default restored");
  expect((await fetch(label, authorized)).status).toBe(200);
  await page.fill("Name of a new world", "orders");
  await page.press("button", "Create a world");
  await page.shows("World orders created");
  expect(await page.violations()).toEqual([]);
  await page.screenshot("worlds");
  await page.click("Delete: Delete orders");
  await page.click("Delete orders with everything in it");
  await page.shows("World orders deleted");
  expect(page.page.problems).toEqual([]);
});

test("settings: a read-only key is created, shown once and revoked; the theme is chosen", async () => {
  const server = await startServer([]);
  const page = await openConsole(server, "/settings");
  await page.shows("Addresses", server.base_url, "Control keys");
  await page.fill("Purpose of the key", "dashboard");
  await page.press("button", "Create a key");
  await page.shows("The value is shown only once", "dashboard, read");
  const value = await page.evaluate<string>("document.querySelector('[aria-label=\"Value of the key\"]').innerText");
  const ask = async (method: string) =>
    (await fetch(`${server.control_url}/v1/worlds`, { method, headers: { authorization: `Bearer ${value}` } })).status;
  expect([await ask("GET"), await ask("POST")]).toEqual([200, 403]);
  expect(await page.violations()).toEqual([]);
  await page.go("/worlds");
  await page.shows("World file of default");
  await page.evaluate("HTMLAnchorElement.prototype.click = function () { globalThis.saved = decodeURIComponent(this.href); }");
  const saved = async (): Promise<boolean> => {
    await page.evaluate("globalThis.saved = ''");
    await page.press("button", "Export this world");
    for (;;) {
      const file = await page.evaluate<string>("globalThis.saved");
      if (file !== "") return file.includes("demo-app-secret");
    }
  };
  expect(await saved()).toBe(false);
  await page.press("input[type=checkbox]");
  expect(await saved()).toBe(true);
  await page.go("/settings");
  await page.shows("Control keys", "dashboard, read");
  await page.press("button", "dark");
  expect(await page.evaluate<string>("document.documentElement.dataset.theme")).toBe("dark");
  await page.screenshot("settings");
  await page.press("button", "Revoke");
  await page.click("Revoke the key dashboard");
  await page.showsNot("dashboard, read");
  expect(await ask("GET")).toBe(401);
});

test("app events appear as they arrive, each with its verdict, and their names with counts and sums", async () => {
  const server = await startServer([]);
  const page = await openConsole(server, "/events");
  await page.shows("Demo shop", "No event yet");
  const response = await fetch(`${server.base_url}/v26.0/1001/activities`, {
    method: "POST",
    headers: { authorization: "Bearer demo-app-token", "x-forwarded-for": "203.0.113.7" },
    body: new URLSearchParams({
      ...{ event: "CUSTOM_APP_EVENTS", advertiser_id: "1b2c3d4e-0000-4000-8000-000000000001", advertiser_tracking_enabled: "1" },
      application_tracking_enabled: "1",
      custom_events: JSON.stringify([{ _eventName: "table_booked", event_id: "1", _valueToSum: 9.5, pf_currency: "EUR" }]),
    }),
  });
  expect({ status: response.status, body: response.ok ? "" : await response.text() }).toEqual({ status: 200, body: "" });
  await page.shows("accepted", "table_booked", "Names");
  expect(await page.violations()).toEqual([]);
  await page.screenshot("events");
});
