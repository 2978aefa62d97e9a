import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { startReceiver, valuesAt } from "#harness/receiver";
import { changeEntry, expectLifeOfEntry, expectRoundTrip, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";

const scopes = ["chatapp_business_management"];
const world = {
  ...cafe,
  businesses: [{ id: "3501" }],
  chatapp_accounts: [{ id: "4001", name: "Chat", subscribed_apps: [{ app: "1001", override_callback_uri: "https://shop.example/hook" }] }],
  phone_numbers: [{ id: "4101", account: "4001", overrides: [{ app: "1001", override_callback_uri: "https://shop.example/phone" }] }],
  tokens: [
    ...cafe.tokens,
    { token: "wa", type: "system_user", app: "1001", user: "3001", scopes },
    { token: "wa2", type: "user", app: "1002", user: "3001", scopes },
  ],
};

onEachDatabase("chatapp accounts", (database) => {
  test("a world file is refused with two entries for an app, an override that is not an address, or one for an app that is not subscribed", async () => {
    const uri = "https://shop.example/hook";
    const problemOf = (more: object) => openPlaza({ database, world: { ...world, ...more } }).catch((error: unknown) => String(error));
    const onNumber = (overrides: object[]) => problemOf({ phone_numbers: [{ id: "4101", account: "4001", overrides }] });
    const onAccount = (subscribed_apps: object[]) => problemOf({ phone_numbers: [], chatapp_accounts: [{ id: "4001", subscribed_apps }] });
    const own = { app: "1001", override_callback_uri: uri };
    expect(await onNumber([own, own])).toContain("overrides[1].app");
    expect(await onNumber([{ ...own, override_callback_uri: "nowhere" }])).toContain("overrides[0].override_callback_uri");
    expect(await onNumber([{ ...own, override_callback_uri: "ftp://shop.example" }])).toContain("overrides[0].override_callback_uri");
    expect(await onNumber([own, { ...own, app: "1002" }])).toContain(
      "overrides[1].app refers to the app 1002, which is not subscribed to the account 4001",
    );
    expect(await onAccount([own, { app: "1001" }])).toContain("subscribed_apps[1].app");
    expect(await onAccount([{ ...own, override_callback_uri: "nowhere" }])).toContain("subscribed_apps[0].override_callback_uri");
  });

  const open = () => openPlaza({ database, world });
  const configuration = (plaza: Awaited<ReturnType<typeof open>>) =>
    plaza.get("/v26.0/4101", { bearer: "wa", query: { fields: "webhook_configuration" } });

  test("accounts and numbers are created, updated and removed by world file entries", async () => {
    const plaza = await open();
    const subscribed_apps = [{ app: "1001", override_callback_uri: "https://a.example" }, { app: "1002" }];
    await expectLifeOfEntry(
      plaza,
      "chatapp_accounts",
      { id: "4009", name: "New", business: "3501", subscribed_apps },
      { name: "x", subscribed_apps: [{ app: "1002" }] },
    );
    const number = {
      id: "4109",
      account: "4009",
      display_phone_number: "+1",
      verified_name: "N",
      overrides: [{ app: "1001", override_callback_uri: "https://b.example" }],
    };
    await expectLifeOfEntry(plaza, "phone_numbers", number, { verified_name: "M", overrides: [] });
    await expectRoundTrip(plaza);
  });

  test("D-30, D-96: the apps of an account are listed newest first, even backwards", async () => {
    const apps = [{ app: "1001" }, { app: "1002" }];
    const plaza = await openPlaza({ database, world: { ...world, phone_numbers: [], chatapp_accounts: [{ id: "4001", subscribed_apps: apps }] } });
    const list = (query: object) => plaza.get("/v26.0/4001/subscribed_apps", { bearer: "wa", query: { limit: "1", ...query } });
    const idOf = ({ body }: Awaited<ReturnType<typeof list>>) => body.data[0].chatapp_business_api_data.id;
    const first = await list({});
    const second = await list({ after: first.body.paging.cursors.after });
    const back = await list({ before: second.body.paging.cursors.before });
    expect({ first: idOf(first), second: idOf(second), back: idOf(back) }).toEqual({ first: "1002", second: "1001", back: "1002" });
  });

  test("D-57: overrides of a world file are verified and appear in the number's configuration", async () => {
    const plaza = await open();
    expect((await configuration(plaza)).body.webhook_configuration).toEqual({
      phone_number: "https://shop.example/phone",
      chatapp_business_account: "https://shop.example/hook",
    });
  });

  test("AUTH-21: subscribing and unsubscribing an app takes effect with the next request", async () => {
    const plaza = await open();
    const status = async (bearer: string) => (await plaza.get("/v26.0/4001", { bearer })).status;
    expect({ wa: await status("wa"), wa2: await status("wa2") }).toEqual({ wa: 200, wa2: 400 });
    await changeEntry(plaza, "chatapp_accounts", "4001", { subscribed_apps: [{ app: "1002" }] });
    expect({ wa: await status("wa"), wa2: await status("wa2") }).toEqual({ wa: 400, wa2: 200 });
  });

  test("D-63: waiting events are routed again when the control API sets or removes an override", async () => {
    const receiver = startReceiver();
    const override_callback_uri = receiver.url;
    const subscribed = { ...world.apps[0], subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] };
    const plaza = await openPlaza({
      database,
      world: {
        ...world,
        apps: [subscribed, world.apps[1]],
        chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
        phone_numbers: [{ id: "4101", account: "4001" }],
      },
    });
    const happen = async (n: number) => {
      const field = plaza.registry.webhookFields.read("chatapp_business_account", "messages");
      const event = { entity: nodeId("4001"), phone: nodeId("4101"), payload: { n } };
      await plaza.world.database.write((tx) => plaza.world.webhooks.emit(tx, field, event));
      await plaza.world.work.runDue();
    };
    const arrived = async () => {
      await plaza.world.work.runDue();
      return valuesAt(receiver);
    };
    await happen(1);
    expect(await arrived()).toEqual([]);
    await changeEntry(plaza, "phone_numbers", "4101", { overrides: [{ app: "1001", override_callback_uri }] });
    expect(await arrived()).toEqual([{ n: 1 }]);
    await changeEntry(plaza, "phone_numbers", "4101", { overrides: [] });
    await happen(2);
    expect(await arrived()).toEqual([{ n: 1 }]);
    await changeEntry(plaza, "chatapp_accounts", "4001", { subscribed_apps: [{ app: "1001", override_callback_uri }] });
    expect(await arrived()).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("removing an account removes its numbers", async () => {
    const plaza = await open();
    await removeEntry(plaza, "chatapp_accounts", "4001");
    expect((await configuration(plaza)).body.error.error_subcode).toBe(33);
  });
});
