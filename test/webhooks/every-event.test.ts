/** Checks webhooks as an app receives them: with a server, and with an independent receiver in another process that checks every signature. */
import { expect, test } from "bun:test";
import { type Server, startServer, worldFile } from "#harness/server";
import { buildRegistry } from "#main";
import { webhookObjects } from "#webhooks/catalogue/field";
import { type ReceiverProcess, SECRET, startReceiverProcess } from "./receiver-process.ts";

const { webhookFields } = buildRegistry();
const scopes = ["social_business_basic", "social_business_manage_messages", "social_business_manage_comments"];
const ENTITY = { social: "6001", chatapp_business_account: "4001", page: "2001", catalog: "8001" } as const;

const worldOf = (receiver: ReceiverProcess) => ({
  users: [{ id: "3001" }],
  apps: [
    {
      ...{ id: "1001", secret: SECRET, callback: { url: receiver.url } },
      subscriptions: webhookObjects.map((object) => ({ object, fields: webhookFields.namesOf(object) })),
    },
  ],
  pages: [{ id: "2001", subscribed_apps: [{ app: "1001", subscribed_fields: webhookFields.namesOf("page") }] }],
  catalogs: [{ id: "8001", page: "2001" }],
  social_accounts: [{ id: "6001", username: "cafe", social_scoped_id: "6901", user: "3001", app_connections: ["1001"] }],
  chatapp_accounts: [
    { id: "4001", subscribed_apps: [{ app: "1001" }] },
    { id: "4002", subscribed_apps: [{ app: "1001", override_callback_uri: receiver.url.replace("/hook", "/account") }] },
  ],
  phone_numbers: [
    { id: "4101", account: "4001" },
    { id: "4102", account: "4002", overrides: [{ app: "1001", override_callback_uri: receiver.url.replace("/hook", "/phone") }] },
    { id: "4103", account: "4002" },
    { id: "4104", account: "4001", overrides: [{ app: "1001", override_callback_uri: receiver.url.replace("/hook", "/phone") }] },
  ],
  tokens: [
    { token: "own", type: "social_user", app: "1001", social_account: "6001", scopes },
    { token: "author", type: "page", app: "1001", page: "2001", scopes: ["pages_manage_posts", "pages_read_engagement"] },
  ],
});

const request = (server: Server, path: string, body: object) =>
  responseOf(`${server.control_url}/v1/worlds/default/${path}`, server.control_key, { method: "POST", body: JSON.stringify(body) });

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
async function responseOf(url: string, bearer: string, init: { method: string; body?: string } = { method: "GET" }): Promise<any> {
  const response = await fetch(url, { ...init, headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" } });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function open() {
  const receiver = await startReceiverProcess(0);
  const server = await startServer(["--data", ":memory:", "--world", worldFile(worldOf(receiver))]);
  return { receiver, server };
}

test("HOOK-1: every kind of event arrives at an independent receiver, with both signatures valid", async () => {
  const { receiver, server } = await open();
  for (const { object, field } of webhookFields.all) await request(server, "deliveries/trigger", { object, field, entity: ENTITY[object] });
  await request(server, "clock/advance", { seconds: 1 });
  const log = await receiver.log();
  const seen = log.flatMap(({ object, fields }) => (fields.length === 0 ? [`${object} messages`] : fields.map((field) => `${object} ${field}`)));
  // order: deliveries of different entities have no order.
  expect(seen.sort()).toEqual(webhookFields.all.map(({ object, field }) => `${object} ${field}`).sort());
});

test("the routing table of the document, row by row", async () => {
  const { receiver, server } = await open();
  /** The account, the phone number, and the path to which the webhook goes if overrides apply to its field. */
  const rows = [
    ["4002", "4102", "/phone"],
    ["4001", "4104", "/phone"],
    ["4002", "4103", "/account"],
    ["4002", undefined, "/account"],
    ["4001", "4101", "/hook"],
    ["4001", undefined, "/hook"],
  ] as const;
  for (const [account, phone_number, place] of rows) {
    for (const { object, field, honoursOverrides } of webhookFields.all.filter((entry) => entry.object === "chatapp_business_account")) {
      await request(server, "in-app/chatapp", { account, ...(phone_number === undefined ? {} : { phone_number }), field, value: { n: 1 } });
      await request(server, "clock/advance", { seconds: 1 });
      const log = await receiver.log();
      expect(log.map(({ path, fields }) => ({ object, path, fields }))).toEqual([
        { object, path: honoursOverrides ? place : "/hook", fields: [field] },
      ]);
    }
  }
});

test("D-62: a live video's changes of status and its deletion arrive at the page's app, in their order", async () => {
  const { receiver, server } = await open();
  const graph = (method: string, path: string, body: object) =>
    responseOf(`${server.base_url}/v26.0/${path}`, "author", { method, body: JSON.stringify(body) });
  const { id } = await graph("POST", "2001/live_videos", { status: "LIVE_NOW" });
  await graph("POST", id, { end_live_video: true });
  await request(server, "clock/advance", { seconds: 1 });
  await graph("DELETE", id, {});
  await request(server, "clock/advance", { seconds: 1 });
  const log = await receiver.log();
  expect(log.flatMap(({ object, fields }) => fields.map((field) => `${object} ${field}`))).toEqual(new Array(5).fill("page live_videos"));
  const { data } = await responseOf(`${server.control_url}/v1/worlds/default/deliveries`, server.control_key);
  const bodies: string[] = [];
  for (const delivery of data.reverse()) {
    bodies.push((await responseOf(`${server.control_url}/v1/worlds/default/deliveries/${delivery.id}`, server.control_key)).body);
  }
  const changes = bodies.flatMap((body) => JSON.parse(body).entry.flatMap((entry: { changes: unknown[] }) => entry.changes));
  const statuses = ["LIVE", "LIVE_STOPPED", "PROCESSING", "VOD"].map((status) => ({ field: "live_videos", value: { id, status } }));
  expect(changes).toEqual([...statuses, { field: "live_videos", value: { id, status: "DELETED", event: "deleted" } }]);
});
