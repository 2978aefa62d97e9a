import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { signatureHeaders } from "#webhooks/delivery/signing";
import { type ReceiverOptions, startReceiver } from "./receiver.ts";

async function open(options: Partial<ReceiverOptions> = {}) {
  const receiver = await startReceiver({ secret: "s3cret", ...options });
  afterThisTest(() => receiver.close());
  const post = (body: string, secret = "s3cret") => {
    const headers = signatureHeaders([secret], { webhookId: "msg_1", timestamp: Math.floor(Date.now() / 1000), body });
    return fetch(receiver.url, { method: "POST", body, headers });
  };
  return { receiver, post };
}

/** A webhook body with an account's message to itself in the list `messaging` of its entry. */
const MESSAGE = { sender: { id: "6001" }, recipient: { id: "6901" }, timestamp: 1_795_000_000_000, message: { mid: "m1", text: "hi" } };
const CHANGES =
  '{"object":"chatapp_business_account","entry":[{"id":"4001","time":1795000000,"changes":[{"field":"messages","value":{"n":1}},{"field":"calls","value":{"n":2}}]}]}';

test("completes the handshake, and checks the verify token if it has one", async () => {
  const { receiver } = await open({ verifyToken: "mine" });
  const ask = (query: string) => fetch(`${receiver.url}?${query}`);
  const accepted = await ask("hub.mode=subscribe&hub.challenge=123&hub.verify_token=mine");
  expect({ status: accepted.status, text: await accepted.text() }).toEqual({ status: 200, text: "123" });
  expect((await ask("hub.mode=subscribe&hub.challenge=123&hub.verify_token=other")).status).toBe(403);
  expect((await ask("hub.challenge=123&hub.verify_token=mine")).status).toBe(403);
});

test("stores signed webhooks event by event, and returns the test's response", async () => {
  const { receiver, post } = await open();
  receiver.respond = (_, count) => (count === 1 ? 503 : 200);
  expect((await post(CHANGES)).status).toBe(503);
  expect((await post(`{"object":"social","entry":[{"id":"6001","time":5,"messaging":[${JSON.stringify(MESSAGE)}]}]}`)).status).toBe(200);
  expect(receiver.webhooks.map(({ id, object, events }) => ({ id, object, events }))).toEqual([
    {
      id: "msg_1",
      object: "chatapp_business_account",
      events: [
        { entity: "4001", time: 1_795_000_000, field: "messages", value: { n: 1 } },
        { entity: "4001", time: 1_795_000_000, field: "calls", value: { n: 2 } },
      ],
    },
    { id: "msg_1", object: "social", events: [{ entity: "6001", time: 5, field: "messages", value: MESSAGE }] },
  ]);
  expect(receiver.webhooks[0]?.body).toBe(CHANGES);
});

test("refuses webhooks with another secret or without a signature, and says why", async () => {
  const { receiver, post } = await open();
  expect((await post(CHANGES, "other")).status).toBe(401);
  expect((await fetch(receiver.url, { method: "POST", body: CHANGES })).status).toBe(401);
  expect(receiver.webhooks).toEqual([]);
  expect(receiver.refused.map(({ problem }) => problem)).toEqual([
    "X-Hub-Signature-256 was not made with the app's secret",
    "X-Hub-Signature-256 is missing",
  ]);
  receiver.secret = "other";
  expect((await post(CHANGES, "other")).status).toBe(200);
});

test("refuses a body without an end", async () => {
  const { receiver, post } = await open();
  expect((await post(" ".repeat(17 * 1024 * 1024))).status).toBe(413);
  expect(receiver.webhooks).toEqual([]);
});
