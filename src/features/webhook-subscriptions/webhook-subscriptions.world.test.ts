/** Tests what happens to an app's waiting events after an entry of a world file, or of the control API, has replaced the app's webhooks. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
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

onEachDatabase("an app whose webhook entries are replaced", (database) => {
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

  test("an event that waits for a callback is sent to the one that the entry sets", async () => {
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

  test("an event of a field that is no longer in the entry ends at once, and is not sent again", async () => {
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

  test("D-273: a callback that a person paused stays paused while the entry keeps it, and gets its events when the entry sets it again", async () => {
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

  test("a callback that returned 410 stays paused while the entry keeps it, and gets events again when the entry sets it again", async () => {
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

  test("H5-4: an app without a callback of its own for the object shows the one for all objects", async () => {
    const plaza = await open();
    const shown = () =>
      plaza.world.ports.get("webhook_subscription").findCallbackUrl(plaza.world.database.reader, nodeId("1001"), "chatapp_business_account");
    await replace(plaza, undefined);
    expect(await shown()).toBeUndefined();
    await replace(plaza, "https://all.example/");
    expect(await shown()).toBe("https://all.example/");
    const subscriptions = [
      { object: "chatapp_business_account", fields: ["messages"], callback: { url: "https://own.example/" } },
      { object: "social", fields: ["messages"] },
    ];
    await changeEntry(plaza, "apps", "1001", { subscriptions });
    expect(await shown()).toBe("https://own.example/");
  });

  for (const [direction, days] of [["ahead of", 3] as const, ["behind", -3] as const])
    test(`D-132: the previous secret signs beside the new one for a day of real time, even in a world whose time is ${direction} it`, async () => {
      const plaza = await open();
      const receiver = startReceiver();
      await replace(plaza, receiver.url);
      await plaza.world.clock.set(plaza.world.clock.nowMs() + days * DAY_MS, true);
      await changeEntry(plaza, "apps", "1001", { secret: "renewed" });
      const signatures: (number | undefined)[] = [];
      for (const laterMs of [0, DAY_MS - 1, 1]) {
        plaza.time.realMs += laterMs;
        await plaza.world.work.session.beat(); // After a day a process must renew its lease before it continues.
        await emit(plaza, {});
        signatures.push(receiver.posts.at(-1)?.headers["webhook-signature"]?.split(" ").length);
      }
      expect({ signatures, posts: receiver.posts.length }).toEqual({ signatures: [2, 2, 1], posts: 3 });
    });

  test("D-137: a callback that the app verifies again gets the events that waited meanwhile", async () => {
    const plaza = await open();
    const [receiver, other] = [startReceiver(), startReceiver()];
    const subscribe = async (callback_url: string, object = "chatapp_business_account") => {
      const body = { object, callback_url, verify_token: "v", fields: ["messages"] };
      expect((await plaza.post("/v26.0/1001/subscriptions", { bearer: "app", body })).body).toEqual({ success: true });
      await plaza.world.work.runDue();
    };
    await subscribe(receiver.url);
    receiver.response = () => new Response("", { status: 410 });
    await emit(plaza, { n: 1 });
    receiver.response = () => new Response("");
    await emit(plaza, { n: 2 });
    // A callback of the app that works again does not resume the deliveries to the app's other callback.
    await subscribe(other.url, "social");
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
    await subscribe(receiver.url);
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(valuesAt(other)).toEqual([]);
  });
});
