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
  await page.shows("hello, me", "messages to app", "✓ delivered");
  const sent = await fetch(`${server.base_url}/v26.0/6901/messages`, {
    method: "POST",
    headers: { authorization: "Bearer demo-page-token", "content-type": "application/json" },
    body: JSON.stringify({ message: { text: "hello from the app" } }),
  });
  expect(sent.status).toBe(200);
  await page.shows("hello from the app");
  // The pressed button belongs to the message above it, although the person has written further messages and the clock was set back.
  await page.fill("Message", "one more");
  await page.press("button", "Write");
  await page.shows("one more");
  const control = (path: string, method: string, body?: object) =>
    fetch(`${server.control_url}/v1/worlds/default/${path}`, {
      method,
      headers: { authorization: `Bearer ${server.control_key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  expect((await control("clock", "PUT", { now: 1_790_000_000, frozen: true })).status).toBe(200);
  await page.click("Press a button of it");
  await page.fill("Text of the button", "Yes");
  await page.fill("Payload for the app", "YES_1");
  await page.press("button", "Press");
  await page.shows("pressed Yes YES_1");
  const { id: mid } = (await sent.json()) as { id: string };
  const thread = (await (await control("in-app/messages?social_account=6001", "GET")).json()) as { data: { text: string; mid: string }[] };
  expect(thread.data.map(({ text }) => text)).toEqual(["hello, me", "hello from the app", "one more", "Yes"]);
  expect(thread.data.at(-1)?.mid).toBe(mid);
  // The console shows the same thread of messages after the person has opened another view, and after a reload.
  await page.click("Tokens");
  await page.shows("Create a token");
  await page.click("Phone");
  const said = ".message > span:not(.hidden)";
  const texts = () => page.evaluate<string[]>(`[...document.querySelectorAll(${JSON.stringify(said)})].map((one) => one.innerText.trim())`);
  await page.shows("pressed Yes YES_1");
  expect(await texts()).toEqual(["hello, me", "hello from the app", "one more", "pressed Yes YES_1"]);
  await page.go("/phone?account=6001");
  await page.shows("pressed Yes YES_1");
  expect(await texts()).toEqual(["hello, me", "hello from the app", "one more", "pressed Yes YES_1"]);
  await page.fill("Comment", "nice");
  await page.press("button", "Comment");
  await page.shows("Commented", "comments to app");
  expect(await page.violations()).toEqual([]);
  await page.screenshot("phone");
  expect(receiver.posts.length).toBeGreaterThan(2);
  expect(page.page.problems).toEqual([]);
});
