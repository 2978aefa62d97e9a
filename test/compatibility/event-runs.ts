/** What the data of `event-runs/` holds, for its maker and its test. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { RunningPlaza } from "../cli/plaza-process.ts";

export const RUNS_FOLDER = join(import.meta.dir, "event-runs");
export const NOW = 1_795_000_000;

export const COOKIE = "abcdefghij0123456789AB";
export const PHONE = "1b671a64-40d5-491e-99b0-da01ff1f3341";
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const em = hashOf("ada@example.com");

export const WORLD = {
  apps: [{ id: "1001", name: "Shop", secret: "shop-secret" }],
  ads: [{ id: "8501", app: "1001", campaign_id: "9501" }],
};

/** On the device that a person links with the others. */
export const TOUCH = { ad: "8501", advertiser_id: "tablet", time: NOW - 86_400 };

const buy = (device: object, ...names: string[]) => ({
  event: "CUSTOM_APP_EVENTS",
  ...device,
  custom_events: names.map((_eventName) => ({ _eventName, event_id: _eventName })),
});

/** Five entries of the index: two ids and three persons. */
export const BULK = {
  event: "CUSTOM_APP_EVENTS",
  advertiser_id: "bulk",
  attribution: "b".repeat(22),
  ud: { em: hashOf("b"), ph: hashOf("b"), external_id: hashOf("b") },
  custom_events: [{ _eventName: "bulk" }],
};

/** One device by id and cookie, a second one by id and person, and others. The run was written behind the fifth request. */
export const EVENTS = [
  { event: "MOBILE_APP_INSTALL", advertiser_id: PHONE },
  buy({ advertiser_id: PHONE, attribution: COOKIE }, "tied"),
  buy({ attribution: COOKIE }, "by cookie"),
  buy({ advertiser_id: PHONE, ud: { em } }, "with person"),
  buy({ advertiser_id: PHONE.toUpperCase() }, "upper case", "second of two"),
  buy({ advertiser_id: "tablet", ud: { em } }, "on the tablet"),
  buy({ advertiser_id: "stranger" }, "of a stranger"),
  buy({ advertiser_id: "untracked", advertiser_tracking_enabled: 0, ud: { em } }, "untracked"),
  buy({ advertiser_id: PHONE }, "behind the run"),
  buy({ attribution: COOKIE }, "last"),
];

export async function report(plaza: RunningPlaza, body: unknown): Promise<void> {
  const headers = { authorization: "Bearer 1001|shop-secret", "content-type": "application/json", "x-forwarded-for": "203.0.113.7" };
  const response = await fetch(`${plaza.ready.base_url}/v26.0/1001/activities`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}
