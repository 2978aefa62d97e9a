import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { changeEntry, expectRoundTrip, findEntry, insertEntry } from "#harness/sections";
import { chatappField } from "#harness/webhooks";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";

const world = {
  ...cafe,
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }, { app: "1002" }] }],
  tokens: [
    ...cafe.tokens,
    { token: "other-app-token", type: "app", app: "1002" },
    { token: "expired-app", type: "app", app: "1001", expires_at: 1_790_000_000 },
  ],
};

const onApp = "/v26.0/1001/subscriptions";
const onPage = "/v26.0/2001/subscribed_apps";

type Body = Record<string, unknown>;
const subscribe = (plaza: TestPlaza, body: Body, bearer = "app", path = onApp) => plaza.post(path, { bearer, body: { verify_token: "v", ...body } });
const listed = async (plaza: TestPlaza, bearer = "app", path = onApp) => (await plaza.get(path, { bearer })).body.data;
const problem = ({ status, body }: { status: number; body: { error: { code: number; error_data?: { parameter?: string } } } }) => [
  status,
  body.error.code,
  body.error.error_data?.parameter,
];

const emitChatapp = (plaza: TestPlaza, field: string, payload: object = {}) =>
  plaza.world.database.write((tx) => plaza.world.webhooks.emit(tx, chatappField(field), { entity: nodeId("4001"), payload }));

