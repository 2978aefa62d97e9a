import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { openPlaza, type TestPlaza, type TestRequest } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import { logEntry } from "../app-events.control.ts";
import { listEvents } from "../log/log.store.ts";
import { testEventsOf } from "./test-view.ts";

const SHOP = nodeId("1001");
const world = {
  apps: [
    { id: "1001", name: "Shop", secret: "s3cret" },
    { id: "1003", name: "Automatic", secret: "auto", automatic_event_logging: true, allow_tokenless_events: true },
  ],
  users: [{ id: "3001", name: "Ada" }],
};
const from = { "x-forwarded-for": "203.0.113.7" };
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const ANDROID = "a2,com.shop,1,1.0,13,Pixel,en_US,CET,carrier,1080,1920,2.5,8,128,64,Europe/Berlin";
const COOKIE = "abcdefghij0123456789AB";
const UUID = "123e4567-e89b-12d3-a456-426614174000";

const send = (plaza: TestPlaza, body: Record<string, unknown>, request: TestRequest = {}) =>
  plaza.post("/v26.0/1001/activities", { bearer: "1001|s3cret", headers: from, ...request, body });

const events = { event: "CUSTOM_APP_EVENTS", custom_events: [{ _eventName: "n" }] };
const right = { ...events, advertiser_id: "d" };

const entries = async (plaza: TestPlaza, app = SHOP) =>
  (await listEvents(plaza.world.database.reader, app, { name: undefined, since: undefined }, { limit: 100 })).rows.map(logEntry);

test.each([
  ["I1-6", "event", { event: "SOMETHING" }],
  ["I1-6", "event", { event: undefined }],
  ["I1-7", "application_tracking_enabled", { application_tracking_enabled: 2 }],
  ["I1-9", "advertiser_tracking_enabled", { advertiser_tracking_enabled: "yes" }],
  ["I1-13", "advertiser_id", { advertiser_id: { a: 1 } }],
  ["I1-13", "advertiser_id", { advertiser_id: "x".repeat(101) }],
  ["I1-14", "advertiser_id", { advertiser_id: undefined }],
  ["I1-14", "advertiser_id", { advertiser_id: "" }],
  ["I1-14", "advertiser_id", { advertiser_id: "00000000-0000-0000-0000-000000000000" }],
  ["I1-14, I1-30", "advertiser_id", { event: "MOBILE_APP_INSTALL", advertiser_id: undefined, custom_events: undefined }],
  ["ATTR-9", "attribution", { attribution: "short" }],
  ["ATTR-9", "attribution", { attribution: `${COOKIE}C` }],
  ["ATTR-9, D-70", "attribution", { attribution: UUID, extinfo: ANDROID }],
  ["ATTR-10, D-70", "attribution", { attribution: COOKIE, extinfo: ANDROID.replace("a2", "i2") }],
  ["I1-17", "custom_events", { custom_events: undefined }],
  ["I1-17", "custom_events", { custom_events: "{}" }],
  ["I1-17", "custom_events", { custom_events: [] }],
  ["I1-18", "ud", { ud: "text" }],
  ["I1-20", "extinfo", { extinfo: ANDROID.split(",").slice(1).join(",") }],
  ["I1-20", "extinfo", { extinfo: `${ANDROID},more` }],
  ["I1-20", "extinfo", { extinfo: "" }],
  ["I1-20", "extinfo[8]", { extinfo: ANDROID.replace("carrier", "") }],
  ["I1-21", "extinfo[0]", { extinfo: ANDROID.replace("a2", "b2") }],
  ["I1-20", "extinfo[8]", { extinfo: ANDROID.replace("carrier", "x".repeat(101)) }],
  ["I1-20", "extinfo[8]", { extinfo: ANDROID.split(",").map((value) => (value === "carrier" ? "a\u0000" : value)) }],
  ["I1-20", "extinfo[8]", { extinfo: ANDROID.split(",").map((value) => (value === "carrier" ? " " : value)) }],
  ["I1-20", "extinfo[8]", { extinfo: ANDROID.split(",").map((value) => (value === "carrier" ? true : value)) }],
  ["I1-19", "extinfo", { extinfo: { a: 1 } }],
  ["I1-18", "ud", { ud: "[]" }],
  ["I1-18", "ud", { ud: ["x"] }],
  ["D-70", "custom_events", { custom_events: Array.from({ length: 10_001 }, () => ({ _eventName: "n" })) }],
  ["I1-17", "custom_events_file", { custom_events: undefined, custom_events_file: "{}" }],
  ["I1-23", "consider_views", { consider_views: "perhaps" }],
])("%s: a wrong %s is refused", async (_clause, parameter, wrong) => {
  const plaza = await openPlaza({ world });
  const { status, body } = await send(plaza, Object.fromEntries(Object.entries({ ...right, ...wrong }).filter(([, value]) => value !== undefined)));
  expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 100, error_data: { parameter } } } });
  expect(body.error.message).toContain(parameter);
  expect(await entries(plaza)).toEqual([]);
});

