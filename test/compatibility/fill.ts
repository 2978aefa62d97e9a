/** Fills an empty program over HTTP: first with the world file, then with everything that only requests can create. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Ready } from "../cli/plaza-process.ts";
import type { RecordedRequest } from "./responses.ts";

const NOW = 1_795_000_000;
const DAY_SECONDS = 86_400;
const DEVICE = { advertiser_id: "device-one", application_tracking_enabled: 1, advertiser_tracking_enabled: 1 };

const EXTINFO = "i2,com.example.shop,1,1.0,18,Phone,de_DE,CET,carrier,1080,1920,2.5,8,128,64,Europe/Berlin";
const EM = createHash("sha256").update("ada@example.com").digest("hex");

const CSV = `retailer_id,name,url,image_url,price
c1,"First, with a comma",https://example.com/c1,https://example.com/c1.jpg,3.50 EUR
c2,Zweites Büch,https://example.com/c2,https://example.com/c2.jpg,
c3,Wrong address,nowhere,https://example.com/c3.jpg,
c1,First again,https://example.com/c1b,https://example.com/c1.jpg,4 EUR
`;
export const FETCHED_FEED = `{"retailer_id":"j1","name":"Fetched","url":"https://example.com/j1","image_url":"https://example.com/j1.jpg"}\n`;

type Json = Record<string, unknown>;

class Filling {
  constructor(
    readonly ready: Ready,
    readonly receiver: string,
  ) {}

  async #send(url: string, init: RequestInit): Promise<Json> {
    const response = await fetch(url, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${init.method} ${url}: ${response.status} ${text}`);
    return JSON.parse(text) as Json;
  }

  control(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Json> {
    const sent = body === undefined ? {} : { body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body) };
    const authorization = `Bearer ${this.ready.control_key}`;
    return this.#send(`${this.ready.control_url}/v1/worlds/default/${path}`, {
      method,
      headers: { authorization, ...headers },
      ...sent,
    } as RequestInit);
  }

  graph(method: string, path: string, token: string, body: unknown = {}, on: RecordedRequest["on"] = "base_url"): Promise<Json> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "x-forwarded-for": "203.0.113.7" };
    return this.#send(`${this.ready[on]}${path}`, { method, headers, body: JSON.stringify(body) });
  }

  /** Sends a request of page messaging, which requires the token twice in the query and once in the header. */
  page(method: string, path: string, body: unknown = {}): Promise<Json> {
    return this.graph(method, `${path}${path.includes("?") ? "&" : "?"}access_token=cafe&oauth_token=cafe`, "cafe", body);
  }

  /** Waits until every delivery has had its first attempt. After these first attempts, no webhook is sent while the clock stands still. */
  async settled(): Promise<void> {
    for (;;) {
      const { data } = (await this.control("GET", "deliveries?status=waiting,sending&limit=1000")) as { data: Json[] };
      if (data.every(({ status, reason }) => status === "waiting" && reason !== "queued")) return;
      await Bun.sleep(50);
    }
  }
}

export async function fill(ready: Ready, receiver: string, world: string): Promise<void> {
  const filling = new Filling(ready, receiver);
  await filling.control("POST", "import", world.replaceAll("{{receiver}}", receiver));
  await pauseCallback(filling);
  await filling.control("PUT", "clock", { now: NOW, frozen: true });
  await fillPages(filling);
  await fillLiveVideos(filling);
  await fillCatalogs(filling);
  await fillChatapp(filling);
  await fillAppEvents(filling);
  await fillTokensAndApps(filling);
  await filling.settled();
}

/** Lets the callback of app 1007 fail for more than five days, so that the server pauses the callback, and then sends an event. */
async function pauseCallback(filling: Filling): Promise<void> {
  const event = { object: "page", field: "live_videos", entity: "2002" };
  await filling.control("POST", "deliveries/trigger", event);
  await filling.settled();
  for (let day = 0; day < 6; day++) await filling.control("POST", "clock/advance", { seconds: DAY_SECONDS });
  await filling.control("POST", "deliveries/trigger", event);
}

