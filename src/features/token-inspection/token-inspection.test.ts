import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const world = {
  ...cafe,
  apps: cafe.apps.map((app) => ({
    ...app,
    roles: [
      { microblog_user: "7001", role: "microblog_tester" },
      ...["administrator", "developer", "tester", "analyst"].map((role) => ({ microblog_user: "7002", role })),
      // The next microblog user is a tester only of the app that does not own the token.
      ...(app.id === "1002" ? [{ microblog_user: "7003", role: "microblog_tester" }] : []),
    ],
  })),
  microblog_users: [{ id: "7001", username: "cafe_talk", user: "3001" }, { id: "7002" }, { id: "7003", user: "3001" }],
  social_accounts: [{ id: "6001", user: "3001" }],
  tokens: [
    ...cafe.tokens,
    { token: "elsewhere", type: "microblog_user", app: "1001", microblog_user: "7003", scopes: ["microblog_basic"] },
    { token: "social", type: "social_user", app: "1001", social_account: "6001", scopes: ["social_basic"] },
    { token: "nobodys", type: "page", app: "1001", page: "2001" },
    { token: "system", type: "system_user", app: "1001", user: "3002" },
    { token: "tester", type: "microblog_user", app: "1001", microblog_user: "7001", scopes: ["microblog_basic"] },
    {
      token: "stranger",
      type: "microblog_user",
      app: "1001",
      microblog_user: "7002",
      issued_at: 5,
      expires_at: 1796000000,
      scopes: ["microblog_basic"],
    },
  ],
};

const withAdministrator = (app: (typeof world.apps)[number]) => ({ ...app, roles: [...app.roles, { user: "3002", role: "administrator" }] });

const ask = (plaza: TestPlaza, query: Record<string, string>, surface: "microblog" | "base" = "microblog") =>
  plaza.get("/debug_token", { surface, query });

onEachDatabase("token inspection", (database) => {
  const open = (options = {}) => openPlaza({ database, world, ...options });

  test("F3: a tester can inspect another user's token of the same app", async () => {
    const plaza = await open();
    const { status, body } = await ask(plaza, { access_token: "tester", input_token: "stranger" });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      type: "USER",
      application: "Shop",
      data_access_expires_at: 0,
      expires_at: 1796000000,
      is_valid: true,
      issued_at: 5,
      scopes: ["microblog_basic"],
      user_id: "7002",
    });
  });

  test("F3-2: the owner of a token is its user, microblog user or social account; an app's token and a page's token without a person have none", async () => {
    const plaza = await open();
    const ownerOf = async (input_token: string) => {
      const { type, user_id } = (await ask(plaza, { access_token: "tester", input_token })).body.data;
      return { type, user_id };
    };
    expect(await ownerOf("ada")).toEqual({ type: "USER", user_id: "3001" });
    expect(await ownerOf("tester")).toEqual({ type: "USER", user_id: "7001" });
    expect(await ownerOf("social")).toEqual({ type: "USER", user_id: "6001" });
    expect(await ownerOf("system")).toEqual({ type: "SYSTEM_USER", user_id: "3002" });
    expect(await ownerOf("page")).toEqual({ type: "PAGE", user_id: "3001" });
    expect(await ownerOf("nobodys")).toEqual({ type: "PAGE", user_id: undefined });
    for (const token of ["app", "1001|s3cret"]) expect(await ownerOf(token)).toEqual({ type: "APP", user_id: undefined });
  });

  test("F3, D-55: invalid and unknown tokens are 200 responses with is_valid false", async () => {
    const plaza = await open();
    for (const input_token of ["nobody knows", "expired", "1001|wrong", "💥", "x".repeat(2000)]) {
      const { status, body } = await ask(plaza, { access_token: "tester", input_token });
      expect({ status, body }).toMatchObject({ status: 200, body: { data: { is_valid: false } } });
    }
  });

  test("F3-6: a token becomes invalid when the clock passes its expiry", async () => {
    const plaza = await open();
    const isValid = async () => (await ask(plaza, { access_token: "tester", input_token: "stranger" })).body.data.is_valid;
    plaza.time.realMs = 1_795_999_999_999;
    expect(await isValid()).toBe(true);
    plaza.time.realMs++;
    expect(await isValid()).toBe(false);
  });

  test("F3-14: a token of another app is refused", async () => {
    const plaza = await open();
    const { status, body } = await ask(plaza, { access_token: "tester", input_token: "other-app" });
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 100, error_data: { parameter: "input_token" } } } });
  });

  test("AUTH-16: only a microblog tester of the app can inspect tokens, not its other roles or another app's testers", async () => {
    const plaza = await open();
    for (const access_token of ["stranger", "elsewhere"])
      expect(await ask(plaza, { access_token, input_token: "tester" })).toMatchObject({ status: 403, body: { error: { code: 200 } } });
    // A caller who may not inspect tokens gets an error that says nothing about the parameters of the request.
    expect((await ask(plaza, { access_token: "stranger" })).status).toBe(403);
    expect((await ask(plaza, { access_token: "1001|s3cret" })).status).toBe(401);
    expect((await ask(plaza, { access_token: "ada", input_token: "tester" })).status).toBe(401);
    expect((await ask(plaza, { access_token: "app", input_token: "tester" })).status).toBe(401);
    expect((await ask(plaza, { input_token: "tester" })).body.error.code).toBe(104);
    expect((await ask(plaza, { access_token: "tester" })).body.error.error_data.parameter).toBe("input_token");
  });

  test("D-55: in clients, a person inspects tokens of their own, and an administrator of the app all of the app's", async () => {
    const plaza = await openPlaza({ database, profile: "clients", world: { ...world, apps: world.apps.map(withAdministrator) } });
    const statusOf = async (access_token: string, input_token: string) => (await ask(plaza, { access_token, input_token }, "base")).status;
    expect({ own: await statusOf("ada", "ada"), page: await statusOf("ada", "page") }).toEqual({ own: 200, page: 200 });
    expect(await ask(plaza, { access_token: "ada", input_token: "stranger" }, "base")).toMatchObject({ status: 403, body: { error: { code: 200 } } });
    expect(await statusOf("ada", "nobody knows")).toBe(403);
    for (const input_token of ["ada", "stranger", "app", "nobody knows"]) expect(await statusOf("system", input_token)).toBe(200);
    expect(await statusOf("system", "other-app")).toBe(400);
  });

  test("D-55: in clients, the response says why a token is not valid", async () => {
    const plaza = await open({ profile: "clients" });
    const errorOf = async (input_token: string) => (await ask(plaza, { access_token: "app", input_token }, "base")).body.data.error;
    expect(await errorOf("tester")).toBeUndefined();
    expect(await errorOf("expired")).toEqual({ code: 190, subcode: 463, message: expect.stringContaining("has expired") });
    expect(await errorOf("nobody knows")).toEqual({ code: 190, message: expect.stringContaining("is not known") });
    expect((await ask(await open(), { access_token: "tester", input_token: "expired" })).body.data).not.toHaveProperty("error");
  });

  test("D-55: the main host serves it only in the clients profile, where app tokens are accepted", async () => {
    expect((await ask(await open(), { access_token: "tester", input_token: "tester" }, "base")).body.error.code).toBe(2500);
    const plaza = await open({ profile: "clients" });
    expect((await ask(plaza, { access_token: "app", input_token: "tester" }, "base")).body.data.is_valid).toBe(true);
  });
});
