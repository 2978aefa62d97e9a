import { expect, test } from "bun:test";
import { Type } from "typebox";
import { features } from "#features";
import type { Feature } from "#graph/contract/feature";
import { Registry } from "#graph/contract/registry";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { postAt, startReceiver } from "#harness/receiver";
import { nodeId } from "#kernel/ids";
import { defineWebhookField, type WebhookField } from "#webhooks/catalogue/field";
import { RETRY_OFFSETS_MS } from "#webhooks/delivery/retry-schedule";

const worldAt = (url: string) => ({
  clock: { now: 1_795_000_000, frozen: true },
  apps: [
    {
      id: "1001",
      secret: "s3cret",
      callback: { url },
      subscriptions: [
        { object: "chatapp_business_account", fields: ["messages", "calls"] },
        { object: "page", fields: ["live_videos"] },
      ],
    },
  ],
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }, { id: "4002" }],
  phone_numbers: [
    { id: "4101", account: "4001" },
    { id: "4102", account: "4002" },
  ],
});

onEachDatabase("webhooks in the control API", (database) => {
  async function open() {
    const receiver = startReceiver();
    const control = await openControl({ database, world: worldAt(receiver.url) }, { onTimeMoved: [(world) => world.work.runDue()] });
    const { plaza, request } = control;
    const happen = (field: string, n: number) => request("POST", "in-app/chatapp", { account: "4001", field, value: { n } });
    return { ...control, receiver, happen, due: () => plaza.world.work.runDue() };
  }

  test("a sent webhook shows its state, its attempts with status, latency and the first bytes of the response, and its exact body", async () => {
    const { request, happen, due, receiver } = await open();
    receiver.response = () => new Response("no thanks", { status: 410 });
    await happen("messages", 1);
    await due();
    const { body } = await request("GET", "deliveries");
    expect(body.data).toEqual([
      {
        ...{ id: expect.any(String), webhook_id: `msg_${body.data[0].id}`, app: "1001", callback: receiver.url, callback_id: expect.any(String) },
        ...{ object: "chatapp_business_account", field: "messages", entity: "4001", status: "failed", reason: "gone", updates: 1 },
        ...{ time: 1_795_000_000, ended_time: 1_795_000_000 },
        attempts: [{ time: 1_795_000_000, callback_id: body.data[0].callback_id, status: 410, latency_ms: expect.any(Number), answer: "no thanks" }],
      },
    ]);
    const one = await request("GET", `deliveries/${body.data[0].id}`);
    const names = ["X-Hub-Signature-256", "webhook-id", "webhook-timestamp", "webhook-signature"];
    const signatures = Object.fromEntries(names.map((name) => [name, receiver.posts[0]?.headers[name.toLowerCase()]]));
    expect(one.body.attempts).toEqual([{ ...body.data[0].attempts[0], signatures }]);
    expect(one.body).toMatchObject({ ...body.data[0], body: receiver.posts[0]?.body, events: [{ field: "messages", time: 1_795_000_000 }] });
    expect((await request("GET", "deliveries/123")).status).toBe(404);
    expect((await request("GET", "deliveries/x")).status).toBe(404);
  });

  test("D-273: a paused callback gets nothing until it is resumed, and then everything that waited", async () => {
    const { request, happen, due, receiver } = await open();
    await happen("messages", 1);
    await due();
    const [{ id }] = (await request("GET", "callbacks")).body.data;
    expect((await request("POST", `callbacks/${id}/pause`)).body).toEqual({ success: true });
    for (const n of [2, 3]) await happen("messages", n);
    await due();
    expect(receiver.posts).toHaveLength(1);
    expect((await request("GET", "callbacks")).body.data[0]).toMatchObject({ status: "paused", reason: "held", paused_time: 1_795_000_000 });
    expect((await request("GET", "deliveries?status=waiting")).body.data[0]).toMatchObject({ reason: "callback_paused" });
    await request("POST", "clock/advance", { seconds: 7_200 });
    expect(receiver.posts).toHaveLength(1);
    await request("POST", `callbacks/${id}/resume`);
    await due();
    expect(receiver.posts.length).toBeGreaterThan(1);
    expect((await request("GET", "callbacks")).body.data[0].status).toBe("working");
    expect((await request("POST", "callbacks/123/pause")).status).toBe(404);
  });

  test("the stream sends the newest at once, and each change", async () => {
    const { app, happen, due } = await open();
    const response = await app.request("/v1/worlds/default/deliveries/stream", { headers: { authorization: `Bearer ${KEY}` } });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => {
      for (;;) {
        const data = /^data: (.*)$/m.exec(new TextDecoder().decode((await reader.read()).value))?.[1];
        if (data !== undefined) return JSON.parse(data).data;
      }
    };
    expect(await next()).toEqual([]);
    await happen("messages", 1);
    await due();
    let newest = await next();
    while (newest[0]?.status !== "delivered") newest = await next();
    expect(newest).toMatchObject([{ field: "messages", attempts: [{ status: 200 }] }]);
    await reader.cancel();
  });

  test("every field of the catalogue is listed with an example that can be triggered", async () => {
    const { request, plaza } = await open();
    const { data } = (await request("GET", "webhook-fields")).body;
    expect(data).toHaveLength(plaza.world.webhooks.fields.all.length);
    const { example } = data.find(({ field }: { field: string }) => field === "live_videos");
    expect(Object.keys(example)).not.toHaveLength(0);
    // The event is refused because no app is subscribed to the page's events, and not because of the value, which obeys the contract.
    const refused = await request("POST", "deliveries/trigger", { object: "page", field: "live_videos", entity: "2001", value: example });
    const why =
      "no app gets live_videos of 2001: app 1001 is not installed on page 2001: send POST /2001/subscribed_apps with subscribed_fields=live_videos";
    expect(refused).toMatchObject({ status: 422, body: { error: { message: expect.stringContaining(why) } } });
  });

  test("lists by status, callback (id or URL) and field, page by page", async () => {
    const { request, happen, due, receiver } = await open();
    await happen("messages", 1);
    await due();
    receiver.response = () => new Response(null, { status: 500 });
    await happen("calls", 2);
    await due();
    const fieldsAt = async (query: string) => (await request("GET", `deliveries?${query}`)).body.data.map(({ field }: { field: string }) => field);
    expect(await fieldsAt("")).toEqual(["calls", "messages"]);
    expect(await fieldsAt("status=delivered")).toEqual(["messages"]);
    expect(await fieldsAt("status=waiting,failed")).toEqual(["calls"]);
    expect(await fieldsAt("field=messages")).toEqual(["messages"]);
    expect(await fieldsAt(`callback=${encodeURIComponent(receiver.url)}`)).toEqual(["calls", "messages"]);
    expect(await fieldsAt("callback=https://elsewhere.example/")).toEqual([]);
    expect((await request("GET", "deliveries?status=lost")).status).toBe(400);
    const first = (await request("GET", "deliveries?limit=1")).body;
    expect(first.data).toHaveLength(1);
    const second = (await request("GET", first.paging.next.replace(/^https?:\/\/[^/]+/, ""))).body;
    expect(second.data.map(({ field }: { field: string }) => field)).toEqual(["messages"]);
    expect(first.data[0]).toMatchObject({ status: "waiting", reason: "retry", next_attempt_time: expect.any(Number) });
  });

  test("moving the clock runs every retry, and a replay starts them again", async () => {
    const { request, happen, receiver } = await open();
    receiver.response = () => new Response(null, { status: 500 });
    await happen("messages", 1);
    await request("POST", "clock/advance", { seconds: 36 * 3_600 });
    expect(receiver.posts).toHaveLength(1 + RETRY_OFFSETS_MS.length);
    const [failed] = (await request("GET", "deliveries")).body.data;
    expect(failed).toMatchObject({ status: "failed", reason: "gave_up" });
    receiver.response = () => new Response("ok");
    expect(await request("POST", `deliveries/${failed.id}/replay`)).toMatchObject({ status: 200, body: { success: true } });
    await request("POST", "clock/advance", { seconds: 0 });
    expect((await request("GET", `deliveries/${failed.id}`)).body).toMatchObject({ status: "delivered" });
    expect(postAt(receiver, -1).body).toBe(postAt(receiver, 0).body);
    expect((await request("POST", "deliveries/123/replay")).status).toBe(404);
  });

  test("a time span is replayed, to one callback or all", async () => {
    const { request, happen, due, receiver } = await open();
    for (const n of [1, 2]) {
      await happen("messages", n);
      await due();
      await request("POST", "clock/advance", { seconds: 10 });
    }
    const before = receiver.posts.length;
    expect((await request("POST", "deliveries/replay", { since: 1_795_000_005 })).body).toEqual({ replayed: 1 });
    expect((await request("POST", "deliveries/replay", { since: 1_795_000_000, callback: receiver.url })).body).toEqual({ replayed: 2 });
    expect((await request("POST", "deliveries/replay", { since: 1_795_000_000, callback: "https://elsewhere.example/" })).body).toEqual({
      replayed: 0,
    });
    await due();
    expect(receiver.posts).toHaveLength(before + 2);
    expect((await request("POST", "deliveries/replay", {})).status).toBe(400);
  });

  test("a callback that failed for five days is shown as paused, and resumed by hand", async () => {
    const { app, request, happen, due, receiver } = await open();
    expect((await request("GET", "callbacks")).body.data).toEqual([]);
    receiver.response = () => new Response(null, { status: 500 });
    await happen("messages", 1);
    await due();
    const [failing] = (await request("GET", "callbacks")).body.data;
    expect(failing).toMatchObject({ app: "1001", url: receiver.url, status: "failing", failing_since: 1_795_000_000 });
    for (let n = 2; n <= 5; n++) {
      await request("POST", "clock/advance", { seconds: 30 * 3_600 });
      await happen("messages", n);
    }
    await due();
    expect(await (await app.request("/metrics")).text()).toMatch(/plaza_webhook_callbacks\{world="[^"]+",state="paused"\} 1\n/);
    expect((await request("GET", "callbacks")).body.data[0]).toMatchObject({
      ...{ status: "paused", reason: "failed", alerted_time: expect.any(Number) },
      ...{ paused_time: 1_795_000_000 + 5 * 86_400, next_attempt_time: 1_795_000_000 + 5 * 86_400 + 3_600 },
    });
    receiver.response = () => new Response("ok");
    await happen("messages", 6);
    await due();
    expect((await request("GET", "deliveries?limit=1")).body.data[0]).toMatchObject({ status: "waiting", reason: "callback_paused", attempts: [] });
    await request("POST", `callbacks/${failing.id}/resume`);
    await due();
    expect((await request("GET", "deliveries?limit=1")).body.data[0]).toMatchObject({ status: "delivered" });
    expect((await request("GET", "callbacks")).body.data[0].status).toBe("working");
    expect((await request("POST", "callbacks/123/resume")).status).toBe(404);
    receiver.response = () => new Response(null, { status: 410 });
    await happen("messages", 7);
    await due();
    const [gone] = (await request("GET", "callbacks")).body.data;
    expect(gone).toMatchObject({ status: "paused", reason: "gone", alerted_time: expect.any(Number) });
    expect(gone).not.toHaveProperty("next_attempt_time");
  });

  test("an example of a field is sent to the subscribed apps; a given value is checked", async () => {
    const { request, due, receiver } = await open();
    const trigger = (body: object) => request("POST", "deliveries/trigger", body);
    const made = await trigger({ object: "chatapp_business_account", field: "messages", entity: "4001", phone_number: "4101" });
    expect(made.body.deliveries).toHaveLength(1);
    await trigger({ object: "chatapp_business_account", field: "calls", entity: "4001", value: { mine: 1 } });
    await due();
    expect(receiver.posts.map(({ values }) => values[0])).toEqual([expect.objectContaining({ metadata: { phone_number_id: "4101" } }), { mine: 1 }]);
    expect((await trigger({ object: "chatapp_business_account", field: "history", entity: "4001" })).status).toBe(422);
    expect((await trigger({ object: "page", field: "live_videos", entity: "2001", value: { id: 1 } })).status).toBe(422);
    expect((await trigger({ object: "page", field: "calls", entity: "2001" })).status).toBe(422);
    const messages = { object: "chatapp_business_account", field: "messages" };
    for (const given of [
      { ...messages, entity: "4001", phone_number: "4102" },
      { ...messages, entity: "4001", phone_number: "4109" },
      { ...messages, entity: "4001", phone_number: "4001" },
      { object: "page", field: "live_videos", entity: "2001", phone_number: "4101" },
    ]) {
      const refused = await trigger(given);
      expect({ status: refused.status, parameter: refused.body.error.parameter }).toEqual({ status: 422, parameter: "phone_number" });
    }
    expect((await trigger({ object: "nobody", field: "calls", entity: "2001" })).status).toBe(400);
  });

  test("the example of a field, and the path of a mistake in a value, come from the feature's own definition", async () => {
    const receiver = startReceiver();
    const notes: Feature = {
      name: "notes",
      migrations: [],
      webhookFields: [
        defineWebhookField({
          object: "page",
          field: "notes",
          payload: Type.Object({ note: Type.Object({ text: Type.String() }) }),
          example: ({ entity, nowMs }) => ({ note: { text: `of ${entity} at ${nowMs}` } }),
          summary: "a note",
        }),
      ],
    };
    const world = {
      clock: { now: 1_795_000_000, frozen: true },
      apps: [{ id: "1001", secret: "s3cret", callback: { url: receiver.url }, subscriptions: [{ object: "page", fields: ["notes"] }] }],
      pages: [{ id: "2001", subscribed_apps: [{ app: "1001", subscribed_fields: ["notes"] }] }],
    };
    const { plaza, request } = await openControl({ database, world, registry: new Registry([...features, notes]) });
    const trigger = (more: object = {}) => request("POST", "deliveries/trigger", { object: "page", field: "notes", entity: "2001", ...more });
    expect((await trigger()).status).toBe(200);
    expect((await trigger({ value: { note: { text: "mine" } } })).status).toBe(200);
    await plaza.world.work.runDue();
    expect(receiver.posts.flatMap(({ values }) => values)).toEqual([{ note: { text: "of 2001 at 1795000000000" } }, { note: { text: "mine" } }]);
    expect(await trigger({ value: { note: { text: 1 } } })).toEqual({
      status: 422,
      body: {
        error: { code: "unprocessable", message: "value.note.text must be string, by the contract of notes of page", parameter: "value.note.text" },
      },
    });
    expect((await trigger({ value: {} })).body.error.parameter).toBe("value");
  });

  test("the fields, and the example that a trigger without a value sends", async () => {
    const { request, due, receiver } = await open();
    const { data } = (await request("GET", "webhook-fields")).body;
    expect(data).toContainEqual({
      ...{ object: "page", field: "live_videos", summary: expect.any(String), follows_overrides: false },
      example: expect.any(Object),
    });
    expect(data).toContainEqual(expect.objectContaining({ object: "chatapp_business_account", field: "calls", follows_overrides: true }));
    const example = await request("GET", "webhook-fields/chatapp_business_account/messages/example?entity=4001&phone_number=4101");
    await request("POST", "deliveries/trigger", { object: "chatapp_business_account", field: "messages", entity: "4001", phone_number: "4101" });
    await due();
    expect(receiver.posts.flatMap(({ values }) => values)).toEqual([example.body.value]);
    expect((await request("GET", "webhook-fields/page/messages/example?entity=2001")).status).toBe(404);
    for (const query of ["", "?entity=x", "?entity=99999999999999999999"])
      expect((await request("GET", `webhook-fields/page/live_videos/example${query}`)).body.error.parameter).toBe("entity");
  });

  test("metrics count payloads that broke their contract", async () => {
    const { app, plaza } = await open();
    const { database: store, webhooks } = plaza.world;
    const field: WebhookField = plaza.registry.webhookFields.read("page", "live_videos");
    await store.write((tx) => webhooks.emit(tx, field, { entity: nodeId("2001"), payload: { id: 1 } }));
    expect(plaza.brokenPayloads.splice(0)).toHaveLength(1);
    expect(await (await app.request("/metrics")).text()).toMatch(
      /plaza_webhook_payloads_broken_total\{world="[^"]+",object="page",field="live_videos"\} 1\n/,
    );
  });

  test("metrics count attempts by callback and field", async () => {
    const { app, happen, due } = await open();
    await happen("messages", 1);
    await due();
    const text = await (await app.request("/metrics")).text();
    expect(text).toMatch(
      /plaza_webhook_attempts_total\{world="[^"]+",app="1001",callback="\d+",object="chatapp_business_account",field="messages",outcome="delivered"\} 1\n/,
    );
    expect(text).toMatch(/plaza_webhook_deliveries_overdue_total\{world="[^"]+"\} 0\n/);
    expect(text).toMatch(/plaza_webhook_attempt_duration_seconds_count\{[^}]*field="messages"\} 1\n/);
  });
});
