import { expect, test } from "bun:test";
import { openConsole } from "#harness/console/console-page";
import { startReceiver } from "#harness/receiver";
import { startServer, worldFile } from "#harness/server";

const YEAR = 365 * 86_400;

test("the clock is stopped and jumps to the next deadline, which then has happened", async () => {
  const receiver = startReceiver();
  receiver.response = () => new Response(null, { status: 500 });
  const world = worldFile({
    clock: { now: 1_795_000_000, frozen: true },
    apps: [{ id: "1001", secret: "s3cret", callback: { url: receiver.url }, subscriptions: [{ object: "page", fields: ["live_videos"] }] }],
    pages: [{ id: "2001", subscribed_apps: [{ app: "1001", subscribed_fields: ["live_videos"] }] }],
  });
  const server = await startServer(["--world", world]);
  const headers = { authorization: `Bearer ${server.control_key}` };
  const body = JSON.stringify({ object: "page", field: "live_videos", entity: "2001" });
  expect((await fetch(`${server.control_url}/v1/worlds/default/deliveries/trigger`, { method: "POST", headers, body })).status).toBe(200);
  while (receiver.posts.length < 1) await Bun.sleep(20);
  const page = await openConsole(server, "/time");
  await page.shows("stopped", "a webhook is sent again to", receiver.url);
  expect(await page.violations()).toEqual([]);
  await page.screenshot("time");
  const rows = "[...document.querySelectorAll('tbody tr')]";
  await page.evaluate(`${rows}.find((row) => row.innerText.includes("sent again")).querySelector("button").click()`);
  while (receiver.posts.length < 2) await Bun.sleep(20);
  // The list shows the next deadline without a reload.
  await page.click("Jump to the next deadline");
  while (receiver.posts.length < 3) await Bun.sleep(20);
  await page.click("▶ Start the clock");
  await page.shows("running");
});

test("a version that ends next year is found in advance", async () => {
  const now = Math.floor(Date.now() / 1000);
  const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();
  const world = worldFile({
    versions: {
      marketing: [
        { version: "v24.0", released: iso(now - 3 * YEAR), until: iso(now + YEAR / 2) },
        { version: "v25.0", released: iso(now - YEAR / 2) },
      ],
    },
    apps: [{ id: "1001", created_time: iso(now - 2 * YEAR), marketing_first_used_time: iso(now - 2 * YEAR), auto_upgrade: false }],
    pages: [{ id: "2001", roles: [] }],
    catalogs: [{ id: "8001", page: "2001", name: "Books" }],
    tokens: [{ token: "page-token", type: "page", app: "1001", page: "2001", scopes: ["catalog_management"] }],
  });
  const server = await startServer(["--world", world]);
  await fetch(`${server.base_url}/v24.0/8001?access_token=page-token`, { headers: { authorization: "Bearer page-token" } });
  const page = await openConsole(server, "/versions");
  await page.shows("v24.0", "readCatalog", "automatic upgrade off", `${iso(now + YEAR / 2).slice(0, 10)} marketing v24.0 ends`);
  expect(await page.violations()).toEqual([]);
  await page.screenshot("versions");
  await page.fill("On", iso(now + YEAR / 4).slice(0, 10));
  await page.shows("would be served by the same version");
  await page.click(`${iso(now + YEAR / 2).slice(0, 10)} marketing v24.0 ends`);
  await page.shows("automatic upgrade off");
  await page.click("Move the world's clock to this date");
  await page.shows("✕ ended");
  await page.screenshot("versions-later");
});
