/** D-424: programs that copy delivered webhooks read the log of deliveries forwards, and are told if they have missed a webhook. */
import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { postAt, startReceiver } from "#harness/receiver";

const DAY_SECONDS = 86_400;

const worldAt = (url: string) => ({
  clock: { now: 1_795_000_000, frozen: true },
  apps: [{ id: "1001", secret: "s3cret", callback: { url }, subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] }],
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
  phone_numbers: [{ id: "4101", account: "4001" }],
});

interface LogPage {
  readonly epoch: string;
  readonly data: readonly { readonly position: number; readonly id: string; readonly status: string; readonly body: string; readonly app: string }[];
  readonly gaps: readonly { readonly first_position: number; readonly last_position: number }[];
  readonly cursor: number;
  readonly last_position: number;
  readonly has_more: boolean;
}

onEachDatabase("the log of delivered webhooks", (database) => {
  async function open(hasWebhookLog = true) {
    const receiver = startReceiver();
    const control = await openControl({ database, world: worldAt(receiver.url), hasWebhookLog }, { onTimeMoved: [(world) => world.work.runDue()] });
    const { plaza, request } = control;
    const happen = async (n: number) => {
      expect((await request("POST", "in-app/chatapp", { account: "4001", field: "messages", value: { n, access_token: `token${n}` } })).status).toBe(
        200,
      );
      await plaza.world.work.runDue();
    };
    const read = async (query = "", key?: string): Promise<LogPage> => {
      const { status, body } = await request("GET", `delivery-log?${query}`, undefined, key);
      expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
      return body;
    };
    const positions = async (query = "") => (await read(query)).data.map(({ position }) => position);
    return { ...control, receiver, happen, read, positions, advance: (seconds: number) => request("POST", "clock/advance", { seconds }) };
  }

  test("D-424: a webhook gets its position when it is delivered, not when it happens, and another one when it is sent again", async () => {
    const { request, receiver, happen, read, positions, advance } = await open();
    await happen(1);
    receiver.response = () => new Response("later", { status: 500 });
    await happen(2);
    receiver.response = () => new Response("ok");
    await happen(3);
    const first = await read("limit=1");
    expect(first).toMatchObject({
      data: [{ position: 1, app: "1001", status: "delivered", body: receiver.posts[0]?.body }],
      ...{ gaps: [], cursor: 1, last_position: 2, has_more: true },
    });
    expect(await read(`after=1&epoch=${first.epoch}`)).toMatchObject({ data: [{ position: 2, body: receiver.posts[2]?.body }], has_more: false });
    await advance(3_600);
    expect(await read("after=2")).toMatchObject({ data: [{ position: 3, body: receiver.posts[1]?.body }], gaps: [], cursor: 3 });
    expect((await request("POST", `deliveries/${first.data[0]?.id}/replay`)).status).toBe(200);
    await advance(1);
    expect(await read("after=3")).toMatchObject({ data: [{ position: 4, id: first.data[0]?.id }] });
    expect(await positions("after=4")).toEqual([]);
  });

  test("D-424: what retention deleted before it was read is reported, and positions go on after it", async () => {
    const { happen, read, advance } = await open();
    for (let n = 1; n <= 3; n++) await happen(n);
    await advance(29 * DAY_SECONDS);
    await happen(4);
    await advance(2 * DAY_SECONDS);
    expect(await read()).toMatchObject({ data: [{ position: 4 }], gaps: [{ first_position: 1, last_position: 3 }], cursor: 4 });
    expect(await read("after=2")).toMatchObject({ data: [{ position: 4 }], gaps: [{ first_position: 3, last_position: 3 }] });
    await advance(40 * DAY_SECONDS);
    expect(await read("after=3")).toMatchObject({ data: [], gaps: [{ first_position: 4, last_position: 4 }], cursor: 4, has_more: false });
    await happen(5);
    expect(await read("after=4")).toMatchObject({ data: [{ position: 5 }], gaps: [], cursor: 5 });
  });

  test("D-424: an unknown cursor, another epoch and a server without a log are refused; a read-only key sees no secrets", async () => {
    const { request, happen, read, receiver } = await open();
    await happen(7);
    const refusal = async (query: string) => {
      const { status, body } = await request("GET", `delivery-log?${query}`);
      return { status, parameter: body.error?.parameter };
    };
    expect(await refusal("after=2")).toEqual({ status: 409, parameter: "after" });
    expect(await refusal("epoch=other")).toEqual({ status: 409, parameter: "epoch" });
    expect(await refusal("limit=201")).toEqual({ status: 400, parameter: "limit" });
    const key = (await request("POST", "/v1/control-keys", { access: "read" })).body.key as string;
    expect((await read()).data[0]?.body).toBe(postAt(receiver, 0).body);
    expect(postAt(receiver, 0).body).toContain("token7");
    expect((await read("", key)).data[0]?.body).toContain('"n":7,"access_token":"…"');
    const without = await open(false);
    await without.happen(1);
    expect(await without.request("GET", "delivery-log")).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining("--webhook-log") } },
    });
  });
});