onEachDatabase("webhook subscriptions", (database) => {
  const open = (options = {}) => openPlaza({ database, world, ...options });

  test("D-164: in clients, fields of pages that are not served can be subscribed, are never sent, and debug=all says so", async () => {
    const plaza = await open({ profile: "clients" });
    const receiver = startReceiver();
    const ofApp = { object: "page", callback_url: receiver.url, fields: ["feed", "custom_labels"], debug: "all" };
    const said = (body: { __debug__: { messages: { message: string }[] } }) => body.__debug__.messages.map(({ message }) => message);
    expect(said((await subscribe(plaza, ofApp)).body)).toEqual(["fields contains feed: the subscription is stored, but Plaza never sends feed."]);
    expect((await listed(plaza))[0].fields).toEqual(["feed", "custom_labels"]);
    const ofPage = { subscribed_fields: "feed,messages,custom_labels", debug: "all" };
    expect(said((await subscribe(plaza, ofPage, "page", onPage)).body)).toHaveLength(3); // verify_token is ignored
    expect((await listed(plaza, "page", onPage))[0].subscribed_fields).toEqual(["feed", "messages", "custom_labels"]);
    await expectRoundTrip(plaza);
    expect((await plaza.delete(onApp, { bearer: "app", body: { object: "page", fields: ["feed"] } })).body).toEqual({ success: true });
    expect((await listed(plaza))[0].fields).toEqual(["custom_labels"]);
    expect(problem(await subscribe(plaza, { ...ofApp, fields: ["feeed"] }))).toEqual([400, 100, "fields"]);
    expect(problem(await subscribe(plaza, { ...ofApp, object: "social", fields: ["feed"] }))).toEqual([400, 100, "fields"]);
    const strict = await open();
    expect(problem(await subscribe(strict, ofApp))).toEqual([400, 100, "fields"]);
    expect(problem(await subscribe(strict, ofPage, "page", onPage))).toEqual([400, 100, "subscribed_fields"]);
  });

  test("D-60, D-61: a subscription is verified, listed, extended, and ended field by field", async () => {
    const plaza = await open();
    const receiver = startReceiver();
    const callback_url = `${receiver.url}?keep=%C3%BC`;
    const set = await subscribe(plaza, { object: "social", callback_url, fields: ["messages"], verify_token: "to ken/ü" });
    expect(set.body).toEqual({ success: true });
    expect(receiver.handshakes).toEqual([{ mode: "subscribe", verifyToken: "to ken/ü" }]);
    expect(await listed(plaza)).toEqual([{ object: "social", callback_url, active: true, fields: ["messages"] }]);
    // A further request adds its fields, also if it sends them as one text with commas, and its callback replaces the earlier one.
    await subscribe(plaza, { object: "social", callback_url: receiver.url, fields: "comments,messages" });
    expect(await listed(plaza)).toEqual([{ object: "social", callback_url: receiver.url, active: true, fields: ["messages", "comments"] }]);
    await subscribe(plaza, { object: "page", callback_url: receiver.url, fields: ["custom_labels"] });
    const end = (body: Body) => plaza.delete(onApp, { bearer: "app", body });
    expect((await end({ object: "social", fields: ["comments", "live_comments"] })).body).toEqual({ success: true });
    expect((await listed(plaza)).map((one: { object: string; fields: string[] }) => ({ object: one.object, fields: one.fields }))).toEqual([
      { object: "page", fields: ["custom_labels"] },
      { object: "social", fields: ["messages"] },
    ]);
    await end({ object: "social", fields: ["messages"] });
    expect((await listed(plaza)).map((one: { object: string }) => one.object)).toEqual(["page"]);
    for (let i = 0; i < 2; i++) expect((await end({})).body).toEqual({ success: true });
    expect(await listed(plaza)).toEqual([]);
  });

  test("D-60: object, callback_url, fields and verify_token are required, and fields must be fields of the object", async () => {
    const plaza = await open();
    const receiver = startReceiver();
    const whole: Body = { object: "page", callback_url: receiver.url, fields: ["custom_labels"], verify_token: "v" };
    for (const parameter of Object.keys(whole)) expect(problem(await subscribe(plaza, { ...whole, [parameter]: undefined }))[2]).toBe(parameter);
    const wrong: [string, unknown][] = [
      ["object", "user"],
      ["fields", ["messages"]],
      ["fields", []],
      ["callback_url", ""],
      ["callback_url", `${receiver.url}?${"x".repeat(2_048)}`],
      ["verify_token", ""],
    ];
    for (const [parameter, value] of wrong) expect(problem(await subscribe(plaza, { ...whole, [parameter]: value }))).toEqual([400, 100, parameter]);
    expect(problem(await plaza.delete(onApp, { bearer: "app", body: { fields: ["messages"] } }))).toEqual([400, 100, "object"]);
    expect(problem(await plaza.delete(onApp, { bearer: "app", body: { object: "page", fields: ["x"] } }))).toEqual([400, 100, "fields"]);
    // An invalid request makes no handshake and stores nothing.
    expect(receiver.handshakes).toEqual([]);
    expect(await listed(plaza)).toEqual([]);
  });

  test("D-61: a callback that fails the handshake changes nothing", async () => {
    const plaza = await open();
    const good = startReceiver();
    await subscribe(plaza, { object: "social", callback_url: good.url, fields: ["messages"] });
    const before = await listed(plaza);
    const failing: [string, number][] = [
      [startReceiver(() => new Response("wrong")).url, 2201],
      [startReceiver((challenge) => new Response(challenge, { status: 403 })).url, 2200],
      ["http://127.0.0.1:1/closed", 2200],
      ["http://10.0.0.1/", 2200],
      ["not an address", 2200],
    ];
    for (const [callback_url, code] of failing) {
      const response = await subscribe(plaza, { object: "social", callback_url, fields: ["comments"] });
      expect({ callback_url, status: response.status, code: response.body.error.code }).toEqual({ callback_url, status: 400, code });
    }
    expect(await listed(plaza)).toEqual(before);
  });

  test("D-60: only the app's own token is accepted, in any place, and a refused request changes nothing", async () => {
    const plaza = await open();
    const { url, handshakes } = startReceiver();
    const body = { object: "social", callback_url: url, fields: ["messages"], verify_token: "v" };
    expect((await plaza.post(onApp, { query: { access_token: "1001|s3cret" }, body })).status).toBe(200);
    expect((await plaza.post(onApp, { body: { ...body, access_token: "app" } })).status).toBe(200);
    const before = await plaza.dump(["webhook_subscriptions.fields", "webhook_subscriptions.callback_url"]);
    const seen = handshakes.length;
    const refused: [string, number, number][] = [
      ["other-app-token", 400, 100],
      ["page", 400, 100],
      ["ada", 401, 190],
      ["expired-app", 401, 190],
      ["unknown", 401, 190],
    ];
    for (const [bearer, status, code] of refused) {
      for (const method of ["GET", "POST", "DELETE"]) {
        const response = await plaza.request(method, onApp, { bearer, body: method === "GET" ? {} : { ...body, fields: ["comments"] } });
        expect({ bearer, method, status: response.status, code: response.body.error.code }).toEqual({ bearer, method, status, code });
      }
    }
    expect((await plaza.get(onApp)).body.error.code).toBe(104);
    expect(await plaza.dump(["webhook_subscriptions.fields", "webhook_subscriptions.callback_url"])).toEqual(before);
    expect(handshakes).toHaveLength(seen);
  });

  test("D-60: a page's token subscribes its app to fields of the page, and each request replaces the fields", async () => {
    const plaza = await open();
    const set = (subscribed_fields: unknown, bearer = "page") => plaza.post(onPage, { bearer, body: { subscribed_fields } });
    expect((await set(["custom_labels", "live_videos"])).body).toEqual({ success: true });
    expect((await set("live_videos", "other-app")).body).toEqual({ success: true });
    expect((await set("custom_labels")).body).toEqual({ success: true });
    // D-30, D-96: the subscriptions of a page are listed newest first.
    const entries = [
      { id: "1002", name: "Other", link: "http://plaza.test/1002", subscribed_fields: ["live_videos"] },
      { id: "1001", name: "Shop", link: "http://plaza.test/1001", subscribed_fields: ["custom_labels"] },
    ];
    expect(await listed(plaza, "page", onPage)).toEqual(entries);
    for (const wrong of [undefined, [], ["messages"], "nothing"]) expect(problem(await set(wrong))).toEqual([400, 100, "subscribed_fields"]);
    const refused: [string, number, number][] = [
      ["bar", 400, 100],
      ["ada", 401, 190],
      ["app", 400, 100],
      ["expired", 401, 190],
    ];
    for (const [bearer, status, code] of refused) {
      for (const method of ["GET", "POST", "DELETE"]) {
        const response = await plaza.request(method, onPage, { bearer, body: { subscribed_fields: ["live_videos"] } });
        expect({ bearer, method, status: response.status, code: response.body.error.code }).toEqual({ bearer, method, status, code });
      }
    }
    expect(await listed(plaza, "page", onPage)).toEqual(entries);
    for (let i = 0; i < 2; i++) expect((await plaza.delete(onPage, { bearer: "page" })).body).toEqual({ success: true });
    expect(await listed(plaza, "page", onPage)).toEqual(entries.slice(0, 1));
  });

  test("an app's callback and subscriptions and a page's apps are loaded, exported and replaced with their world file entries", async () => {
    const plaza = await open();
    const own = { url: "https://own.example/hook", verify_token: "own token", verified: false };
    const callback = { url: "https://shop.example/hook", verify_token: "t", verified: true };
    const subscriptions = [
      { object: "chatapp_business_account", fields: ["messages", "calls"] },
      { object: "social", fields: ["messages"], callback: own },
    ];
    await changeEntry(plaza, "apps", "1001", { callback, subscriptions });
    await changeEntry(plaza, "pages", "2001", { subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] });
    expect(await findEntry(plaza, "apps", "1001")).toMatchObject({ callback, subscriptions });
    expect(await listed(plaza)).toEqual([
      { object: "chatapp_business_account", callback_url: callback.url, active: true, fields: ["messages", "calls"] },
      { object: "social", callback_url: own.url, active: false, fields: ["messages"] },
    ]);
    await expectRoundTrip(plaza);
    await changeEntry(plaza, "apps", "1001", { callback: undefined, subscriptions: [] });
    expect(await listed(plaza)).toEqual([]);
    const wrong = [{ object: "social", fields: ["calls"] }];
    await expect(insertEntry(plaza, "apps", { id: "1008", subscriptions: wrong })).rejects.toThrow(
      "subscriptions[0].fields[0] is not a field of social",
    );
    const twice = [
      { object: "page", fields: [] },
      { object: "page", fields: [] },
    ];
    await expect(insertEntry(plaza, "apps", { id: "1008", subscriptions: twice })).rejects.toThrow("repeats page");
    const ofPage = [{ app: "1001", subscribed_fields: ["calls"] }];
    await expect(insertEntry(plaza, "pages", { id: "2008", subscribed_apps: ofPage })).rejects.toThrow("subscribed_fields[0] is not a field of page");
  });

  test("H5-4: H5 shows the object's own callback as the app's, or the one for all objects", async () => {
    const plaza = await open();
    const callbackOf = () =>
      plaza.world.ports.get("webhook_subscription").findCallbackUrl(plaza.world.database.reader, nodeId("1001"), "chatapp_business_account");
    expect(await callbackOf()).toBeUndefined();
    await changeEntry(plaza, "apps", "1001", { callback: { url: "https://all.example/" } });
    expect(await callbackOf()).toBe("https://all.example/");
    const { url } = startReceiver();
    await subscribe(plaza, { object: "social", callback_url: `${url}/social`, fields: ["messages"] });
    expect(await callbackOf()).toBe("https://all.example/");
    await subscribe(plaza, { object: "chatapp_business_account", callback_url: url, fields: ["messages"] });
    expect(await callbackOf()).toBe(url);
  });

  test("AUTH-21, D-60: an app receives only events to which it is subscribed on the account and by field", async () => {
    const plaza = await open();
    const [shop, other] = [startReceiver(), startReceiver()];
    await subscribe(plaza, { object: "chatapp_business_account", callback_url: shop.url, fields: ["messages", "calls"] });
    const ofOther = { object: "chatapp_business_account", callback_url: other.url, fields: ["calls"] };
    await subscribe(plaza, ofOther, "other-app-token", "/v26.0/1002/subscriptions");
    for (const field of ["messages", "calls", "history"]) await emitChatapp(plaza, field, { of: field });
    await plaza.world.work.runDue();
    const fieldsAt = ({ posts }: typeof shop) =>
      posts.flatMap(({ body }) =>
        JSON.parse(body).entry.flatMap((entry: { changes: { field: string }[] }) => entry.changes.map(({ field }) => field)),
      );
    expect(fieldsAt(shop)).toEqual(["messages", "calls"]);
    expect(fieldsAt(other)).toEqual(["calls"]);
    await changeEntry(plaza, "chatapp_accounts", "4001", { subscribed_apps: [{ app: "1001" }] });
    await emitChatapp(plaza, "calls");
    await plaza.world.work.runDue();
    expect(fieldsAt(shop)).toEqual(["messages", "calls", "calls"]);
    expect(fieldsAt(other)).toEqual(["calls"]);
  });

  test("D-60: a page's event is sent to the apps that are subscribed to it on the page and for themselves", async () => {
    const plaza = await open();
    const receiver = startReceiver();
    const post = (name: string) => plaza.post("/v26.0/2001/custom_labels", { token: "page", body: { page_label_name: name } });
    await plaza.post(onPage, { bearer: "page", body: { subscribed_fields: ["custom_labels"] } });
    await post("not yet");
    await subscribe(plaza, { object: "page", callback_url: receiver.url, fields: ["live_videos"] });
    await post("not this field");
    await subscribe(plaza, { object: "page", callback_url: receiver.url, fields: ["custom_labels"] });
    await post("now");
    await plaza.world.work.runDue();
    await plaza.delete(onPage, { bearer: "page" });
    await post("no longer");
    await plaza.world.work.runDue();
    expect(receiver.posts.map(({ body }) => JSON.parse(body).entry[0].changes[0].value.label.name)).toEqual(["now"]);
  });

  test("D-63: events that wait without a callback, or for a failing one, are sent to the app's next callback", async () => {
    const plaza = await open();
    await changeEntry(plaza, "apps", "1001", { subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] });
    await emitChatapp(plaza, "messages", { n: 1 });
    await plaza.world.work.runDue();
    const receiver = startReceiver();
    await subscribe(plaza, { object: "chatapp_business_account", callback_url: receiver.url, fields: ["messages"] });
    await plaza.world.work.runDue();
    expect(receiver.posts.map(({ body }) => JSON.parse(body).entry[0].changes)).toEqual([[{ field: "messages", value: { n: 1 } }]]);
  });

  test("D-62: a new secret signs at once, together with the old one for a day of real time", async () => {
    const plaza = await open();
    const receiver = startReceiver();
    await subscribe(plaza, { object: "chatapp_business_account", callback_url: receiver.url, fields: ["messages"] });
    const signatures = async () => {
      await emitChatapp(plaza, "messages");
      await plaza.world.work.runDue();
      const { body, headers } = receiver.posts.at(-1) as { body: string; headers: Record<string, string> };
      const of = (secret: string) =>
        `v1,${createHmac("sha256", secret).update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`).digest("base64")}`;
      expect(headers["x-hub-signature-256"]).toBe(`sha256=${createHmac("sha256", "renewed").update(body).digest("hex")}`);
      return headers["webhook-signature"]?.split(" ").map((one) => ["renewed", "s3cret"].find((secret) => of(secret) === one));
    };
    await changeEntry(plaza, "apps", "1001", { secret: "renewed" });
    expect(await signatures()).toEqual(["renewed", "s3cret"]);
    for (const [count, laterMs] of [[2, 86_399_999] as const, [1, 1] as const]) {
      plaza.time.realMs += laterMs;
      await plaza.world.work.session.beat(); // After a day a process must renew its lease before it continues.
      expect(await signatures()).toEqual(["renewed", "s3cret"].slice(0, count));
    }
  });

  test("verify tokens are stored only sealed", async () => {
    const plaza = await open();
    const { url } = startReceiver();
    await subscribe(plaza, { object: "social", callback_url: url, fields: ["messages"], verify_token: "a secret word" });
    expect(JSON.stringify(await plaza.dump(["webhook_subscriptions.sealed_verify_token"]))).not.toContain("a secret word");
  });
});
