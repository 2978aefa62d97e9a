import { expect, test } from "bun:test";
import type { Token } from "#auth/token";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { expectUnreadable, openPlaza } from "#harness/plaza";
import { changeEntry, expectLifeOfEntry, expectRoundTrip, findEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { canSeeAccount } from "./social-accounts.api.ts";

const account = { id: "6001", username: "cafe", social_scoped_id: "6901", page: "2001", user: "3001", professional: true, app_connections: ["1001"] };
const scopes = ["social_basic", "social_manage_comments", "pages_read_engagement"];
const world = {
  ...cafe,
  social_accounts: [account],
  tokens: [
    ...cafe.tokens,
    { token: "own", type: "social_user", app: "1001", social_account: "6001" },
    { token: "tags", type: "user", app: "1001", user: "3001", scopes },
  ],
};

onEachDatabase("social accounts", (database) => {
  const open = () => openPlaza({ database, world });

  test("an account is created, updated and removed by a world file entry", async () => {
    const plaza = await open();
    await expectLifeOfEntry(
      plaza,
      "social_accounts",
      { ...account, id: "6002", social_scoped_id: "6902" },
      { username: "bar", page: "2002", social_scoped_id: "6903" },
    );
    await expectRoundTrip(plaza);
  });

  test("an account's social-scoped id is its own, and a removed app is removed from it", async () => {
    const { plaza, request } = await openControl({
      database,
      world: {
        ...world,
        social_accounts: [
          { ...account, app_connections: ["1001", "1002"] },
          { id: "6002", social_scoped_id: "6902" },
        ],
      },
    });
    expect(await findEntry(plaza, "social_accounts", "6002")).toMatchObject({ username: "", professional: true, app_connections: [] });
    await expect(changeEntry(plaza, "social_accounts", "6002", { social_scoped_id: "6901" })).rejects.toThrow("6901 is already in use");
    expect(await findEntry(plaza, "social_accounts", "6002")).toMatchObject({ social_scoped_id: "6902" });
    const merged = await request("POST", "import", { social_accounts: [{ id: "6003", social_scoped_id: "6901" }] });
    expect(merged.body).toMatchObject({ error: { message: expect.stringContaining("6003 is taken") } });
    expect((await request("DELETE", "nodes/apps/1001")).status).toBe(200);
    expect(await findEntry(plaza, "social_accounts", "6001")).toMatchObject({ app_connections: ["1002"] });
  });

  test("D-165: permitted callers read an account on both of its hosts; its social-scoped id cannot be read", async () => {
    const plaza = await open();
    const shown = { id: "6001", username: account.username };
    for (const id of ["6001", "me"]) expect((await plaza.get(`/v26.0/${id}`, { bearer: "own" })).body).toEqual(shown);
    expect((await plaza.get("/v26.0/me", { bearer: "own", surface: "social_login" })).body).toEqual(shown);
    expect((await plaza.get("/v26.0/6001", { bearer: "page", query: { fields: "id,name" } })).body).toEqual({ id: "6001", name: account.username });
    await expectUnreadable(plaza, "6001", "bar");
    await expectUnreadable(plaza, "6901", "own");
  });

  test("after an account moves to another page, that page's people can see it from the next request", async () => {
    const plaza = await open();
    const tags = async () => (await plaza.get("/v26.0/6001/tags", { query: { access_token: "tags" } })).status;
    expect(await tags()).toBe(200);
    await changeEntry(plaza, "social_accounts", "6001", { page: "2002" });
    expect(await tags()).toBe(403);
    await changeEntry(plaza, "social_accounts", "6001", { user: "3002" });
    expect(await tags()).toBe(400);
  });

  test.each([
    { held: "users/3001", again: { id: "3001", name: "Eve" }, token: { type: "user", user: "3001" } },
    { held: "pages/2001", again: { id: "2001", name: "Other" }, token: { type: "page", page: "2001" } },
  ])("a new node with the id of the deleted $held does not have its account", async ({ held, again, token }) => {
    const { plaza, request } = await openControl({ database, world });
    const statusOf = async () => {
      const { body } = await request("POST", "tokens", { ...token, app: "1001", scopes });
      return (await plaza.get("/v26.0/6001", { bearer: body.token })).status;
    };
    expect(await statusOf()).toBe(200);
    expect((await request("DELETE", `nodes/${held}`)).status).toBe(200);
    expect((await request("POST", `nodes/${held.split("/")[0]}`, again)).status).toBe(201);
    expect(await statusOf()).toBe(400);
  });

  test("D-14: nobody sees a deleted account while its node still exists", async () => {
    const { world: opened } = await open();
    const { reader } = opened.database;
    for (const type of ["social_user", "page", "user"] as const) {
      const token = { type, app: "1001", user: "3001", page: "2001", social_account: "6001" } as unknown as Token;
      const mayRead = (owner: string) =>
        canSeeAccount({
          token,
          node: { id: nodeId(owner), type: "social_account", owner: nodeId(owner) },
          reader,
          ports: opened.ports,
          facts: opened.facts,
          app: {} as never,
          profile: "strict",
        });
      expect({ type, known: await mayRead("6001"), gone: await mayRead("6009") }).toEqual({ type, known: true, gone: false });
    }
  });
});