async function fillPages(filling: Filling): Promise<void> {
  const label = await filling.page("POST", "/v26.0/2001/custom_labels", { page_label_name: "made by a request" });
  await filling.page("POST", `/v26.0/${label.id}/label`, { user: "9001" });
  await filling.page("POST", "/v26.0/5003/label", { user: "9002" });
  await filling.page("POST", "/v26.0/5001/label", { user: "9003" });
  await filling.page("DELETE", "/v26.0/5001/label?user=9003");
  await filling.page("DELETE", "/v26.0/5004");
  await filling.page("POST", "/v26.0/2001/personas", { name: "Made by a request", profile_picture_url: "https://example.com/made.png" });
  await filling.page("DELETE", "/v26.0/5103");
  await filling.control("PATCH", "nodes/required_actions/5204", { status: "completed" });
  await filling.control("POST", "nodes/activity", { target: "7102", metric: "views", value: 9, time: NOW - 100 });
  await filling.graph("POST", "/v26.0/6901/messages", "cafe", { message: { text: "by the page's token" } });
  await filling.graph("POST", "/v26.0/6901/messages", "self", { message: { text: "by the account's own" } }, "social_login_host");
  await filling.control("POST", "in-app/self-message", { social_account: "6001", text: "hello, me 👋" });
  await filling.control("POST", "in-app/postback", { social_account: "6001", title: "Start", payload: "START", mid: "m_1" });
  await filling.control("POST", "in-app/comment", { social_account: "6002", media: "6101", text: "nice" });
  await filling.control("POST", "in-app/live-comment", { social_account: "6001", media: "6101", text: "live" });
}

async function fillLiveVideos(filling: Filling): Promise<void> {
  const made = await filling.graph("POST", "/v26.0/2001/live_videos", "cafe", { title: "Made by a request", status: "LIVE_NOW", embeddable: true });
  const event = (name: string) => filling.control("POST", `live-videos/${made.id}/ingest`, { event: name });
  await filling.control("POST", `live-videos/${made.id}/ingest`, { event: "started", stream_key: made.stream_key });
  await event("lost");
  await event("started");
  await filling.graph("POST", `/v26.0/${made.id}/comments`, "cafe", { message: "made by a request" });
  await filling.graph("POST", `/v26.0/${made.id}/reactions`, "ada", { type: "CARE" });
  const ended = await filling.graph("POST", "/v26.0/2001/live_videos", "ada", { title: "Ended", status: "LIVE_NOW" });
  await filling.graph("POST", `/v26.0/${ended.id}`, "ada", { end_live_video: true });
  const planned = { title: "Planned", status: "SCHEDULED_LIVE", planned_start_time: String(NOW + DAY_SECONDS) };
  await filling.graph("POST", "/v26.0/2001/live_videos", "ada", planned);
  await filling.control("POST", "live-videos/5316/takedown");
  await filling.graph("DELETE", "/v26.0/5317", "cafe");
}

async function fillCatalogs(filling: Filling): Promise<void> {
  const metadata = { external_business_id: "house-8", agency: { business_id: "3501", permitted_tasks: ["240588526848665"] } };
  const catalog = { name: "Made by a request", vertical: "commerce", business_metadata: metadata };
  await filling.graph("POST", "/v25.0/pages/2001/owned_product_catalogs", "ada", catalog, "ads_base_url");
  const upload = async (feed: string, n: number, body: unknown, type: string) => {
    await filling.control("POST", `feeds/${feed}/uploads`, body, { "content-type": type });
    await filling.control("GET", `feeds/${feed}/uploads/${n}?within_ms=30000`);
  };
  await upload("8102", 1, CSV, "text/csv");
  await upload("8102", 2, gzipSync(CSV.replace("c2,", "c4,")), "application/gzip");
  await upload("8102", 3, "nothing\nof use\n", "text/csv");
  await upload("8103", 1, { url: `${filling.receiver}/feed.jsonl` }, "application/json");
}

