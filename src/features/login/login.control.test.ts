import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";

const world = {
  apps: [{ id: "1001", name: "Shop", secret: "s3cret" }],
  users: [{ id: "3001", name: "Ada" }],
  pages: [{ id: "2001", name: "Cafe", roles: [{ user: "3001", tasks: ["MESSAGING"] }] }],
  social_accounts: [{ id: "5001", username: "cafe", user: "3001", professional: true }],
};

onEachDatabase("logging in by the control API", (database) => {
  const open = () => openControl({ database, world, profile: "clients" });

  test("D-388: a login gives a token of the person with the granted permissions, which the person can list and take back", async () => {
    const { request, plaza } = await open();
    const { status, body } = await request("POST", "in-app/login", { app: "1001", user: "3001", scopes: ["pages_show_list"] });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        ...{ access_token: expect.stringMatching(/^PLZ/), token_type: "bearer", expires_in: 5_184_000, app: "1001", user: "3001" },
        scopes: ["public_profile", "pages_show_list"],
      },
    });
    const bearer = body.access_token;
    expect((await plaza.get("/v26.0/me/accounts", { bearer })).body.data).toMatchObject([{ id: "2001" }]);
    expect((await plaza.get("/v26.0/me/permissions", { bearer })).body.data).toEqual([
      { permission: "pages_show_list", status: "granted" },
      { permission: "public_profile", status: "granted" },
    ]);
    expect((await plaza.delete("/v26.0/me/permissions", { bearer })).body).toEqual({ success: true });
    expect((await plaza.get("/v26.0/me", { bearer })).status).toBe(401);
    const later = await request("POST", "in-app/login", { app: "1001", user: "3001", scopes: ["pages_show_lst"] });
    expect(later.body.warnings).toEqual([expect.stringContaining("pages_show_list")]);
    // A token that was requested without scopes may do everything that a token of its type can do.
    const all = await request("POST", "in-app/login", { app: "1001", social_account: "5001" });
    expect(all.body).toMatchObject({ social_account: "5001", scopes: expect.arrayContaining(["social_business_basic", "pages_messaging"]) });
    expect(all.body).not.toHaveProperty("warnings");
  });

  test("D-388: a login of nobody, or at no app, is refused", async () => {
    const { request } = await open();
    const refusal = async (body: object) => (await request("POST", "in-app/login", body)).body.error;
    expect(await refusal({ app: "1002", user: "3001" })).toMatchObject({ code: "unprocessable", parameter: "app" });
    expect(await refusal({ app: "1001", user: "5001" })).toMatchObject({ code: "unprocessable", parameter: "user" });
    expect(await refusal({ app: "1001", social_account: "3001" })).toMatchObject({ code: "unprocessable", parameter: "social_account" });
    expect(await refusal({ app: "1001" })).toMatchObject({ code: "bad_request", parameter: "user" });
    expect(await refusal({ app: "1001", user: "3001", social_account: "5001" })).toMatchObject({ code: "bad_request", parameter: "user" });
    expect(await refusal({ app: "1001", user: "3001", scopes: ["A B"] })).toMatchObject({ code: "bad_request", parameter: "scopes[0]" });
  });
});