test("I1-17: custom_events that are not JSON are refused, and the message names them", async () => {
  const plaza = await openPlaza({ world });
  const { status, body } = await send(plaza, { ...right, custom_events: "[{" });
  expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 100 } } });
  expect(body.error.message).toContain("custom_events");
  expect(await entries(plaza)).toEqual([]);
});

test("I1-15, I1-19 to I1-22: cookies and extinfo of both platforms are accepted", async () => {
  const plaza = await openPlaza({ world });
  for (const more of [
    { attribution: COOKIE },
    { attribution: UUID },
    { attribution: COOKIE, extinfo: ANDROID },
    { attribution: UUID, extinfo: ANDROID.replace("a2", "i2").split(",") },
    { advertiser_id: "d".repeat(100), attribution: "", ud: "" },
    { advertiser_id: "d", ud: null, extinfo: ANDROID.replace("carrier", "x".repeat(100)) },
    { advertiser_id: "d", extinfo: ` ${JSON.stringify(ANDROID.split(",").map((value) => (/^\d+$/.test(value) ? Number(value) : ` ${value} `)))}` },
  ])
    expect({ more, status: (await send(plaza, { ...events, ...more })).status }).toEqual({ more, status: 200 });
  expect((await entries(plaza))[0]?.extinfo).toEqual(ANDROID.split(","));
});

test("I1-17, D-34: events can be a list, its text, a text for each event, or a file in UTF-8", async () => {
  const plaza = await openPlaza({ world });
  const list = [{ _eventName: "a" }, { _eventName: "b" }];
  const inFile = (bytes: Uint8Array): TestRequest => ({
    files: new Map([["custom_events_file", { filename: "e.json", contentType: "application/json", bytes }]]),
  });
  const none = { ...right, custom_events: undefined };
  const text = JSON.stringify(list);
  for (const custom_events of [list, text, list.map((event) => ` ${JSON.stringify(event)}`)])
    expect((await send(plaza, { ...right, custom_events })).status).toBe(200);
  expect((await send(plaza, { ...none, custom_events_file: text })).status).toBe(200);
  expect((await send(plaza, none, inFile(new TextEncoder().encode(text)))).status).toBe(200);
  expect((await entries(plaza)).map(({ event_name }) => event_name)).toEqual(Array.from({ length: 5 }, () => ["b", "a"]).flat() as never);
  const refused = await send(plaza, none, inFile(Uint8Array.of(0x5b, 0xff, 0x5d)));
  expect(refused.body.error).toMatchObject({
    message: expect.stringContaining("is not valid UTF-8"),
    error_data: { parameter: "custom_events_file" },
  });
});

test("I1-25, I1-26, D-75: X-Forwarded-For must begin with an address", async () => {
  const plaza = await openPlaza({ world });
  for (const header of [undefined, "", "unknown", "1", "1.2.3", "1.2.3.256", "0x7f.0.0.1", "host.example", "1.2.3.4:80", ", 1.2.3.4"]) {
    const { status, body } = await send(plaza, right, { headers: header === undefined ? {} : { "x-forwarded-for": header } });
    expect({ header, status, parameter: body.error?.error_data?.parameter }).toEqual({ header, status: 400, parameter: "X-Forwarded-For" });
  }
  for (const header of ["203.0.113.7", "2001:db8::1", "::ffff:1.2.3.4", " 203.0.113.7 , 10.0.0.1"])
    expect({ header, status: (await send(plaza, right, { headers: { "x-forwarded-for": header } })).status }).toEqual({ header, status: 200 });
});