async function fillChatapp(filling: Filling): Promise<void> {
  const callback = (path: string) => `${filling.receiver}/taken/${path}`;
  await filling.graph("POST", "/v26.0/4002/subscribed_apps", "chat", { override_callback_uri: callback("set-account"), verify_token: "v" });
  const configuration = { override_callback_uri: callback("set-phone"), verify_token: "v" };
  await filling.graph("POST", "/v26.0/4102", "chat", { webhook_configuration: configuration });
  await filling.graph("POST", "/v26.0/4002/set_solution_migration_intent", "chat", { solution_id: "4201", destination_waba: "4001" });
  const subscription = { object: "chatapp_business_account", callback_url: callback("chatapp"), verify_token: "v", fields: ["messages", "history"] };
  await filling.graph("POST", "/v26.0/1001/subscriptions", "shop-app", subscription);
  const event = (rest: object) => filling.control("POST", "in-app/chatapp", { account: "4001", value: { text: "hi" }, ...rest });
  await event({ phone_number: "4101", field: "messages" });
  await event({ phone_number: "4102", field: "calls" });
  await event({ field: "account_update" });
  await filling.settled();
  const { data } = (await filling.control("GET", "deliveries?field=calls")) as { data: Json[] };
  await filling.control("POST", `deliveries/${data[0]?.id}/replay`);
}

async function fillAppEvents(filling: Filling): Promise<void> {
  const touch = (kind: string, body: object) => filling.control("POST", `attribution/${kind}`, body);
  await touch("clicks", { ad: "8501", advertiser_id: "device-one", time: NOW - 2 * DAY_SECONDS });
  await touch("clicks", { ad: "8503", ud: { em: EM }, time: NOW - 3 * DAY_SECONDS });
  await touch("impressions", { ad: "8501", attribution: "abcdefghij0123456789AB", time: NOW - 3_600 });
  const report = (body: object, app = "1001", token = "shop-app") => filling.graph("POST", `/v26.0/${app}/activities`, token, body);
  const custom = (...custom_events: object[]) => ({ event: "CUSTOM_APP_EVENTS", ...DEVICE, ud: { em: EM, fn: "not hashed" }, custom_events });
  const purchase = { _eventName: "pf_mobile_purchase", event_id: "order-1", _valueToSum: 21.97, pf_currency: "EUR", _logTime: NOW - DAY_SECONDS };
  await report(custom(purchase, { ...purchase, event_id: "order-2", _valueToSum: "0.000001", pf_currency: "SEK" }));
  await report(custom(purchase, { _eventName: "opened the door", shade: "blå", _logTime: NOW - 10 }));
  await report(custom({ _eventName: "to be deactivated" }));
  await report({ event: "MOBILE_APP_INSTALL", ...DEVICE, extinfo: EXTINFO });
  await report({ event: "MOBILE_APP_INSTALL", ...DEVICE });
  await report({ event: "MOBILE_APP_INSTALL", attribution: "abcdefghij0123456789AB", advertiser_tracking_enabled: 1 });
  await report({ event: "MOBILE_APP_INSTALL", ...DEVICE, advertiser_id: "device-two", ud: { em: EM } });
  await report({ ...custom({ _eventName: "unseen" }), application_tracking_enabled: 0, advertiser_tracking_enabled: 0 });
  await report(custom({ _eventName: "elsewhere" }), "1002", "old-app");
  await filling.control("POST", "app-events/1001/names/to%20be%20deactivated/deactivate");
  await filling.control("PUT", "app-events-retention", { days: 45 });
}

async function fillTokensAndApps(filling: Filling): Promise<void> {
  const token = { type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"] };
  await filling.control("POST", "tokens", { token: "minted", ...token });
  const { id } = await filling.control("POST", "tokens", { token: "revoked", ...token });
  await filling.control("DELETE", `tokens/${id}`);
  await filling.graph("POST", "/v26.0/1001", "shop-app", { migrations: { label_names_case_insensitive: false } });
  await filling.control("PATCH", "nodes/apps/1002", { secret: "old-secret-renewed" });
  await filling.control("POST", "nodes/users", { id: "3005", name: "to be deleted" });
  await filling.control("DELETE", "nodes/users/3005");
}
