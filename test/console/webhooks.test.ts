import { expect, test } from "bun:test";
import { openConsole } from "#harness/console/console-page";
import { postAt, startReceiver } from "#harness/receiver";
import { type Server, startServer, threeTokens, worldFile } from "#harness/server";

const { query, headers } = threeTokens("page-token");

const worldAt = (url: string) =>
  worldFile({
    apps: [{ id: "1001", name: "Shop", secret: "s3cret", callback: { url }, subscriptions: [{ object: "page", fields: ["custom_labels"] }] }],
    pages: [{ id: "2001", name: "Cafe", subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] }],
    tokens: [{ token: "page-token", type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] }],
  });

const createLabel = (server: Server, name: string): Promise<Response> =>
  fetch(`${server.base_url}/v26.0/2001/custom_labels?${query}`, { method: "POST", headers, body: new URLSearchParams({ page_label_name: name }) });

test("a webhook failed: a person sees why, the receiver is fixed, and it is sent again", async () => {
  const receiver = startReceiver();
  receiver.response = () => new Response("no database", { status: 500 });
  const server = await startServer(["--world", worldAt(receiver.url)]);
  const page = await openConsole(server, "/requests");
  await page.shows("No request yet", "● live");
  await createLabel(server, "gold");
  await page.shows("createLabel");
  await page.press("[role=grid] .body [role=row]");
  // The person goes from the request to the webhook that it caused, and back.
  await page.shows("Caused webhooks", "page custom_labels");
  await page.click("page custom_labels");
  await page.shows("waiting, retries later", "500", "no database", "The last attempt failed");
  await page.screenshot("webhook-failed");
  expect(await page.violations()).toEqual([]);
  receiver.response = () => new Response(null, { status: 200 });
  await page.click("Send again");
  await page.shows("✓ delivered", "✓ 200");
  expect(receiver.posts).toHaveLength(2);
  expect(postAt(receiver, 1).body).toBe(postAt(receiver, 0).body);
  await page.screenshot("webhook-replayed");
  await page.click("POST /v26.0/2001/custom_labels");
  await page.shows("Response", "gold");
});

test("a callback is paused, keeps its new webhooks, and is resumed; its health is a chart with a text beside it", async () => {
  const receiver = startReceiver();
  const server = await startServer(["--world", worldAt(receiver.url)]);
  await createLabel(server, "gold");
  const page = await openConsole(server, "/webhooks");
  await page.shows("custom_labels", "delivered");
  await page.press("[role=grid] .body [role=row]");
  await page.click("Open callback");
  await page.shows("Health", "1 attempt, 0 failed");
  await page.page.evaluateUntil<boolean>(server.control_url, "document.querySelector('.chart canvas') !== null", Boolean);
  expect(await page.violations()).toEqual([]);
  await page.screenshot("callback-health");
  await page.click("❚❚ Pause");
  await page.shows("paused, by a person");
  await createLabel(server, "silver");
  await page.shows("waiting, callback paused");
  expect(receiver.posts).toHaveLength(1);
  await page.click("▶ Resume");
  await page.showsNot("waiting, callback paused");
  await page.shows("working");
  while (receiver.posts.length < 2) await Bun.sleep(20);
  expect(page.page.problems).toEqual([]);
});

test("any event is triggered with an example that a person edits, and a wrong value is refused at its place", async () => {
  const receiver = startReceiver();
  const server = await startServer(["--world", worldAt(receiver.url)]);
  const page = await openConsole(server, "/webhooks");
  await page.shows("No webhook yet");
  await page.click("Trigger an event");
  const choose = `(() => { const field = [...document.querySelectorAll("select option")].find((one) => one.innerText === "page custom_labels"); return field?.value; })()`;
  const value = await page.page.evaluateUntil<string | undefined>(server.control_url, choose, (found) => found !== undefined);
  await page.fill("Field", value as string);
  await page.shows('"action"');
  expect(await page.violations()).toEqual([]);
  await page.screenshot("trigger");
  const example = await page.evaluate<string>("document.querySelector('.cm-content').innerText");
  await page.write('{"action": 9007199254740993}');
  await page.press("button", "Trigger");
  await page.shows("the number 9007199254740993 has more digits than can be kept: write it in quotes");
  await page.write(example);
  await page.press("button", "Trigger");
  await page.shows("✓ delivered", "Attempts", "webhook-id");
  expect(JSON.parse(receiver.posts[0]?.body ?? "").entry[0].changes[0].field).toBe("custom_labels");
  expect(page.page.problems).toEqual([]);
});
