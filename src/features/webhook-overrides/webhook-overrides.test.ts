import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { exportWorld, importWorld } from "#graph/worlds/file/import-export";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { changeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";

const scopes = ["chatapp_business_management"];
const world = {
  ...cafe,
  users: [...cafe.users, { id: "3004" }],
  apps: [
    {
      id: "1001",
      name: "Shop",
      secret: "s3cret",
      callback: { url: "http://127.0.0.1:9/default", verify_token: "v" },
      roles: [
        { user: "3001", role: "developer" },
        { user: "3003", role: "analyst" },
      ],
    },
    { id: "1002", name: "Other", secret: "0ther" },
    { id: "1003", name: "Stranger" },
  ],
  businesses: [{ id: "3501", people: [{ user: "3002" }] }],
  chatapp_accounts: [
    {
      id: "4001",
      name: "Cafe chat",
      business: "3501",
      subscribed_apps: [{ app: "1001" }, { app: "1002", override_callback_uri: "https://other.example/hook" }],
    },
    { id: "4002", name: "Theirs", subscribed_apps: [{ app: "1002" }] },
    { id: "4003", name: "Of no business", subscribed_apps: [{ app: "1001" }] },
    { id: "4004", name: "Of no app" },
  ],
  phone_numbers: [
    { id: "4101", account: "4001", display_phone_number: "+49 30 1", verified_name: "Cafe" },
    { id: "4102", account: "4001", overrides: [{ app: "1002", override_callback_uri: "https://other.example/phone" }] },
  ],
  tokens: [
    ...cafe.tokens,
    { token: "wa", type: "system_user", app: "1001", user: "3001", scopes },
    { token: "other-wa", type: "user", app: "1002", user: "3002", scopes },
    { token: "of-business", type: "user", app: "1001", user: "3002", scopes },
    { token: "of-analyst", type: "system_user", app: "1001", user: "3003", scopes },
    { token: "of-nobody", type: "user", app: "1001", user: "3004", scopes },
    { token: "stranger-wa", type: "user", app: "1003", user: "3002", scopes },
    { token: "scopeless", type: "user", app: "1001", user: "3001", scopes: [] },
  ],
};

const proofOf = (token: string) => createHmac("sha256", "s3cret").update(token).digest("hex");
const onAccount = "/v26.0/4001/subscribed_apps";
const set = (plaza: TestPlaza, body: Record<string, unknown>, bearer = "wa", path = onAccount) => plaza.post(path, { bearer, body });
const setNumber = (plaza: TestPlaza, webhook_configuration: unknown, bearer = "wa") =>
  plaza.post("/v26.0/4101", { bearer, body: { webhook_configuration } });
const configuration = async (plaza: TestPlaza, bearer = "wa", number = "4101") =>
  (await plaza.get(`/v26.0/${number}`, { bearer, query: { fields: "webhook_configuration" } })).body.webhook_configuration;
const overrideInList = async (plaza: TestPlaza, app = "1001") =>
  (await plaza.get(onAccount, { bearer: "wa" })).body.data.find(
    (entry: { chatapp_business_api_data: { id: string } }) => entry.chatapp_business_api_data.id === app,
  ).override_callback_uri;
const problem = ({ status, body }: { status: number; body: { error: { code: number; error_data?: { parameter?: string } } } }) => [
  status,
  body.error.code,
  body.error.error_data?.parameter,
];

onEachDatabase("webhook overrides", (database) => {
  const open = (options = {}) => openPlaza({ database, world, ...options });

  test("H1, H2, H3: an account's override is verified, listed, and removed", async () => {
    const plaza = await open();
    const receiver = startReceiver();
    const uri = `${receiver.url}?keep=%C3%BC&x`;
    expect((await set(plaza, { override_callback_uri: uri, verify_token: "to ken/ü" })).body).toEqual({ success: true });
    expect(receiver.handshakes).toEqual([{ mode: "subscribe", verifyToken: "to ken/ü" }]);
    expect((await plaza.get(onAccount, { bearer: "wa" })).body.data).toEqual([
      {
        chatapp_business_api_data: { id: "1002", link: "http://plaza.test/1002", name: "Other" },
        override_callback_uri: "https://other.example/hook",
      },
      { chatapp_business_api_data: { id: "1001", link: "http://plaza.test/1001", name: "Shop" }, override_callback_uri: uri },
    ]);
    // If a page of the list has only one app, the response still shows this app's own override.
    const { data } = (await plaza.get(onAccount, { bearer: "wa", query: { limit: "1" } })).body;
    expect(data).toMatchObject([{ override_callback_uri: "https://other.example/hook" }]);
    expect((await set(plaza, {})).body).toEqual({ success: true });
    expect(await overrideInList(plaza)).toBeUndefined();
    expect((await set(plaza, {})).body).toEqual({ success: true });
  });

  test("H4, H5, H6: a number's override is set, removed, and read with the account's and the app's callbacks", async () => {
    const plaza = await open();
    const receiver = startReceiver();
    expect(await configuration(plaza)).toEqual({ application: "http://127.0.0.1:9/default" });
    const override_callback_uri = receiver.url;
    expect((await setNumber(plaza, { override_callback_uri, verify_token: "v" })).body).toEqual({ success: true });
    await set(plaza, { override_callback_uri: `${override_callback_uri}/account`, verify_token: "v" });
    expect(await configuration(plaza)).toEqual({
      phone_number: override_callback_uri,
      chatapp_business_account: `${override_callback_uri}/account`,
      application: "http://127.0.0.1:9/default",
    });
    expect(await configuration(plaza, "other-wa")).toEqual({ chatapp_business_account: "https://other.example/hook" });
    expect((await set(plaza, {})).status).toBe(200);
    expect((await configuration(plaza)).phone_number).toBe(override_callback_uri);
    for (let i = 0; i < 2; i++) expect((await setNumber(plaza, { override_callback_uri: "" })).body).toEqual({ success: true });
    expect(await configuration(plaza)).toEqual({ application: "http://127.0.0.1:9/default" });
    expect((await plaza.get("/v26.0/4101", { bearer: "wa" })).body).toEqual({ id: "4101", display_phone_number: "+49 30 1", verified_name: "Cafe" });
  });

  test("H3, D-57: only a POST without parameters removes the override; any parameter is refused by name, and the override stays", async () => {
    for (const profile of ["strict", "clients"] as const) {
      const plaza = await open({ profile });
      const uri = startReceiver().url;
      await set(plaza, { override_callback_uri: uri, verify_token: "v" });
      const wrong: [string, { body?: Record<string, unknown>; query?: Record<string, unknown> }][] = [
        ["override_callback_uri", { body: { override_callback_uri: null } }],
        ["override_callback_uri", { body: { override_callback_uri: null, verify_token: null } }],
        ["override_callback_uri", { body: { override_callback_uri: "" } }],
        ["override_callback_uri", { body: { override_callback_uri: [uri], verify_token: "v" } }],
        ["verify_token", { body: { verify_token: null } }],
        ["override_callback_url", { body: { override_callback_url: uri, verifyToken: "v" } }],
        ["webhook_configuration", { body: { webhook_configuration: { override_callback_uri: uri, verify_token: "v" } } }],
        ["Fields", { body: { Fields: "id" } }],
        ["", { body: { "": "" } }],
        ["😀", { body: { "😀": 1 } }],
        ["override_callback_uris", { query: { override_callback_uris: uri } }],
        // The request refuses parameters that select from a list or a node, because its response contains neither.
        ...["limit", "after", "before", "fields", "ids"].map((name): (typeof wrong)[number] => [name, { query: { [name]: "1" } }]),
        ["limit", { body: { limit: 1 } }],
        ["subscribed_fields", { query: { subscribed_fields: "messages" }, body: { debug: "all" } }],
      ];
      for (const [parameter, sent] of wrong) {
        expect({ sent, problem: problem(await plaza.post(onAccount, { bearer: "wa", ...sent })) }).toEqual({ sent, problem: [400, 100, parameter] });
      }
      const misspelt = await set(plaza, { override_callback_url: uri });
      expect(misspelt.body.error.message).toContain("did you mean override_callback_uri?");
      expect(await overrideInList(plaza)).toBe(uri);
      const general = { method: "post", debug: "all", metadata: "1", migrations_override: "{}", pretty: "1", locale: "de_DE", access_token: "wa" };
      expect((await plaza.post(onAccount, { bearer: "wa", query: { appsecret_proof: proofOf("wa") }, body: general })).status).toBe(200);
      expect(await overrideInList(plaza)).toBeUndefined();
    }
  });

  test("H3, D-57: a file counts as a parameter", async () => {
    const plaza = await open();
    const uri = startReceiver().url;
    await set(plaza, { override_callback_uri: uri, verify_token: "v" });
    const bytes = new Uint8Array([118]);
    const files = new Map([["verify_token", { filename: "v", contentType: "text/plain", bytes }]]);
    expect(problem(await plaza.post(onAccount, { bearer: "wa", files }))).toEqual([400, 100, "verify_token"]);
    expect(await overrideInList(plaza)).toBe(uri);
  });

  test("D-305: only a person of the account's business, or an administrator or developer of the app, redirects its webhooks", async () => {
    const plaza = await open();
    const { url, handshakes } = startReceiver();
    const attempts = (bearer: string, account = "4001") => [
      () => set(plaza, { override_callback_uri: url, verify_token: "v" }, bearer, `/v26.0/${account}/subscribed_apps`),
      () => set(plaza, {}, bearer, `/v26.0/${account}/subscribed_apps`),
      ...(account === "4001"
        ? [
            () => setNumber(plaza, { override_callback_uri: url, verify_token: "v" }, bearer),
            () => setNumber(plaza, { override_callback_uri: "" }, bearer),
          ]
        : []),
    ];
    const codes = async (bearer: string, account?: string) => {
      const responses = [];
      for (const attempt of attempts(bearer, account)) {
        const { status, body } = await attempt();
        responses.push(status === 200 ? status : { status, code: body.error.code });
      }
      return responses;
    };
    const denied = { status: 403, code: 200 };
    expect(await codes("of-analyst")).toEqual([denied, denied, denied, denied]);
    expect(handshakes).toEqual([]);
    expect(await codes("of-business")).toEqual([200, 200, 200, 200]);
    expect(await codes("wa")).toEqual([200, 200, 200, 200]);
    expect(await codes("of-business", "4003")).toEqual([denied, denied]);
    expect(await codes("wa", "4003")).toEqual([200, 200]);
    expect(await configuration(plaza, "of-analyst")).toEqual({ application: "http://127.0.0.1:9/default" });
    await changeEntry(plaza, "businesses", "3501", { people: [] });
    await changeEntry(plaza, "apps", "1001", { roles: [{ user: "3003", role: "administrator" }] });
    expect(await codes("of-business")).toEqual([denied, denied, denied, denied]);
    expect(await codes("wa")).toEqual([denied, denied, denied, denied]);
    expect(await codes("of-analyst")).toEqual([200, 200, 200, 200]);
  });

  test("H1-3 to H1-6, H4-3 to H4-6: parameters are required, addresses have at most 200 characters, tokens have no limit", async () => {
    const plaza = await open();
    const { url } = startReceiver();
    const long = (length: number) => `${url}?${"x".repeat(length - url.length - 1)}`;
    expect((await set(plaza, { override_callback_uri: long(200), verify_token: "v".repeat(10_000) })).status).toBe(200);
    expect(problem(await set(plaza, { override_callback_uri: long(201), verify_token: "v" }))).toEqual([400, 100, "override_callback_uri"]);
    expect(problem(await set(plaza, { override_callback_uri: url }))).toEqual([400, 100, "verify_token"]);
    expect(problem(await set(plaza, { verify_token: "v" }))).toEqual([400, 100, "override_callback_uri"]);
    expect(problem(await set(plaza, { override_callback_uri: "", verify_token: "v" }))).toEqual([400, 100, "override_callback_uri"]);
    expect(problem(await setNumber(plaza, { override_callback_uri: long(201), verify_token: "v" }))).toEqual([
      400,
      100,
      "webhook_configuration.override_callback_uri",
    ]);
    expect(problem(await setNumber(plaza, { override_callback_uri: url }))).toEqual([400, 100, "webhook_configuration.verify_token"]);
    expect(problem(await setNumber(plaza, { verify_token: "v" }))).toEqual([400, 100, "webhook_configuration.override_callback_uri"]);
    expect(problem(await plaza.post("/v26.0/4101", { bearer: "wa" }))).toEqual([400, 100, "webhook_configuration"]);
    expect(await overrideInList(plaza)).toBe(long(200));
  });

  test("ROUTE-27, D-61: a callback that fails the handshake changes nothing", async () => {
    const plaza = await open();
    const good = startReceiver();
    await set(plaza, { override_callback_uri: good.url, verify_token: "v" });
    const failing: [string, number][] = [
      [startReceiver(() => new Response("wrong")).url, 2201],
      [startReceiver((challenge) => new Response(challenge, { status: 500 })).url, 2200],
      [startReceiver((challenge) => new Response(challenge, { status: 302, headers: { location: good.url } })).url, 2200],
      ["http://127.0.0.1:1/closed", 2200],
      ["ftp://127.0.0.1/", 2200],
      ["http://10.0.0.1/", 2200],
      ["not an address", 2200],
    ];
    for (const [uri, code] of failing) {
      for (const response of [
        await set(plaza, { override_callback_uri: uri, verify_token: "v" }),
        await setNumber(plaza, { override_callback_uri: uri, verify_token: "v" }),
      ]) {
        expect({ uri, status: response.status, code: response.body.error.code }).toEqual({ uri, status: 400, code });
      }
    }
    expect(await overrideInList(plaza)).toBe(good.url);
    expect((await configuration(plaza)).phone_number).toBeUndefined();
  });

  test("AUTH-20, AUTH-21: a bearer token with the scope, of a subscribed app, is accepted; for others the account does not exist", async () => {
    const plaza = await open();
    for (const path of [onAccount, "/v26.0/4101"]) {
      for (const method of ["GET", "POST"]) {
        const request = { body: method === "POST" && path !== onAccount ? { webhook_configuration: { override_callback_uri: "" } } : {} };
        expect((await plaza.request(method, path, { ...request, bearer: "stranger-wa" })).body.error.error_subcode).toBe(33);
        expect((await plaza.request(method, path, { ...request, bearer: "scopeless" })).body.error.code).toBe(10);
        expect((await plaza.request(method, path, { ...request, query: { access_token: "wa" } })).body.error.code).toBe(104);
      }
    }
    expect((await set(plaza, {}, "wa", "/v26.0/4002/subscribed_apps")).body.error.error_subcode).toBe(33);
  });

  test("D-305 [clients]: a person who works for the account's business subscribes the app with H3; H1 does not subscribe it", async () => {
    const plaza = await open({ profile: "clients" });
    const { url, handshakes } = startReceiver();
    expect((await set(plaza, { override_callback_uri: url, verify_token: "v" }, "stranger-wa")).status).toBe(400);
    expect(handshakes).toEqual([]);
    expect((await set(plaza, {}, "stranger-wa")).body).toEqual({ success: true });
    expect((await set(plaza, { override_callback_uri: url, verify_token: "v" }, "stranger-wa")).body).toEqual({ success: true });
    expect(await overrideInList(plaza, "1003")).toBe(url);
  });

  test("D-305 [clients]: for a person who does not work for the account's business, an account to which the app is not subscribed does not exist", async () => {
    const plaza = await open({ profile: "clients" });
    // The person in this test works only for the business of the account 4001. The developer of the app 1001 works for neither of the two businesses.
    for (const [bearer, account] of [
      ["stranger-wa", "4002"],
      ["wa", "4002"],
      ["wa", "4004"],
      ["of-analyst", "4004"],
    ] as const) {
      const refused = await set(plaza, {}, bearer, `/v26.0/${account}/subscribed_apps`);
      const missing = await set(plaza, {}, bearer, "/v26.0/4999/subscribed_apps");
      const { pftrace_id: _, ...error } = refused.body.error;
      expect({ bearer, account, error: JSON.stringify(error).replaceAll(account, "4999") }).toEqual({
        ...{ bearer, account },
        error: JSON.stringify({ ...missing.body.error, pftrace_id: undefined }),
      });
    }
    expect(await plaza.world.ports.get("chatapp_account").subscribedApps(plaza.world.database.reader, nodeId("4004"))).toEqual([]);
  });

  for (const profile of ["strict", "clients"] as const) {
    test(`D-305 [${profile}]: a person without a role in the app or on the account does not end its subscription`, async () => {
      const plaza = await open({ profile });
      const end = (bearer: string) => plaza.delete(onAccount, { bearer });
      for (const bearer of ["of-analyst", "of-nobody"]) {
        const { status, body } = await end(bearer);
        expect({ bearer, status, code: body.error.code }).toEqual({ bearer, status: 403, code: 200 });
      }
      expect(await overrideInList(plaza, "1002")).toBe("https://other.example/hook");
      expect((await end("of-business")).body).toEqual({ success: true });
      await changeEntry(plaza, "chatapp_accounts", "4001", { subscribed_apps: [{ app: "1001" }] });
      expect((await end("wa")).body).toEqual({ success: true });
    });
  }

  test("D-305: in strict an app that is not subscribed stays so; the control API and the world file subscribe it", async () => {
    const plaza = await open();
    expect((await set(plaza, {}, "stranger-wa")).body.error.error_subcode).toBe(33);
    await changeEntry(plaza, "chatapp_accounts", "4001", { subscribed_apps: [{ app: "1001" }, { app: "1003" }] });
    expect((await set(plaza, {}, "stranger-wa")).body).toEqual({ success: true });
  });

  test("D-60: an app that ends its subscription loses its overrides and can no longer see the account", async () => {
    const plaza = await open();
    expect((await plaza.delete(onAccount, { bearer: "other-wa" })).body).toEqual({ success: true });
    expect((await plaza.get("/v26.0/4102", { bearer: "other-wa" })).body.error.error_subcode).toBe(33);
    expect((await plaza.get(onAccount, { bearer: "wa" })).body.data).toHaveLength(1);
    const file = await exportWorld(plaza.world, plaza.registry);
    expect(JSON.stringify(file)).not.toContain("other.example");
  });

  test("D-59: accounts and their numbers can be read", async () => {
    const plaza = await open();
    expect((await plaza.get("/v26.0/4001", { bearer: "wa" })).body).toEqual({ id: "4001", name: "Cafe chat" });
    expect((await plaza.get("/v26.0/4001/phone_numbers", { bearer: "wa", query: { fields: "display_phone_number", limit: "1" } })).body.data).toEqual(
      [{ display_phone_number: "", id: "4102" }],
    );
  });

  test("an exported world is imported unchanged", async () => {
    const plaza = await open();
    const file = await exportWorld(plaza.world, plaza.registry);
    const again = await openPlaza({ database });
    await importWorld(again.world, again.registry, JSON.stringify(file), { isMerge: false });
    const loaded = await exportWorld(again.world, again.registry);
    expect({ chatapp_accounts: loaded.chatapp_accounts, phone_numbers: loaded.phone_numbers }).toEqual({
      chatapp_accounts: file.chatapp_accounts,
      phone_numbers: file.phone_numbers,
    });
  });
});
