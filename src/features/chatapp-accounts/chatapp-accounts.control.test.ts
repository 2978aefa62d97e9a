import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { startReceiver } from "#harness/receiver";
import { chatappFields } from "./chatapp-accounts.webhooks.ts";

const fields = chatappFields.map(({ field }) => field);
const worldAt = (url: string) => ({
  apps: [{ id: "1001", secret: "s3cret", callback: { url }, subscriptions: [{ object: "chatapp_business_account", fields }] }],
  social_accounts: [{ id: "6001", username: "cafe" }],
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }, { id: "4002" }],
  phone_numbers: [
    { id: "4101", account: "4001" },
    { id: "4102", account: "4002" },
  ],
});

onEachDatabase("events of a business messaging account", (database) => {
  async function open() {
    const receiver = startReceiver();
    const { plaza, request } = await openControl({ database, world: worldAt(receiver.url) });
    const emit = (body: object) => request("POST", "in-app/chatapp", body);
    const received = async () => {
      await plaza.world.work.runDue();
      return receiver.posts.splice(0).flatMap(({ body }) => JSON.parse(body).entry);
    };
    return { emit, received };
  }

  test("ROUTE-4 to ROUTE-24: an event of every field of a business account, with any value", async () => {
    const { emit, received } = await open();
    for (const field of fields) {
      const value = { of: field, nested: [{ ü: 1.5 }, null] };
      expect((await emit({ account: "4001", phone_number: "4101", field, value })).body).toEqual({ success: true });
      expect(await received()).toEqual([{ id: "4001", time: 1_795_000_000, changes: [{ field, value }] }]);
    }
    await emit({ account: "4001", field: "account_update", value: {} });
    expect(await received()).toHaveLength(1);
  });

  test("an impossible event is refused, and nothing is sent", async () => {
    const { emit, received } = await open();
    const wrong: { body: object; status: number; parameter: string }[] = [
      { body: { account: "4001", field: "nothing", value: {} }, status: 400, parameter: "field" },
      { body: { account: "4001", field: "messages", value: "x" }, status: 400, parameter: "value" },
      { body: { account: "6001", field: "messages", value: {} }, status: 422, parameter: "account" },
      { body: { account: "4009", field: "messages", value: {} }, status: 422, parameter: "account" },
      // The requests name, one after the other, a phone number of another account, an unknown phone number, and the id of the account itself.
      { body: { account: "4001", phone_number: "4102", field: "messages", value: {} }, status: 422, parameter: "phone_number" },
      { body: { account: "4001", phone_number: "4109", field: "messages", value: {} }, status: 422, parameter: "phone_number" },
      { body: { account: "4001", phone_number: "4001", field: "messages", value: {} }, status: 422, parameter: "phone_number" },
    ];
    for (const expected of wrong) {
      const { status, body } = await emit(expected.body);
      expect({ body: expected.body, status, parameter: body.error.parameter }).toEqual(expected);
    }
    expect(await received()).toEqual([]);
  });
});
