/** Measures how attribution is read: compares the newest page of a device with few events to that of a device with many events. */
import { APP } from "../harness/data.ts";
import { eventsWorld } from "../harness/events.ts";
import type { Bench } from "../harness/report.ts";
import { type Server, startPlaza } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";

const FEW = 10;
const MANY = 100_000;
const EVENTS_PER_REQUEST = 50;
const READS = 50;
/** The number of rows in a page, and the number of events of the device with few events. */
const LIMIT = 10;
const AD = "8501";
const graphHeaders = {
  authorization: `Bearer ${APP}|${eventsWorld.apps[0]?.secret}`,
  "x-forwarded-for": "203.0.113.7",
  "content-type": "application/json",
};

async function ask(url: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

/**
 * Reports a click of a device on the ad, with an id and a cookie of the device, and then reports the device's events in requests
 * of 50.
 */
async function report({ ready }: Server, device: Readonly<Record<string, string>>, count: number): Promise<void> {
  const headers = { authorization: `Bearer ${ready.control_key}` };
  await ask(`${ready.control_url}/v1/worlds/default/attribution/clicks`, { method: "POST", headers, body: JSON.stringify({ ad: AD, ...device }) });
  for (let sent = 0; sent < count; sent += EVENTS_PER_REQUEST) {
    const custom_events = Array.from({ length: Math.min(EVENTS_PER_REQUEST, count - sent) }, () => ({ _eventName: "buy" }));
    const body = JSON.stringify({ event: "CUSTOM_APP_EVENTS", ...device, custom_events });
    await ask(`${ready.base_url}/v26.0/${APP}/activities`, { method: "POST", headers: graphHeaders, body });
  }
}

/** Measures how many milliseconds one read takes. */
async function timeReads({ ready }: Server, { advertiser_id }: { readonly advertiser_id: string }): Promise<number> {
  const startMs = performance.now();
  for (let i = 0; i < READS; i++) {
    const url = `${ready.base_url}/v26.0/${APP}/app_attribution?advertiser_id=${advertiser_id}&limit=${LIMIT}`;
    const { data } = (await ask(url, { headers: graphHeaders })) as { data: unknown[] };
    if (data.length !== LIMIT) throw new Error(`${data.length} rows instead of ${LIMIT}`);
  }
  return (performance.now() - startMs) / READS;
}

export const bench: Bench = {
  summary: `The newest ${LIMIT} rows of \`GET /v26.0/{app}/app_attribution\`: compares a device with ${MANY.toLocaleString("en")} events, reported in requests of ${EVENTS_PER_REQUEST}, with a device with ${FEW} events.`,
  async run({ rounds }) {
    const ads = [{ id: AD, app: APP, campaign_id: "9501", objective: "APP_INSTALLS" }];
    const server = await startPlaza({ world: { ...eventsWorld, ads } });
    const few = { advertiser_id: "few", attribution: "few".padEnd(22, "x") };
    const many = { advertiser_id: "many", attribution: "many".padEnd(22, "x") };
    try {
      await report(server, few, FEW);
      await report(server, many, MANY);
      const times: { few: number; many: number }[] = [];
      for (let round = 0; round <= rounds; round++) times.push({ few: await timeReads(server, few), many: await timeReads(server, many) });
      // The first round warms up the server and is not measured.
      const measured = times.slice(1);
      return {
        metrics: [
          { name: "time of a page (many divided by few)", ...spreadOf(measured.map((time) => time.many / time.few)), goal: { at_most: 1.3 } },
        ],
        absolute: [
          { name: "page of a device with many events", unit: "ms", ...spreadOf(measured.map((time) => time.many)) },
          { name: "page of a device with few events", unit: "ms", ...spreadOf(measured.map((time) => time.few)) },
        ],
      };
    } finally {
      await server.stop();
    }
  },
};
