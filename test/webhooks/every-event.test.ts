/** A receiver in another process gets every kind of event, signed, in exactly its shape, and where the routing table says. */
import { expect, test } from "bun:test";
import { type Server, startServer, threeTokens, worldFile } from "#harness/server";
import { cafe } from "#harness/worlds";
import { webhookFields } from "#webhooks/field-catalogue";
import { type Receiver, startReceiverProcess } from "./receiver.ts";

const NOW = 1_795_000_000;
const SECRET = "s3cret ü";
const ofChatapp = webhookFields.filter(({ object }) => object === "chatapp_business_account");
const scopes = [
  ...["social_business_basic", "social_business_manage_messages", "social_business_manage_comments", "chatapp_business_management"],
  ...["pages_messaging"],
];

const worldAt = (url: string) => ({
  ...cafe,
  clock: { now: NOW, frozen: true },
  apps: [
    {
      id: "1001",
      secret: SECRET,
      callback: { url: `${url}/1001/app` },
      subscriptions: [
        { object: "social", fields: ["messages", "comments", "live_comments"] },
        { object: "page", fields: ["custom_labels"] },
        { object: "chatapp_business_account", fields: ofChatapp.map(({ field }) => field) },
      ],
    },
    {
      id: "1002",
      secret: "0ther",
      callback: { url: `${url}/1002/app` },
      subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }],
    },
  ],
  pages: cafe.pages.map((page) =>
    page.id === "2001" ? { ...page, subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] } : page,
  ),
  social_accounts: [{ id: "6001", username: "café", social_scoped_id: "6901", page: "2001", user: "3001", app_connections: ["1001"] }],
  media: [{ id: "6101", owner: "6001", media_type: "IMAGE", media_product_type: "FEED" }],
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
  phone_numbers: [
    { id: "4101", account: "4001" },
    { id: "4102", account: "4001" },
  ],
  tokens: [
    { token: "page", type: "page", app: "1001", page: "2001", user: "3001", scopes },
    { token: "own", type: "social_user", app: "1001", social_account: "6001", scopes },
    { token: "wa", type: "system_user", app: "1001", user: "3001", scopes },
    { token: "other-wa", type: "user", app: "1002", user: "3002", scopes },
  ],
});

interface Call {
  readonly method?: string;
  readonly bearer?: string;
  readonly query?: string;
  readonly body?: object;
}

