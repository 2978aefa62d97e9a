/** Where events go that waited while an override was set. */
import { expect, test } from "bun:test";
import { onEachDatabase, openPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { chatappField } from "#harness/webhooks";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";

const scopes = ["chatapp_business_management"];
const world = {
  ...cafe,
  apps: [
    {
      ...{ id: "1001", name: "Shop", secret: "s3cret", roles: [{ user: "3001", role: "developer" }] },
      subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }],
    },
  ],
  chatapp_accounts: [{ id: "4001", name: "Cafe chat", subscribed_apps: [{ app: "1001" }] }],
  phone_numbers: [{ id: "4101", account: "4001" }],
  tokens: [{ token: "wa", type: "system_user", app: "1001", user: "3001", scopes }],
};
const bearer = "wa";

onEachDatabase("webhook overrides", (database) => {
  for (const [path, shape] of [
    ["/v26.0/4001/subscribed_apps", (override: Record<string, unknown>) => override],
    ["/v26.0/4101", (override: Record<string, unknown>) => ({ webhook_configuration: override })],
  ] as const)
    test(`D-63: an event that waits without a callback is sent to the one that a POST to ${path} names`, async () => {
      const plaza = await openPlaza({ database, world });
      const { webhooks, database: stored } = plaza.world;
      const event = { entity: nodeId("4001"), phone: nodeId("4101"), payload: { n: 1 } };
      await stored.write((tx) => webhooks.emit(tx, chatappField("messages"), event));
      await plaza.world.work.runDue();
      const receiver = startReceiver();
      const set = await plaza.post(path, { bearer, body: shape({ override_callback_uri: receiver.url, verify_token: "v" }) });
      expect(set.body).toEqual({ success: true });
      await plaza.world.work.runDue();
      expect(receiver.posts.map(({ body }) => JSON.parse(body).entry[0].changes)).toEqual([[{ field: "messages", value: { n: 1 } }]]);
    });
});