test("D-75: in clients a request without X-Forwarded-For is accepted, and a wrong one is refused", async () => {
  const plaza = await openPlaza({ world, profile: "clients" });
  for (const headers of [{}, { "x-forwarded-for": "" }]) expect((await send(plaza, right, { headers })).status).toBe(200);
  for (const entry of await entries(plaza)) expect(Object.keys(entry)).not.toContain("ip");
  const { status, body } = await send(plaza, right, { headers: { "x-forwarded-for": "unknown" } });
  expect({ status, parameter: body.error.error_data.parameter }).toEqual({ status: 400, parameter: "X-Forwarded-For" });
});

test("D-162: in clients flags of a request and of an event can also be booleans", async () => {
  const clients = await openPlaza({ world, profile: "clients" });
  const flags = { application_tracking_enabled: "true", advertiser_tracking_enabled: false };
  const more = { custom_events: [{ _eventName: "own", advertiser_tracking_enabled: true }, { _eventName: "others" }] };
  expect((await send(clients, { ...right, ...flags, ...more })).status).toBe(200);
  const shown = (await entries(clients)).map(({ event_name, application_tracking_enabled, advertiser_tracking_enabled }) => ({
    ...{ event_name, application_tracking_enabled, advertiser_tracking_enabled },
  }));
  expect(shown).toContainEqual({ event_name: "own", application_tracking_enabled: 1, advertiser_tracking_enabled: 1 });
  expect(shown).toContainEqual({ event_name: "others", application_tracking_enabled: 1, advertiser_tracking_enabled: 0 });
  const strict = await openPlaza({ world });
  for (const wrong of [{ application_tracking_enabled: true }, { advertiser_tracking_enabled: "false" }])
    expect((await send(strict, { ...right, ...wrong })).body.error.error_data).toEqual({ parameter: Object.keys(wrong)[0] });
  const ofEvent = { custom_events: [{ _eventName: "own", advertiser_tracking_enabled: true }] };
  expect((await send(strict, { ...right, ...ofEvent })).body.error.error_data.parameter).toBe("custom_events[0].advertiser_tracking_enabled");
});

test("UD-3, D-73: hashed user data are kept as sent, other values are dropped and counted", async () => {
  const plaza = await openPlaza({ world });
  const em = sha256("ada@example.com").toUpperCase();
  await send(plaza, { ...right, ud: { em, fn: "ada", ph: "4930" } });
  await send(plaza, { ...right, ud: JSON.stringify({ em }) });
  expect((await entries(plaza)).map(({ ud, dropped_user_data }) => ({ ud, dropped_user_data }))).toEqual([
    { ud: { em }, dropped_user_data: 0 },
    { ud: { em }, dropped_user_data: 2 },
  ]);
});

test("D-76: with application_tracking_enabled 0 the event counts, but neither user data nor the address are stored", async () => {
  const plaza = await openPlaza({ world });
  await send(plaza, { ...right, application_tracking_enabled: "0", ud: { em: sha256("a") } });
  const [entry] = await entries(plaza);
  expect(entry).toMatchObject({ event_name: "n", application_tracking_enabled: 0, ud: {} });
  expect(Object.keys(entry ?? {})).not.toContain("ip");
});

test("I1-11, D-76: advertiser_tracking_enabled is 1 by default, and an event's own value overrides it", async () => {
  const plaza = await openPlaza({ world });
  await send(plaza, right);
  await send(plaza, {
    ...right,
    advertiser_tracking_enabled: 0,
    custom_events: [{ _eventName: "n" }, { _eventName: "n", advertiser_tracking_enabled: 1 }],
  });
  expect((await entries(plaza)).map(({ advertiser_tracking_enabled }) => advertiser_tracking_enabled)).toEqual([1, 0, 1]);
});

