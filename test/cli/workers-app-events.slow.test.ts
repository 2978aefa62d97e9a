import { afterEach, expect, test } from "bun:test";
import { sharedPostgres } from "#harness/postgres-cluster";
import { endAll, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

test("I1-35: with --workers the test events show the events of all processes, also live", async () => {
  const plaza = await startPlaza(["--data", await (await sharedPostgres()).newDatabase(), "--workers", "2"]);
  const { base_url, control_url, control_key } = plaza.ready;
  const view = `${control_url}/v1/worlds/default/app-events/1001/test-events`;
  const authorization = `Bearer ${control_key}`;
  const live = (await fetch(view, { headers: { authorization, accept: "text/event-stream" } })).body as ReadableStream<Uint8Array>;
  const names = Array.from({ length: 20 }, (_, i) => `event ${i}`);
  for (const _eventName of names) {
    const sent = await fetch(`${base_url}/v26.0/1001/activities`, {
      method: "POST",
      headers: { authorization: "Bearer demo-app-token", "x-forwarded-for": "203.0.113.7", "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events: [{ _eventName }] }),
    });
    expect(sent.status).toBe(200);
  }
  let streamed = "";
  const decoder = new TextDecoder();
  for await (const bytes of live) {
    streamed += decoder.decode(bytes, { stream: true });
    if (names.every((name) => streamed.includes(`"${name}"`))) break;
  }
  const { data } = (await (await fetch(view, { headers: { authorization } })).json()) as { data: { event_name: string; verdict: string }[] };
  // order: the events came to several processes at once.
  expect(data.map(({ event_name }) => event_name).sort()).toEqual(names.sort());
  expect(new Set(data.map(({ verdict }) => verdict))).toEqual(new Set(["accepted"]));
  await plaza.end();
});
