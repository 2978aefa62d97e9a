import { expect, test } from "bun:test";
import { openConsole } from "#harness/console/console-page";
import { startReceiver } from "#harness/receiver";
import { startServer } from "#harness/server";

test("a person writes to themselves on the phone, the app responds, and each webhook is shown beside it", async () => {
  const receiver = startReceiver();
  const server = await startServer([]);
  const subscribed = await fetch(`${server.control_url}/v1/worlds/default/nodes/apps/1001`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${server.control_key}` },
    body: JSON.stringify({
      callback: { url: receiver.url },
      subscriptions: [{ object: "social", fields: ["messages", "comments"] }],
    }),
  });
  expect(subscribed.status).toBe(200);
  const page = await openConsole(server, "/phone?account=6001");
  await page.shows("Phone of", "Write something", "No webhook yet");
  await page.fill("Message", "hello, me");
  await page.press("button", "Write");
  await page.shows("hello, me", "messages to app 1001 ✓ delivered");
  const sent = await fetch(`${server.base_url}/v26.0/6901/messages`, {
    method: "POST",
    headers: { authorization: "Bearer demo-page-token", "content-type": "application/json" },
    body: JSON.stringify({ message: { text: "hello from the app" } }),
  });
  expect(sent.status).toBe(200);
  await page.shows("hello from the app");
  await page.fill("Comment", "nice");
  await page.press("button", "Comment");
  await page.shows("Commented", "comments to app 1001");
  expect(await page.violations()).toEqual([]);
  await page.screenshot("phone");
  expect(receiver.posts.length).toBeGreaterThan(2);
  expect(page.page.problems).toEqual([]);
});