test("AUTH-22, D-12: the app's own app token is accepted in any place, and no other token", async () => {
  const plaza = await openPlaza({ world });
  const app = await plaza.mint({ type: "app", app: SHOP });
  const user = await plaza.mint({ type: "user", app: SHOP, user: nodeId("3001") });
  const other = await plaza.mint({ type: "app", app: nodeId("1003") });
  const request = (more: TestRequest, body = {}) => plaza.post("/v26.0/1001/activities", { headers: from, ...more, body: { ...right, ...body } });
  for (const response of [await request({ bearer: app }), await request({ query: { access_token: app } }), await request({}, { access_token: app })])
    expect(response.status).toBe(200);
  expect((await request({ bearer: "1001|s3cret" })).status).toBe(200);
  expect((await request({ bearer: "1001|wrong" })).body.error).toMatchObject({ code: 190 });
  expect((await request({})).status).toBe(401);
  expect((await request({ bearer: user })).body.error).toMatchObject({ code: 190 });
  expect((await request({ bearer: other })).body.error).toMatchObject({ code: 100, error_subcode: 33 });
});

test("D-13 [clients]: an app may allow events without a token, in the clients profile only", async () => {
  for (const profile of ["strict", "clients"] as const) {
    const plaza = await openPlaza({ world, profile });
    const to = (app: string) => plaza.post(`/v26.0/${app}/activities`, { headers: from, body: right });
    expect((await to("1003")).status).toBe(profile === "clients" ? 200 : 401);
    expect((await to("1001")).status).toBe(401);
    expect((await plaza.get("/v26.0/1003/app_attribution", { query: { advertiser_id: "d" } })).status).toBe(401);
    await plaza.close();
  }
});

test("I1-2: every response, even an error, says that the interface is discouraged", async () => {
  const plaza = await openPlaza({ world });
  const responses = [
    await send(plaza, right),
    await send(plaza, {}),
    await send(plaza, right, { bearer: "unknown" }),
    await plaza.post("/v26.0/1001/activities"),
    await plaza.post("/v26.0/999999/activities", { bearer: "1001|s3cret" }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 400, 401, 401, 400]);
  for (const { headers } of responses) {
    expect(headers.deprecation).toMatch(/^@\d+$/);
    expect(headers.link).toContain('rel="deprecation"');
  }
});

test("I1-35: the test events show each event with its verdict, also live", async () => {
  const plaza = await openPlaza({ world });
  const view = testEventsOf(plaza.world);
  const live: string[] = [];
  const stop = view.follow(SHOP, (seen) => live.push(...seen.map(({ verdict }) => verdict)));
  const twice = [
    { _eventName: "a", event_id: "1" },
    { _eventName: "a", event_id: "1" },
  ];
  await send(plaza, { ...right, custom_events: twice, ud: { em: "not hashed" } });
  const wrong = { custom_events: [{ _eventName: "b" }, { _eventName: "b", pf_success: 9 }], ud: { em: "no", ph: "no" } };
  const refused = await send(plaza, { ...right, ...wrong });
  stop();
  await send(plaza, { event: "MOBILE_APP_INSTALL", advertiser_id: "d" });
  expect(live).toEqual(["accepted", "duplicate", "refused", "refused"]);
  expect(view.list(SHOP).map(({ event, event_name, verdict, dropped_user_data }) => ({ event, event_name, verdict, dropped_user_data }))).toEqual([
    { event: "MOBILE_APP_INSTALL", event_name: undefined, verdict: "accepted", dropped_user_data: 0 },
    { event: "CUSTOM_APP_EVENTS", event_name: "b", verdict: "refused", dropped_user_data: 2 },
    { event: "CUSTOM_APP_EVENTS", event_name: "b", verdict: "refused", dropped_user_data: 2 },
    { event: "CUSTOM_APP_EVENTS", event_name: "a", verdict: "accepted", dropped_user_data: 1 },
    { event: "CUSTOM_APP_EVENTS", event_name: "a", verdict: "duplicate", dropped_user_data: 1 },
  ]);
  expect(view.list(SHOP)[1]?.reason).toBe(refused.body.error.message);
  expect(refused.body.error.message).toContain("custom_events[1].pf_success");
  expect(view.list(nodeId("1003"))).toEqual([]);
  await send(plaza, { ...right, ud: "text" });
  expect(view.list(SHOP)[0]).toMatchObject({ event_name: "n", verdict: "refused", dropped_user_data: 0 });
  await send(plaza, { ...right, event: "MOBILE_APP_INSTALL", attribution: "short" });
  const [install, next] = view.list(SHOP);
  expect([install?.event, install?.event_name, install?.verdict, next?.event_name]).toEqual(["MOBILE_APP_INSTALL", undefined, "refused", "n"]);
});
