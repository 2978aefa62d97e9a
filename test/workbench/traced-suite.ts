/** The test suite plants secrets, gets a refusal, receives a webhook, and prints the final state of its world. */
import { withPlaza } from "#testing/index";

const plaza = await withPlaza({
  test: "Labels of a page",
  world: {
    profile: "clients",
    clock: { now: 1_795_000_000, frozen: true },
    apps: [
      {
        ...{ id: "1001", name: "Shop", secret: "planted-app-secret" },
        callback: { url: "http://127.0.0.1:9/hook?key=planted-key", verify_token: "planted-verify-token", verified: true },
      },
    ],
    users: [{ id: "3001", name: "Ada" }],
    pages: [{ id: "2001", name: "Cafe", people: [{ psid: "9001" }], roles: [{ user: "3001", tasks: ["MESSAGING"] }] }],
    live_videos: [{ id: "5301", page: "2001", title: "Opening", stream_key: "planted-stream-key" }],
    chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
    tokens: [
      { token: "planted-token", type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"] },
      { token: "planted-weak-token", type: "page", app: "1001", page: "2001", user: "3001", scopes: [] },
    ],
  },
});

async function send(method: string, path: string, body?: Record<string, string>, token = "planted-token"): Promise<{ status: number; id: string }> {
  const response = await fetch(`${plaza.baseUrl}/v26.0/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: new URLSearchParams(body) }),
  });
  const { id = "" } = (await response.json()) as { id?: string };
  return { status: response.status, id };
}

const { id } = await send("POST", "2001/custom_labels", { page_label_name: "vip", access_token: "planted-token" });
const other = await send("POST", "2001/custom_labels", { page_label_name: "regular" });
await send("POST", `${id}/label`, { user: "9001" });
const refused = await send("POST", "2001/custom_labels", { page_label_name: "never" }, "planted-weak-token");
await plaza.clock.advance(60);
await plaza.faults.add({ operation: "listLabels", status: 503, times: 1 });
await send("GET", "2001/custom_labels");
await plaza.tokens.create({ type: "app", app: "1001", token: "planted-later-token" });
const hook = await plaza.webhooks.receive({ app: "1001" });
const messages = [{ from: "15550199", id: "m1", timestamp: "1795000000", type: "text", text: { body: "hello" } }];
await plaza.inApp.chatapp({ account: "4001", field: "messages", value: { messaging_product: "chatapp", messages } });
await hook.expect({ field: "messages", within_ms: 10_000 });
await send("DELETE", other.id);
await plaza.nodes("users").create({ id: "3002", name: "Bob" });
const { key } = await plaza.connection.send<{ key: string }>("POST", "control-keys", { name: "end", access: "read" });
const endOf = async (world: string): Promise<unknown> =>
  (await fetch(`${plaza.connection.url}/v1/worlds/${world}/export`, { headers: { authorization: `Bearer ${key}` } })).json();
const end = await endOf(plaza.name);
const copies: { world: string; end: unknown }[] = [];
for (const name of ["vip", "vip", "regular"]) {
  const clock = { now: 1_795_000_000, frozen: true };
  const copy = await plaza.newWorld({ world: { clock, pages: [{ id: "2001", name: "Cafe" }], labels: [{ id: "6001", page: "2001", name }] } });
  await copy.nodes("users").create({ id: "3002", name: "Bob" });
  copies.push({ world: copy.name, end: await endOf(copy.name) });
  await copy.close();
}
console.log(JSON.stringify({ refused: refused.status, world: plaza.name, end, copies }));
await plaza.close();
