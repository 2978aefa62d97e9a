/** Checks webhooks in the console as a person sees them: a failed one, and one that an app answers with a message to the person. */
import { expect, test } from "bun:test";
import { JOURNEY_MS, personAt } from "#harness/console/person";
import { postAt, startReceiver } from "#harness/receiver";
import { type Server, startServer, threeTokens } from "#harness/server";

const { query, headers } = threeTokens("demo-page-token");

async function subscribe(server: Server, url: string, subscriptions: readonly object[]): Promise<void> {
  const { status } = await fetch(`${server.control_url}/v1/worlds/default/nodes/apps/1001`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${server.control_key}` },
    body: JSON.stringify({ callback: { url }, subscriptions }),
  });
  expect(status).toBe(200);
}

test(
  "a webhook failed: a person reads why and how it was signed, and sends it again when the receiver works",
  async () => {
    const receiver = startReceiver();
    receiver.response = () => new Response("no database", { status: 500 });
    const server = await startServer([]);
    await subscribe(server, receiver.url, [{ object: "page", fields: ["custom_labels"] }]);
    const person = await personAt(server);
    await person.shows("● live");
    const body = new URLSearchParams({ page_label_name: "gold" });
    await fetch(`${server.base_url}/v26.0/2001/custom_labels?${query}`, { method: "POST", headers, body });
    await person.row("createLabel");
    await person.follow("page custom_labels");
    await person.shows("retries later", "no database", "The last attempt failed. The next attempt is at the time below.");
    await person.page.getByText("Signatures").click();
    await person.shows(`X-Hub-Signature-256: ${receiver.posts[0]?.headers["x-hub-signature-256"]}`);
    await person.look("journey-4-failed");
    await person.press("Open callback");
    await person.shows("failing", "1 attempt, 1 failed");
    await person.look("journey-4-callback");
    receiver.response = () => new Response(null, { status: 200 });
    await person.press("Replay");
    await person.shows("1 webhook is sent again", "✓ delivered");
    await person.row("custom_labels");
    await person.shows("✓ 200");
    await person.look("journey-4-replayed");
    expect(postAt(receiver, 1).body).toBe(postAt(receiver, 0).body);
    expect(person.problems).toEqual([]);
  },
  JOURNEY_MS,
);

test(
  "a person writes to themselves, the app responds, and each webhook shows beside the phone",
  async () => {
    const receiver = startReceiver();
    const server = await startServer([]);
    await subscribe(server, receiver.url, [{ object: "social", fields: ["messages", "comments"] }]);
    // The app responds once to the person's message, with a message that has a button.
    receiver.response = async ({ json }) => {
      const text = json.entry?.[0]?.messaging?.[0]?.message?.text;
      if (text === "hello, me")
        await fetch(`${server.base_url}/v26.0/6901/messages`, {
          method: "POST",
          headers: { authorization: "Bearer demo-page-token", "content-type": "application/json" },
          body: JSON.stringify({
            message: { text: "A table for two?" },
          }),
        });
      return new Response(null);
    };
    const person = await personAt(server, { theme: "dark", path: "/phone?account=6001" });
    await person.fill("Message", "hello, me");
    await person.press("Write");
    await person.shows("A table for two?");
    await person.page.getByText("Press a button of it").click();
    await person.fill("Text of the button", "Book it");
    await person.fill("Payload for the app", "BOOK");
    await person.press("Press");
    await person.shows(/pressed\s+Book it/, "✓ delivered");
    // The webhooks of the person's message, of the app's response, and of the pressed button.
    const sent = person.page.locator(".phone-webhooks li").filter({ hasText: "messages" }).filter({ hasText: "delivered" });
    await sent.nth(2).waitFor();
    await person.look("journey-5-phone");
    await sent.first().getByRole("link", { name: "messages" }).click();
    await person.shows("BOOK", "webhook-id");
    await person.look("journey-5-webhook");
  },
  JOURNEY_MS,
);
