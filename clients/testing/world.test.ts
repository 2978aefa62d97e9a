import { afterAll, expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import type { WorldFile } from "./control-api.ts";
import { ControlRefusal, UnmetExpectation } from "./failures.ts";
import { stopServer, withPlaza } from "./index.ts";
import type { Plaza } from "./with-plaza.ts";

const world: WorldFile = {
  profile: "clients",
  clock: { now: 1_795_000_000, frozen: true },
  apps: [{ id: "1001", name: "Shop", secret: "s3cret" }],
  users: [{ id: "3001", name: "Ada" }],
  pages: [{ id: "2001", name: "Cafe", roles: [{ user: "3001", tasks: ["MESSAGING"] }] }],
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
  tokens: [{ token: "page-token", type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"] }],
};

const first = await withPlaza({ after: afterAll });
afterAll(stopServer);

async function open(): Promise<Plaza> {
  const plaza = await first.newWorld({ world });
  afterThisTest(() => plaza.close());
  return plaza;
}

const createLabel = (plaza: Plaza, name: string) =>
  fetch(`${plaza.baseUrl}/v26.0/2001/custom_labels`, {
    method: "POST",
    body: new URLSearchParams({ page_label_name: name, access_token: "page-token" }),
  });

const failureOf = async (promise: Promise<unknown>): Promise<Error> => {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it did not fail");
};

test("a world begins with the given file, or as a copy of the server's first world with its secrets", async () => {
  const plaza = await open();
  expect((await plaza.nodes("pages").list()).map(({ id, name }) => ({ id, name }))).toEqual([{ id: "2001", name: "Cafe" }]);
  expect(await first.nodes("apps").read("1001")).toMatchObject({ name: "Demo shop", secret: "demo-app-secret" });
  const page = `${first.baseUrl}/v26.0/2001/custom_labels?access_token=demo-page-token&oauth_token=demo-page-token`;
  expect((await fetch(page, { headers: { authorization: "Bearer demo-page-token" } })).status).toBe(200);
});

test("worlds do not see each other, and a closed world is gone", async () => {
  const [one, other] = [await open(), await first.newWorld({ world })];
  await createLabel(one, "vip");
  expect(await one.nodes("labels").list()).toHaveLength(1);
  expect(await other.nodes("labels").list()).toEqual([]);
  await other.requests.expect({ count: 0 });
  await Promise.all([other.close(), other.close()]);
  await other.close();
  expect(await failureOf(other.clock.read())).toMatchObject({ name: "ControlRefusal", status: 404 });
});

test("the address of each surface is below the world's", async () => {
  const { addresses, name } = await open();
  const { origin } = new URL(addresses.baseUrl);
  expect(addresses).toEqual({
    baseUrl: `${origin}/w/${name}`,
    appBaseUrl: `${origin}/w/${name}/app`,
    microblogBaseUrl: `${origin}/w/${name}/microblog/v1.0`,
    adsBaseUrl: `${origin}/w/${name}/ads`,
    socialLoginHost: `${origin}/w/${name}/social-login`,
  });
});

test("nodes are created, read, listed, changed and deleted; tokens minted, listed and revoked", async () => {
  const plaza = await open();
  const labels = plaza.nodes("labels");
  const { id } = await labels.create({ page: "2001", name: "vip" });
  expect(await labels.update(id, { name: "regular" })).toMatchObject({ id, name: "regular" });
  expect(await labels.read(id)).toMatchObject({ page: "2001", name: "regular" });
  expect(await labels.list()).toHaveLength(1);
  await labels.delete(id);
  expect(await labels.list()).toEqual([]);
  const token = await plaza.tokens.create({ type: "app", app: "1001" });
  expect(token.token).toStartWith("PLZ");
  expect((await plaza.tokens.list()).map((one) => one.id)).toContain(token.id);
  await plaza.tokens.revoke(token.id);
  expect((await plaza.tokens.list()).find((one) => one.id === token.id)?.revoked_at).toBeGreaterThan(0);
});

test("a list longer than a page is read to its end", async () => {
  const plaza = await open();
  await plaza.import({ users: Array.from({ length: 1_100 }, (_, at) => ({ id: String(10_000 + at), name: `U${at}` })) });
  expect(await plaza.nodes("users").list()).toHaveLength(1_101);
});

test("an error names the request and the parameter", async () => {
  const plaza = await open();
  const refusal = await failureOf(plaza.nodes("labels").create({ page: "999", name: "vip" }));
  expect(refusal).toBeInstanceOf(ControlRefusal);
  expect(refusal).toMatchObject({ status: 422, code: "unprocessable", parameter: "page" });
  expect(refusal.message).toStartWith(`POST worlds/${plaza.name}/nodes/labels: page refers to 999`);
});

test("the clock moves in one world only", async () => {
  const [one, other] = [await open(), await open()];
  expect(await one.clock.advance(3_600)).toEqual({ now: 1_795_003_600, frozen: true });
  expect(await other.clock.read()).toEqual({ now: 1_795_000_000, frozen: true });
  expect(await one.clock.set({ now: "2027-01-01T00:00:00Z" })).toMatchObject({ now: 1_798_761_600 });
});

test("a world is restored to a snapshot, and reset to its beginning", async () => {
  const plaza = await open();
  const names = async () => (await plaza.nodes("labels").list()).map(({ name }) => name);
  await plaza.nodes("labels").create({ page: "2001", name: "vip" });
  await plaza.snapshot("with-one");
  await plaza.nodes("labels").create({ page: "2001", name: "regular" });
  await plaza.clock.advance(60);
  await plaza.restore("with-one");
  expect(await names()).toEqual(["vip"]);
  expect(await plaza.clock.read()).toMatchObject({ now: 1_795_000_000 });
  await plaza.reset();
  expect(await names()).toEqual([]);
  expect((await createLabel(plaza, "late")).status).toBe(200);
});

test("faults are added, listed and deleted", async () => {
  const plaza = await open();
  await plaza.faults.add({ operation: "createLabel", status: 503, times: 1 });
  expect(await plaza.faults.list()).toMatchObject([{ operation: "createLabel", met: 0 }]);
  expect((await createLabel(plaza, "vip")).status).toBe(503);
  await plaza.faults.add({ operation: "*", status: 500 });
  await plaza.faults.clear();
  expect((await createLabel(plaza, "vip")).status).toBe(200);
});

test("a failed expectation of requests shows the nearest miss at the line of the test", async () => {
  const plaza = await open();
  await createLabel(plaza, "VIP");
  expect(await plaza.requests.expect({ operation: "createLabel" })).toMatchObject({ count: 1, data: [{ status: 200 }] });
  const unmet = await failureOf(plaza.requests.expect({ operation: "createLabel", match: { request_body: { page_label_name: "vip" } } }));
  expect(unmet).toBeInstanceOf(UnmetExpectation);
  expect(unmet.message).toBe(`expected 1 request, saw 0

nearest: createLabel: POST /v26.0/2001/custom_labels → 200
  request_body.page_label_name
    expected  "vip"
    actual    "VIP"

the server saw, newest first:
  createLabel: POST /v26.0/2001/custom_labels → 200`);
  expect(unmet.stack?.split("\n").find((line) => /^\s+at /.test(line) && !line.includes("clients/testing/world.ts"))).toContain("world.test.ts");
});

/** A person's message, as the platform sends it. */
const MESSAGE = {
  messaging_product: "chatapp",
  messages: [{ from: "15550199", id: "m1", timestamp: "1795000000", type: "text", text: { body: "hello" } }],
};

test("a receiver becomes the callback of an app that is subscribed to everything; a webhook that it refuses is not delivered", async () => {
  const plaza = await open();
  const receiver = await plaza.webhooks.receive({ app: "1001" });
  await plaza.inApp.chatapp({ account: "4001", field: "messages", value: MESSAGE });
  expect(await receiver.expect({ field: "messages", within_ms: 5_000 })).toMatchObject({
    data: [{ value: MESSAGE, callback: receiver.url }],
  });
  expect(receiver.webhooks.flatMap(({ events }) => events)).toMatchObject([{ entity: "4001", field: "messages", value: MESSAGE }]);
  receiver.secret = "other";
  await plaza.inApp.chatapp({ account: "4001", field: "calls", value: {} });
  await plaza.webhooks.expect({ field: "calls", status: "waiting", match: { reason: "retry" }, within_ms: 5_000 });
  const unmet = await failureOf(receiver.expect({ field: "calls" }));
  expect(unmet.message).toContain("of chatapp_business_account 4001 to app 1001: waiting (retry, the receiver returned 401)");
  expect(receiver.refused).toHaveLength(1);
});

test("an app keeps its subscriptions when a receiver becomes its callback, unless the test names others", async () => {
  const plaza = await open();
  const only = [{ object: "chatapp_business_account" as const, fields: ["calls"] }];
  await plaza.webhooks.receive({ app: "1001", subscriptions: only });
  await plaza.webhooks.receive({ app: "1001" });
  expect((await plaza.nodes("apps").read("1001")).subscriptions).toEqual(only);
});

test("an app event is expected with its values; the failure names what was seen", async () => {
  const plaza = await open();
  const send = async (custom_events: object[]) => {
    const body = JSON.stringify({ event: "CUSTOM_APP_EVENTS", advertiser_id: "a", access_token: "1001|s3cret", custom_events });
    const headers = { "content-type": "application/json", "x-forwarded-for": "1.2.3.4" };
    return (await fetch(`${plaza.baseUrl}/v26.0/1001/activities`, { method: "POST", headers, body })).status;
  };
  expect(await send([{ _eventName: "buy", _valueToSum: 3, pf_content_type: "product" }])).toBe(200);
  const { data } = await plaza.appEvents.expect("1001", { event_name: "buy", match: { value_to_sum: "3" } });
  expect(data).toMatchObject([{ verdict: "accepted", parameters: { pf_content_type: "product" } }]);
  expect(await send([{ _eventName: "buy", pf_success: 7 }])).toBe(400);
  const failure = await failureOf(plaza.appEvents.expect("1001", { event_name: "buy", match: { value_to_sum: "4" } }));
  expect(failure).toBeInstanceOf(UnmetExpectation);
  expect(failure.message).toContain('nearest: buy: accepted\n  value_to_sum\n    expected  "4"\n    actual    "3"');
  expect(failure.message).toContain("buy: refused (");
  expect((await plaza.appEvents.list("1001")).map(({ verdict }) => verdict)).toEqual(["refused", "accepted"]);
  await plaza.nodes("apps").update("1001", { event_schemas: { buy: { type: "object", required: ["item"] } } });
  expect(await send([{ _eventName: "buy" }])).toBe(200);
  await plaza.appEvents.expect("1001", { event_name: "buy", verdict: "invalid" });
  const broken = await failureOf(plaza.appEvents.expect("1001", { event_name: "buy", match: { value_to_sum: "5" } }));
  expect(broken.message).toContain("buy: invalid (item is required)");
});