async function call(url: string, { method = "POST", bearer = "page", query = "", body }: Call): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
  const response = await fetch(`${url}?${query}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const answer = (await response.json()) as Record<string, unknown>;
  if (response.status !== 200) throw new Error(`${method} ${url}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

async function open(): Promise<{ server: Server; receiver: Receiver; inApp: (what: string, body: object) => Promise<Record<string, unknown>> }> {
  const receiver = await startReceiverProcess({ "/1001": SECRET, "/1002": "0ther" });
  const server = await startServer(["--data", ":memory:", "--world", worldFile(worldAt(receiver.url))]);
  const inApp = (what: string, body: object) => call(`${server.control_url}/v1/worlds/default/in-app/${what}`, { bearer: server.control_key, body });
  return { server, receiver, inApp };
}

/** The one webhook that came, its signatures looked at. */
async function theOne({ receive }: Receiver): Promise<{ path: string; body: unknown }> {
  const [one] = await receive(1);
  if (one === undefined) throw new Error("none came");
  const { path, body, ...rest } = one;
  expect(rest).toEqual({ webhookId: expect.stringMatching(/^msg_\d+$/), isSignedForPlatform: true, isSignedForStandard: true, isAscii: true });
  return { path, body };
}

test("HOOK-1 to HOOK-20: each kind of self messaging event arrives, signed and in its shape", async () => {
  const { server, receiver, inApp } = await open();
  const expectEvent = async (inEntry: object) =>
    expect(await theOne(receiver)).toEqual({ path: "/1001/app", body: { object: "social", entry: [{ id: "6001", time: NOW, ...inEntry }] } });
  const echo = (mid: unknown, text: string) => ({
    messaging: [{ sender: { id: "6001" }, recipient: { id: "6901" }, timestamp: NOW * 1000, message: { mid, text, is_echo: true, is_self: true } }],
  });
  const message = { text: "grüße 😀" };
  await expectEvent(echo((await call(`${server.base_url}/v26.0/6901/messages`, { body: { message } })).id, message.text));
  await expectEvent(echo((await call(`${server.social_login_host}/v26.0/6901/messages`, { bearer: "own", body: { message } })).id, message.text));
  await expectEvent(echo((await inApp("self-message", { social_account: "6001", text: "in the app" })).id, "in the app"));

  const postback = { title: "Yes", payload: "YES", mid: "mid-1" };
  await inApp("postback", { social_account: "6001", ...postback });
  await expectEvent({ messaging: [{ sender: { id: "6901" }, recipient: { id: "6001" }, timestamp: NOW * 1000, is_self: true, postback }] });

  for (const [what, field] of [
    ["comment", "comments"],
    ["live-comment", "live_comments"],
  ] as const) {
    const { id } = await inApp(what, { social_account: "6001", media: "6101", text: "nice" });
    const from = { id: "6001", username: "café", self_social_scoped_id: "6901" };
    await expectEvent({ changes: [{ field, value: { from, id, text: "nice", media: { id: "6101", media_product_type: "FEED" } } }] });
  }
});

test("the page's events: a label is created, attached, detached and deleted", async () => {
  const { server, receiver } = await open();
  const base = `${server.base_url}/v26.0`;
  const { query } = threeTokens("page");
  const expectChange = async (value: object) =>
    expect(await theOne(receiver)).toEqual({
      path: "/1001/app",
      body: { object: "page", entry: [{ id: "2001", time: NOW, changes: [{ field: "custom_labels", value }] }] },
    });
  const { id } = await call(`${base}/2001/custom_labels`, { query, body: { page_label_name: "später" } });
  const label = { id, name: "später" };
  await expectChange({ action: "created", label });
  for (let i = 0; i < 2; i++) await call(`${base}/${id}/label`, { query, body: { user: "9001" } });
  await expectChange({ action: "attached", label, user: { id: "9001" } });
  for (let i = 0; i < 2; i++) await call(`${base}/${id}/label`, { method: "DELETE", query: `${query}&user=9001` });
  await expectChange({ action: "detached", label, user: { id: "9001" } });
  await call(`${base}/${id}`, { method: "DELETE", query });
  await expectChange({ action: "deleted", label });
});

test("ROUTE-1 to ROUTE-26: the routing table, row by row, for each of the 20 fields", async () => {
  const { server, receiver, inApp } = await open();
  const base = `${server.base_url}/v26.0`;
  const setAccount = (uri: string | undefined) =>
    call(`${base}/4001/subscribed_apps`, { bearer: "wa", body: uri === undefined ? {} : { override_callback_uri: uri, verify_token: "v" } });
  const setPhone = (uri: string) =>
    call(`${base}/4101`, {
      bearer: "wa",
      body: { webhook_configuration: { override_callback_uri: uri, ...(uri === "" ? {} : { verify_token: "v" }) } },
    });
  const account = `${receiver.url}/1001/account?keep=1`;
  const phone = `${receiver.url}/1001/phone`;

  // Overrides of the phone and of the account, then who receives: for the phone's events, and for those of another number.
  const rows: [string, () => Promise<unknown>, string, string][] = [
    ["neither", async () => {}, "/1001/app", "/1001/app"],
    ["the account's", () => setAccount(account), "/1001/account", "/1001/account"],
    ["both", () => setPhone(phone), "/1001/phone", "/1001/account"],
    ["the phone's alone", () => setAccount(undefined), "/1001/phone", "/1001/app"],
    ["none again", () => setPhone(""), "/1001/app", "/1001/app"],
  ];
  for (const [which, change, ofPhone, ofOther] of rows) {
    await change();
    for (const { field, honoursOverrides } of ofChatapp) {
      for (const [number, wanted] of [
        ["4101", ofPhone],
        ["4102", ofOther],
        [undefined, ofOther],
      ] as const) {
        await inApp("chatapp", { account: "4001", ...(number === undefined ? {} : { phone_number: number }), field, value: { field, ü: "ü" } });
        const { path, body } = await theOne(receiver);
        expect([which, field, number, path]).toEqual([which, field, number, honoursOverrides ? wanted : "/1001/app"]);
        const entry = [{ id: "4001", time: NOW, changes: [{ field, value: { field, ü: "ü" } }] }];
        expect(body).toEqual({ object: "chatapp_business_account", entry });
      }
    }
  }
}, 60_000);

test("D-57: one app's override never redirects another's webhooks", async () => {
  const { server, receiver, inApp } = await open();
  const base = `${server.base_url}/v26.0`;
  await fetch(`${server.control_url}/v1/worlds/default/nodes/chatapp_accounts/4001`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${server.control_key}` },
    body: JSON.stringify({ subscribed_apps: [{ app: "1001" }, { app: "1002" }] }),
  });
  await call(`${base}/4001/subscribed_apps`, { bearer: "wa", body: { override_callback_uri: `${receiver.url}/1001/account`, verify_token: "v ü" } });
  expect(await receiver.handshakes()).toEqual([{ path: "/1001/account", verifyToken: "v ü" }]);
  await inApp("chatapp", { account: "4001", phone_number: "4101", field: "messages", value: {} });
  const both = await receiver.receive(2);
  expect(both.map(({ path }) => path).sort()).toEqual(["/1001/account", "/1002/app"]);
  expect(both.every(({ isSignedForPlatform, isSignedForStandard }) => isSignedForPlatform && isSignedForStandard)).toBe(true);
  expect(new Set(both.map(({ webhookId }) => webhookId)).size).toBe(2);
});
