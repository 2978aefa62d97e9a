/** Checks that data of an older program opens, gives the same responses as before, and accepts writes (README.md). */
import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { databaseKinds } from "#harness/databases";
import { endAll, type RunningPlaza, startPlaza } from "../cli/plaza-process.ts";
import { fixtures } from "./fixtures.ts";
import { ask, fromLines, type Recorded } from "./responses.ts";

afterEach(endAll);

type Json = Record<string, unknown>;

async function send({ ready }: RunningPlaza, path: string, token: string, body: object): Promise<{ status: number; body: Json }> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "x-forwarded-for": "203.0.113.7" };
  const response = await fetch(`${ready.base_url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Json };
}

async function makeLabel(plaza: RunningPlaza): Promise<void> {
  const path = "/v26.0/2001/custom_labels?access_token=cafe&oauth_token=cafe";
  const made = await send(plaza, path, "cafe", { page_label_name: "made later" });
  expect(made.status).toBe(200);
  const { body } = await ask(plaza.ready, { on: "base_url", path, headers: { authorization: "Bearer cafe" } });
  const { data } = body as { data: Json[] };
  expect(data[0]).toEqual({ id: made.body.id, name: "made later" });
}

/** Reports an event that the data of the older program already has. The stored data shows that the program counted the event. */
async function reportAgain(plaza: RunningPlaza): Promise<void> {
  const order = { _eventName: "pf_mobile_purchase", event_id: "order-1", _valueToSum: 21.97, pf_currency: "EUR", _logTime: 1_794_913_600 };
  const count = async () => {
    const { data } = (await plaza.control("GET", "app-events/1001/names")).body as { data: Json[] };
    return data.find(({ name }) => name === "pf_mobile_purchase")?.count;
  };
  const report = (event_id: string) => {
    const body = { event: "CUSTOM_APP_EVENTS", advertiser_id: "device-one", custom_events: [{ ...order, event_id }] };
    return send(plaza, "/v26.0/1001/activities", "shop-app", body);
  };
  const before = Number(await count());
  expect(await report("order-1")).toEqual({ status: 200, body: { success: true } });
  expect(await count()).toBe(before);
  expect(await report("order-new")).toEqual({ status: 200, body: { success: true } });
  expect(await count()).toBe(before + 1);
}

/** Starts an encoder with a stream key. The stored data has only the hash of the stream key. */
async function startEncoder(plaza: RunningPlaza): Promise<void> {
  const started = await plaza.control("POST", "live-videos/5301/ingest", { event: "started", stream_key: "opening-stream-key-1" });
  expect(started).toMatchObject({ status: 200, body: { feed: { is_sending: true } } });
}

const chosen = fixtures.filter(({ database }) => databaseKinds.includes(database));

describe.each(chosen)("data of $version ($database)", ({ folder, open }) => {
  test("opens with the same responses, accepts writes, and the program ends with exit code 0", async () => {
    const recorded = fromLines(readFileSync(join(folder, "responses.jsonl"), "utf8"));
    expect(recorded.length).toBeGreaterThan(200);
    const { data, env } = await open();
    const plaza = await startPlaza(["--data", data], { env });
    const different: { recorded: Recorded; now: Recorded }[] = [];
    for (const one of recorded) {
      const now = await ask(plaza.ready, one.request);
      if (!Bun.deepEquals(now, one, true)) different.push({ recorded: one, now });
    }
    expect(different).toEqual([]);
    await makeLabel(plaza);
    await reportAgain(plaza);
    await startEncoder(plaza);
    expect((await plaza.end()).code).toBe(0);
  });
});
