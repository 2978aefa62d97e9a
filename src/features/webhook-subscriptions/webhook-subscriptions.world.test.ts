/** What becomes of an app's waiting events when its webhooks are replaced by an entry of a world file or of the control API. */
import { expect, test } from "bun:test";
import { onEachDatabase, openPlaza, type TestPlaza } from "#harness/plaza";
import { startReceiver, valuesAt } from "#harness/receiver";
import { changeEntry } from "#harness/sections";
import { chatappField } from "#harness/webhooks";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { findCallbackId } from "#webhooks/callbacks/callbacks.store";

const DAY_MS = 86_400_000;

const world = {
  ...cafe,
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
};

onEachDatabase("an app whose webhooks are replaced", (database) => {
  const open = () => openPlaza({ database, world });
  const replace = async (plaza: TestPlaza, url: string | undefined, fields: readonly string[] = ["messages"]) => {
    const subscriptions = [{ object: "chatapp_business_account", fields }];
    await changeEntry(plaza, "apps", "1001", { callback: url === undefined ? undefined : { url }, subscriptions });
    await plaza.world.work.runDue();
  };
  const emit = async (plaza: TestPlaza, payload: object) => {
    await plaza.world.database.write((tx) => plaza.world.webhooks.emit(tx, chatappField("messages"), { entity: nodeId("4001"), payload }));
    await plaza.world.work.runDue();
  };
  const laterOn = async (plaza: TestPlaza) => {
    plaza.time.realMs += DAY_MS;
    await plaza.world.work.runDue();
  };

  test("an event that waits for a callback goes to the one that the entry gives", async () => {
    const plaza = await open();
    const [receiver, other] = [startReceiver(), startReceiver()];
    await replace(plaza, undefined);
    await emit(plaza, { n: 1 });
    await replace(plaza, receiver.url);
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
    receiver.response = () => new Response("", { status: 500 });
    await emit(plaza, { n: 2 });
    await replace(plaza, other.url);
    await laterOn(plaza);
    expect(valuesAt(other)).toEqual([{ n: 2 }]);
  });

  test("an event of a field that the entry no longer has ends at once, and is not sent again", async () => {
    const plaza = await open();
    const receiver = startReceiver();
    await replace(plaza, receiver.url);
    receiver.response = () => new Response("", { status: 500 });
    await emit(plaza, { n: 1 });
    receiver.response = () => new Response("");
    expect(await plaza.dump(["webhook_deliveries.ended_ms"])).toEqual([{ value: null }]);
    await replace(plaza, receiver.url, ["calls"]);
    expect(await plaza.dump(["webhook_deliveries.ended_ms"])).toEqual([{ value: expect.any(Number) }]);
    await laterOn(plaza);
    expect(receiver.posts).toHaveLength(1);
  });

  test("D-273: a callback that a person paused stays so while the entry keeps it, and gets what waits when the entry gives it anew", async () => {
    const plaza = await open();
    const { database: store, webhooks } = plaza.world;
    const [receiver, other] = [startReceiver(), startReceiver()];
    await replace(plaza, receiver.url);
    await emit(plaza, { n: 1 });
    const id = await findCallbackId(store.reader, "1001", receiver.url);
    await store.write((tx) => webhooks.holdCallback(tx, String(id)));
    await replace(plaza, receiver.url, ["messages", "calls"]);
    await emit(plaza, { n: 2 });
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
    await replace(plaza, other.url);
    expect(valuesAt(other)).toEqual([{ n: 2 }]);
    await replace(plaza, receiver.url);
    await emit(plaza, { n: 3 });
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 3 }]);
  });

  test("a callback that is gone stays so while the entry keeps it, and gets events again when the entry gives it anew", async () => {
    const plaza = await open();
    const [receiver, other] = [startReceiver(), startReceiver()];
    await replace(plaza, receiver.url);
    receiver.response = () => new Response("", { status: 410 });
    await emit(plaza, { n: 1 });
    receiver.response = () => new Response("");
    await replace(plaza, receiver.url, ["messages", "calls"]);
    await emit(plaza, { n: 2 });
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
    await replace(plaza, other.url);
    await replace(plaza, receiver.url);
    await emit(plaza, { n: 3 });
    await laterOn(plaza);
    expect(valuesAt(receiver)).toContainEqual({ n: 3 });
  });
});
