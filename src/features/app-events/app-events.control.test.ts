import { expect, test } from "bun:test";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";

const NOW = 1_795_000_000;
const world = {
  clock: { now: NOW, frozen: true },
  apps: [{ id: "1001", name: "Shop", secret: "s" }],
  users: [{ id: "3001", name: "Ada" }],
};

async function open(database: "sqlite" | "postgres") {
  const control = await openControl({ database, world });
  const send = (custom_events: unknown, more: Record<string, unknown> = {}) =>
    control.plaza.post("/v26.0/1001/activities", {
      bearer: "1001|s",
      headers: { "x-forwarded-for": "1.2.3.4" },
      body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events, ...more },
    });
  const raw = (path: string, headers: Record<string, string> = {}) =>
    control.app.request(`/v1/worlds/default/${path}`, { headers: { authorization: `Bearer ${KEY}`, ...headers } });
  return { ...control, send, raw };
}

onEachDatabase("app events through the control API", (database) => {
  test("EVT-2: the log is paged, newest first, also with a filter", async () => {
    const { request, send } = await open(database);
    for (let i = 0; i < 5; i++) await send([{ _eventName: `n${i % 2}`, event_id: String(i) }, { _eventName: "other" }]);
    const ids: string[] = [];
    let path = "app-events/1001?limit=2&name=n0";
    for (let pages = 0; pages < 10 && path !== ""; pages++) {
      const { body } = await request("GET", path);
      ids.push(...body.data.map((entry: { event_id: string }) => entry.event_id));
      path = body.paging.next === undefined ? "" : new URL(body.paging.next).pathname + new URL(body.paging.next).search;
    }
    expect(ids).toEqual(["4", "2", "0"]);
    expect((await request("GET", "app-events/1001")).body.data.length).toBe(10);
    expect((await request("GET", `app-events/1001?since=${NOW + 1}`)).body.data).toEqual([]);
    expect((await request("GET", `app-events/1001?since=${NOW}`)).body.data.length).toBe(10);
    expect((await request("GET", "app-events/1001?since=yesterday")).status).toBe(400);
    expect((await request("GET", "app-events/3001")).status).toBe(404);
    expect((await request("GET", "app-events/nothing")).status).toBe(404);
  });

  test("the export has one line for each entry of the log", async () => {
    const { request, raw, send } = await open(database);
    await send(Array.from({ length: 1_500 }, (_, i) => ({ _eventName: "n", _valueToSum: i, text: "line\nbreak" })));
    const response = await raw("app-events/1001/export");
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const lines = (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.length).toBe(1_500);
    expect(lines.slice(0, 1_000)).toEqual((await request("GET", "app-events/1001?limit=1000")).body.data);
    expect(await (await raw("app-events/1001/export?name=none")).text()).toBe("");
  });

  test("LIM-3: names are listed with exact sums, and deactivated", async () => {
    const { request, send } = await open(database);
    await send([
      { _eventName: "my event", _valueToSum: 0.1, pf_currency: "EUR" },
      { _eventName: "my event", _valueToSum: 0.2, pf_currency: "EUR", _logTime: NOW - 86_400 },
      { _eventName: "AdClick" },
    ]);
    const times = { first_time: NOW, last_time: NOW };
    expect((await request("GET", "app-events/1001/names")).body.data).toEqual([
      { name: "AdClick", standard: true, active: true, count: 1, sums: {}, ...times },
      { name: "my event", standard: false, active: true, count: 2, sums: { EUR: "0.3" }, ...times, first_time: NOW - 86_400 },
    ]);
    expect((await request("POST", "app-events/1001/names/my%20event/deactivate")).body).toEqual({ success: true });
    expect((await request("POST", "app-events/1001/names/unknown/deactivate")).status).toBe(404);
    expect((await request("GET", "app-events/1001/names")).body.data[1].active).toBeFalse();
    expect((await send([{ _eventName: "my event" }])).status).toBe(400);
    expect((await request("GET", `app-events/1001/sums?since=${NOW}`)).body.data).toEqual([
      { day: "2026-11-18", event: "CUSTOM_APP_EVENTS", event_name: "AdClick", currency: "", count: 1 },
      { day: "2026-11-18", event: "CUSTOM_APP_EVENTS", event_name: "my event", currency: "EUR", count: 1, sum: "0.1" },
    ]);
  });

  test("LIM-3, D-291: a deactivated name is activated again, unless the app has no room for it", async () => {
    const { request, plaza } = await open(database);
    await request("PATCH", "nodes/apps/1001", { event_name_limit: 2 });
    const send = async (_eventName: string) => {
      const body = { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events: [{ _eventName }] };
      return (await plaza.post("/v26.0/1001/activities", { bearer: "1001|s", headers: { "x-forwarded-for": "1.2.3.4" }, body })).status;
    };
    const set = async (name: string, state: "activate" | "deactivate") => (await request("POST", `app-events/1001/names/${name}/${state}`)).status;
    expect([await send("a"), await send("b"), await set("a", "activate"), await set("a", "deactivate")]).toEqual([200, 200, 200, 200]);
    expect([await send("a"), await set("a", "activate"), await send("a")]).toEqual([400, 200, 200]);
    expect([await set("a", "deactivate"), await send("c"), await set("unknown", "activate")]).toEqual([200, 200, 404]);
    const refused = await request("POST", "app-events/1001/names/a/activate");
    expect(refused).toMatchObject({ status: 409, body: { error: { parameter: "name", message: expect.stringContaining("2 active event names") } } });
    expect([await send("a"), await set("b", "deactivate"), await set("a", "activate"), await send("a"), await send("b")]).toEqual([
      400, 200, 200, 200, 400,
    ]);
  });

  test("EVT-4, D-292: without until the sums include everything that the names count, whatever the times of events", async () => {
    const { request, send } = await open(database);
    for (const _logTime of [0, NOW - 86_400, NOW, NOW + 86_400, 253_402_300_799]) await send([{ _eventName: "n", _logTime, _valueToSum: 1 }]);
    const counted = async (query: string) =>
      (await request("GET", `app-events/1001/sums${query}`)).body.data.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    expect((await request("GET", "app-events/1001/names")).body.data).toMatchObject([{ count: 5, sums: { "": "5" } }]);
    expect([await counted(""), await counted(`?until=${NOW}`), await counted(`?since=${NOW + 1}`)]).toEqual([5, 3, 3]);
  });

  test("I1-35: test events are listed, and sent live as server-sent events", async () => {
    const { request, raw, send } = await open(database);
    const response = await raw("app-events/1001/test-events", { accept: "text/event-stream" });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toBe(": listening\n\n");
    await send([{ _eventName: "a", event_id: "1" }]);
    const text = await next();
    expect(text).toStartWith("event: accepted\ndata: {");
    await send([{ _eventName: "a", event_id: "1" }]);
    expect(await next()).toStartWith("event: duplicate\n");
    await reader.cancel();
    await send([{ _eventName: "a", pf_success: 5 }]);
    const { data } = (await request("GET", "app-events/1001/test-events")).body;
    expect(data.map(({ verdict }: { verdict: string }) => verdict)).toEqual(["refused", "duplicate", "accepted"]);
    expect(JSON.parse(text.slice(text.indexOf("{")))).toEqual(data[2]);
    expect(data[0].reason).toContain("custom_events[0].pf_success");
  });

  test("an expected app event is found by its verdict and its values, or the nearest one is shown", async () => {
    const { request, send } = await open(database);
    const expectEvents = (body: object) => request("POST", "app-events/1001/expect", body);
    const waiting = expectEvents({ event_name: "buy", within_ms: 20_000 });
    await send([{ _eventName: "buy", event_id: "1", _valueToSum: 9.5, pf_currency: "EUR", pf_content_type: "product" }]);
    expect((await waiting).body).toMatchObject({
      ...{
        count: 1,
        data: [{ event_name: "buy", event_id: "1", value_to_sum: "9.5", parameters: { pf_content_type: "product" }, verdict: "accepted" }],
      },
    });
    await send([{ _eventName: "buy", event_id: "1", _valueToSum: 9.5, pf_currency: "EUR" }]);
    await send([{ _eventName: "buy", _valueToSum: "much", colour: "red" }]);
    expect((await expectEvents({ event_name: "buy", verdict: "duplicate", match: { event_id: "1" } })).status).toBe(200);
    expect((await expectEvents({ verdict: "refused", match: { value_to_sum: "much", parameters: { colour: "red" } } })).status).toBe(200);
    expect((await expectEvents({ event_name: "buy", verdict: "any", count: 3 })).body.count).toBe(3);
    const unmet = await expectEvents({ event_name: "buy", match: { parameters: { pf_currency: "USD" } } });
    expect(unmet.status).toBe(422);
    expect(unmet.body.nearest).toMatchObject({
      event: { event_id: "1", verdict: "accepted" },
      differences: [{ at: "parameters.pf_currency", expected: "USD", actual: "EUR" }],
    });
    expect((await expectEvents({ verdict: "lost" })).body.error.parameter).toBe("verdict");
  });

  test("D-363: an event that breaks its schema is stored, counted, and marked as invalid with the reason", async () => {
    const { request, send } = await open(database);
    const level_up = {
      type: "object",
      properties: { level: { type: "integer", minimum: 1 }, _valueToSum: { type: "number", maximum: 10 } },
      required: ["level"],
      additionalProperties: false,
    };
    expect((await request("PATCH", "nodes/apps/1001", { event_schemas: { level_up } })).status).toBe(200);
    const sent = await send([
      { _eventName: "level_up", level: 3, _valueToSum: 1 },
      { _eventName: "level_up", level: "3", event_id: "7" },
      { _eventName: "level_up", level: 1, _valueToSum: 10.5 },
      { _eventName: "level_up", lvl: 3 },
      { _eventName: "other", lvl: 3 },
    ]);
    expect({ status: sent.status, body: sent.body }).toEqual({ status: 200, body: { success: true } });
    await send([{ _eventName: "level_up", level: "3", event_id: "7" }]);
    const { data } = (await request("GET", "app-events/1001/test-events")).body as { data: { verdict: string; reason?: string }[] };
    expect(data.map(({ verdict, reason }) => [verdict, reason])).toEqual([
      ["duplicate", undefined],
      ["accepted", undefined],
      ["invalid", "level must be an integer"],
      ["invalid", "_valueToSum must be at most 10"],
      ["invalid", "lvl is not known here"],
      ["accepted", undefined],
    ]);
    expect((await request("GET", "app-events/1001")).body.data).toHaveLength(5);
    expect((await request("POST", "app-events/1001/expect", { event_name: "level_up", verdict: "invalid", count: 3 })).status).toBe(200);
    const unmet = await request("POST", "app-events/1001/expect", {
      event_name: "level_up",
      match: { parameters: { level: 1 }, value_to_sum: "10.5" },
    });
    expect(unmet).toMatchObject({ status: 422, body: { nearest: { event: { verdict: "invalid", reason: "_valueToSum must be at most 10" } } } });
    // Without the schema the next events are judged as before.
    await request("PATCH", "nodes/apps/1001", { event_schemas: null });
    await send([{ _eventName: "level_up", lvl: 3 }]);
    expect((await request("GET", "app-events/1001/test-events")).body.data[0].verdict).toBe("accepted");
  });
});
