import { expect, test } from "bun:test";
import { onEachDatabase, openPlaza, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const world = {
  ...cafe,
  apps: cafe.apps.map((app) => ({ ...app, roles: [{ microblog_user: "7001", role: "microblog_tester" }] })),
  microblog_users: [{ id: "7001", username: "cafe_talk", user: "3001" }, { id: "7002" }],
  tokens: [
    ...cafe.tokens,
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
    expect((await ask(plaza, { access_token: "tester", input_token: "1001|s3cret" })).body.data.type).toBe("APP");
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
    plaza.time.realMs = 1_796_000_000_000;
    expect((await ask(plaza, { access_token: "tester", input_token: "stranger" })).body.data.is_valid).toBe(false);
  });

  test("F3-14: a token of another app is refused", async () => {
    const plaza = await open();
    const { status, body } = await ask(plaza, { access_token: "tester", input_token: "other-app" });
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 100, error_data: { parameter: "input_token" } } } });
  });

  test("AUTH-16: only a microblog tester may inspect tokens", async () => {
    const plaza = await open();
    expect((await ask(plaza, { access_token: "stranger", input_token: "tester" })).status).toBe(403);
    // Who may not ask learns nothing of parameters.
    expect((await ask(plaza, { access_token: "stranger" })).status).toBe(403);
    expect((await ask(plaza, { access_token: "1001|s3cret" })).status).toBe(401);
    expect((await ask(plaza, { access_token: "ada", input_token: "tester" })).status).toBe(401);
    expect((await ask(plaza, { access_token: "app", input_token: "tester" })).status).toBe(401);
    expect((await ask(plaza, { input_token: "tester" })).body.error.code).toBe(104);
    expect((await ask(plaza, { access_token: "tester" })).body.error.error_data.parameter).toBe("input_token");
  });

  test("D-55: the main host serves it only in the clients profile, where app tokens are accepted", async () => {
    expect((await ask(await open(), { access_token: "tester", input_token: "tester" }, "base")).body.error.code).toBe(2500);
    const plaza = await open({ profile: "clients" });
    expect((await ask(plaza, { access_token: "app", input_token: "tester" }, "base")).body.data.is_valid).toBe(true);
  });
});
