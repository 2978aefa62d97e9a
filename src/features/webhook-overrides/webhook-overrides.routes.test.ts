/** Tests the routes of events that waited while an override was set or removed, and that overrides are deleted with their app or account. */
import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { startReceiver, valuesAt } from "#harness/receiver";
import { insertEntry } from "#harness/sections";
import { chatappField } from "#harness/webhooks";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";

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
  const emit = async (plaza: TestPlaza, n: number) => {
    const event = { entity: nodeId("4001"), phone: nodeId("4101"), payload: { n } };
    await plaza.world.database.write((tx) => plaza.world.webhooks.emit(tx, chatappField("messages"), event));
    await plaza.world.work.runDue();
  };

  for (const [path, shape, nothing] of [
    ["/v26.0/4001/subscribed_apps", (override: Record<string, unknown>) => override, {}],
    ["/v26.0/4101", (override: Record<string, unknown>) => ({ webhook_configuration: override }), { override_callback_uri: "" }],
  ] as const) {
    test(`D-63, D-137: events that wait for a removed override are sent to the app's callback after a POST to ${path}`, async () => {
      const [own, override] = [startReceiver(), startReceiver()];
      const [app] = world.apps;
      const plaza = await openPlaza({ database, world: { ...world, apps: [{ ...app, callback: { url: own.url } }] } });
      const post = async (body: Record<string, unknown>) => {
        expect((await plaza.post(path, { bearer, body: shape(body) })).body).toEqual({ success: true });
        await plaza.world.work.runDue();
      };
      await post({ override_callback_uri: override.url, verify_token: "v" });
      override.response = () => new Response("", { status: 410 });
      await emit(plaza, 1);
      override.response = () => new Response("");
      await emit(plaza, 2);
      expect([valuesAt(override), valuesAt(own)]).toEqual([[{ n: 1 }], []]);
      await post(nothing);
      expect([valuesAt(override), valuesAt(own)]).toEqual([[{ n: 1 }], [{ n: 2 }]]);
      // The callback was verified once more, so Plaza forgets its earlier failures.
      await post({ override_callback_uri: override.url, verify_token: "v" });
      override.response = () => new Response("", { status: 410 });
      await emit(plaza, 3);
      override.response = () => new Response("");
      await emit(plaza, 4);
      expect(valuesAt(override)).toEqual([{ n: 1 }, { n: 3 }]);
      await post({ override_callback_uri: override.url, verify_token: "v" });
      expect([valuesAt(override), valuesAt(own)]).toEqual([[{ n: 1 }, { n: 3 }, { n: 4 }], [{ n: 2 }]]);
    });

    test(`D-63: an event that waits without a callback is sent to the one that a POST to ${path} sets`, async () => {
      const plaza = await openPlaza({ database, world });
      await emit(plaza, 1);
      const receiver = startReceiver();
      const set = await plaza.post(path, { bearer, body: shape({ override_callback_uri: receiver.url, verify_token: "v" }) });
      expect(set.body).toEqual({ success: true });
      await plaza.world.work.runDue();
      expect(receiver.posts.map(({ body }) => JSON.parse(body).entry[0].changes)).toEqual([[{ field: "messages", value: { n: 1 } }]]);
    });
  }
});

onEachDatabase("webhook overrides of deleted nodes", (database) => {
  for (const { node, left } of [
    { node: "apps/1001", left: ["4001 1002 0", "4002 1002 0", "4002 1002 4102"] },
    { node: "chatapp_accounts/4002", left: ["4001 1001 0", "4001 1001 4101", "4001 1002 0"] },
  ]) {
    test(`D-57: deleting ${node} deletes its own overrides, those of its numbers too, and no others; a new node with its id has none`, async () => {
      const uri = "https://override.example/";
      const of = (app: string) => ({ app, override_callback_uri: uri });
      const { plaza, request } = await openControl({
        database,
        world: {
          ...world,
          apps: [...world.apps, { id: "1002" }],
          chatapp_accounts: ["4001", "4002"].map((id) => ({ id, subscribed_apps: [of("1001"), of("1002")] })),
          phone_numbers: [
            { id: "4101", account: "4001", overrides: [of("1001")] },
            { id: "4102", account: "4002", overrides: [of("1001"), of("1002")] },
          ],
        },
      });
      const { ports, database: stored } = plaza.world;
      const route = (account: string, number: string) =>
        ports.get("webhook_override").overridesOf(stored.reader, nodeId("1001"), nodeId(account), nodeId(number));
      expect(await route("4002", "4102")).toEqual({ account: uri, phone: uri });
      expect((await request("DELETE", `nodes/${node}`)).status).toBe(200);
      const rows = await stored.reader.all<{ text: string }>(sql`
        SELECT CAST(o.account AS TEXT) || ' ' || CAST(o.app AS TEXT) || ' ' || CAST(o.phone_number AS TEXT) AS text FROM webhook_overrides o ORDER BY text`);
      expect(rows.map(({ text }) => text)).toEqual(left);
      const [section, id] = node.split("/") as [string, string];
      expect(await insertEntry(plaza, section, { id })).toBe(true);
      expect(await route("4002", "4102")).toEqual({ account: undefined, phone: undefined });
    });
  }
});
