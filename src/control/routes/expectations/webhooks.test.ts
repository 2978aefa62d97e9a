import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { startReceiver } from "#harness/receiver";

const worldAt = (url: string) => ({
  clock: { now: 1_795_000_000, frozen: true },
  apps: [{ id: "1001", secret: "s3cret", callback: { url }, subscriptions: [{ object: "chatapp_business_account", fields: ["messages", "calls"] }] }],
  chatapp_accounts: [
    { id: "4001", subscribed_apps: [{ app: "1001" }] },
    { id: "4002", subscribed_apps: [{ app: "1001" }] },
  ],
});

onEachDatabase("D-186: an expectation of webhooks", (database) => {
  async function open() {
    const receiver = startReceiver();
    const { plaza, request } = await openControl({ database, world: worldAt(receiver.url) });
    const happen = (field: string, value: object, account = "4001") => request("POST", "in-app/chatapp", { account, field, value });
    const expectWebhooks = (body: object) => request("POST", "deliveries/expect", body);
    return { receiver, happen, expectWebhooks, due: () => plaza.world.work.runDue() };
  }

  test("is met by delivered events, each by itself, even if several are in one POST", async () => {
    const { happen, expectWebhooks, due, receiver } = await open();
    for (const n of [1, 2, 3]) await happen("messages", { n, from: { name: "Ada" } });
    await due();
    const met = await expectWebhooks({ field: "messages", match: { value: { n: 2, from: { name: "Ada" } } } });
    expect(met).toMatchObject({
      status: 200,
      body: { count: 1, data: [{ field: "messages", entity: "4001", status: "delivered", callback: receiver.url }] },
    });
    expect(met.body.data[0].value).toEqual({ n: 2, from: { name: "Ada" } });
    expect(receiver.posts.flatMap(({ headers }) => headers["webhook-id"])).toContain(met.body.data[0].webhook_id);
    expect(await expectWebhooks({ object: "chatapp_business_account", entity: "4001", count: 3 })).toMatchObject({ status: 200, body: { count: 3 } });
    expect((await expectWebhooks({ entity: "4002", count: 0 })).status).toBe(200);
  });

  test("waits for webhooks that are delivered later", async () => {
    const { happen, expectWebhooks, due } = await open();
    await happen("messages", { n: 1 });
    const waiting = expectWebhooks({ field: "messages", within_ms: 5_000 });
    await due();
    expect(await waiting).toMatchObject({ status: 200, body: { count: 1 } });
  });

  test("that is not met names the nearest one, and the differences", async () => {
    const { happen, expectWebhooks, due, receiver } = await open();
    receiver.response = () => new Response("busy", { status: 503 });
    await happen("calls", { n: 7 });
    await happen("messages", { n: 1, text: "hello" });
    await due();
    const refused = await expectWebhooks({ field: "messages", match: { value: { text: "Hello" } } });
    expect(refused.status).toBe(422);
    expect(refused.body.error.message).toBe("expected 1 webhook, saw 0; the nearest differs in status, value.text");
    expect(refused.body.nearest).toMatchObject({
      webhook: { field: "messages", status: "waiting", reason: "retry", attempts: [{ status: 503, answer: "busy" }] },
      differences: [
        { at: "status", expected: "delivered", actual: "waiting" },
        { at: "value.text", expected: "Hello", actual: "hello" },
      ],
    });
    expect(refused.body.data.map(({ field }: { field: string }) => field)).toEqual(["messages"]);
    expect((await expectWebhooks({ field: "messages", status: "waiting" })).status).toBe(200);
    expect((await expectWebhooks({ field: "messages", status: "any", match: { reason: "retry" } })).status).toBe(200);
  });

  test("refuses impossible values, and names the parameter", async () => {
    const { expectWebhooks } = await open();
    for (const [body, parameter] of [
      [{ status: "lost" }, "status"],
      [{ count: 201 }, "count"],
      [{ within_ms: -1 }, "within_ms"],
      [{ filed: "messages" }, "filed"],
    ] as const)
      expect(await expectWebhooks(body)).toMatchObject({ status: 400, body: { error: { parameter } } });
  });
});
