import { expect, test } from "bun:test";
import { hashOf } from "#auth/tokens";
import { labelsOf, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";

onEachDatabase("tokens", (database) => {
  test("a created token works until it is revoked, and never again", async () => {
    const { plaza, request } = await openControl({ database });
    const minted = await request("POST", "tokens", { type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] });
    expect(minted.status).toBe(201);
    expect((await labelsOf(plaza, minted.body.token)).status).toBe(200);
    expect(await request("DELETE", `tokens/${minted.body.id}`)).toEqual({ status: 200, body: { success: true } });
    const refused = await labelsOf(plaza, minted.body.token);
    expect(refused).toMatchObject({ status: 403, body: { code: 190, error_subcode: 466 } });
    expect((await request("DELETE", "tokens/1")).status).toBe(404);
  });

  test("the value is shown once", async () => {
    const { request } = await openControl({ database });
    const { token, ...rest } = (await request("POST", "tokens", { type: "app", app: "1001" })).body;
    const listed = await request("GET", "tokens");
    expect(listed.body.data[0]).toEqual(rest);
    expect(JSON.stringify(listed.body)).not.toContain(token);
    expect(JSON.stringify((await request("GET", "export")).body)).not.toContain(token);
  });

  test("D-407: a sandbox shows the values of the demo world's tokens to keys with full access, and no other values", async () => {
    const { request } = await openControl({ database }, { demoTokenValues: async () => ["demo-app-token", "demo-gone-token"] });
    const entry = { type: "app", app: "1001" };
    const { id } = (await request("POST", "tokens", { ...entry, token: "demo-app-token" })).body;
    await request("POST", "tokens", { ...entry, token: "another-token-of-mine" });
    const valuesFor = async (key?: string) =>
      ((await request("GET", "tokens", undefined, key)).body.data as { id: string; token?: string }[]).flatMap((one) =>
        one.token === undefined ? [] : [[one.id, one.token]],
      );
    expect(await valuesFor()).toEqual([[id, "demo-app-token"]]);
    const { key } = (await request("POST", "/v1/control-keys", { access: "read" })).body;
    expect(await valuesFor(key)).toEqual([]);
  });

  test("an unused scope is accepted with a warning", async () => {
    const { request } = await openControl({ database });
    const { status, body } = await request("POST", "tokens", { type: "app", app: "1001", scopes: ["ads_reed"] });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { scopes: ["ads_reed"], warnings: [expect.stringContaining("did you mean ads_read?")] },
    });
  });

  test("a value can be given, once", async () => {
    const { request, plaza } = await openControl({ database });
    const entry = { token: "my-token", type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] };
    expect((await request("POST", "tokens", entry)).status).toBe(201);
    expect((await request("POST", "tokens", entry)).status).toBe(409);
    expect((await labelsOf(plaza, "my-token")).status).toBe(200);
  });

  test("a token can be created by its hash, and the response then has no value", async () => {
    const { request, plaza } = await openControl({ database });
    const entry = { token_sha256: hashOf("my-token"), type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] };
    const { status, body } = await request("POST", "tokens", entry);
    expect({ status, hasValue: "token" in body }).toEqual({ status: 201, hasValue: false });
    expect((await labelsOf(plaza, "my-token")).status).toBe(200);
    expect((await request("POST", "tokens", { ...entry, token_sha256: undefined, token: "my-token" })).status).toBe(409);
  });

  test("a token of a missing node is refused", async () => {
    const { request } = await openControl({ database });
    const listed = async () => (await request("GET", "tokens")).body.data.length;
    const before = await listed();
    for (const [parameter, entry] of [
      ["app", { type: "app", app: "999" }],
      ["page", { type: "page", app: "1001", page: "999" }],
      ["page", { type: "page", app: "1001", page: "1001" }],
    ] as const)
      expect(await request("POST", "tokens", entry)).toMatchObject({ status: 422, body: { error: { parameter } } });
    expect(await listed()).toBe(before);
  });

  test("D-270: a copy works like the token, for ten minutes at most, and ends with it", async () => {
    const { plaza, request } = await openControl({ database });
    const { id, token } = (await request("POST", "tokens", { type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] })).body;
    const copied = await request("POST", `tokens/${id}/copy`);
    expect(copied).toMatchObject({ status: 201, body: { type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] } });
    expect(copied.body.token).not.toBe(token);
    expect(copied.body.expires_at - copied.body.issued_at).toBe(600);
    expect((await labelsOf(plaza, copied.body.token)).status).toBe(200);
    // The copy of a token is neither in the list of tokens nor in an export, and the copy cannot be copied.
    expect((await request("GET", "tokens")).body.data.map((one: { id: string }) => one.id)).not.toContain(copied.body.id);
    expect(JSON.stringify((await request("GET", "export")).body.tokens)).not.toContain('"expires_at":1795');
    expect((await request("POST", `tokens/${copied.body.id}/copy`)).status).toBe(404);
    const short = (await request("POST", "tokens", { type: "app", app: "1001", expires_at: copied.body.issued_at + 60 })).body;
    expect((await request("POST", `tokens/${short.id}/copy`)).body.expires_at).toBe(short.expires_at);
    expect((await request("DELETE", `tokens/${id}`)).status).toBe(200);
    expect(await labelsOf(plaza, copied.body.token)).toMatchObject({ status: 403, body: { error_subcode: 466 } });
    expect((await request("POST", `tokens/${id}/copy`)).status).toBe(409);
    for (const unknown of ["1", "nobody"]) expect((await request("POST", `tokens/${unknown}/copy`)).status).toBe(404);
  });

  test("D-270: ended copies are deleted when the next one is created", async () => {
    const { plaza, request } = await openControl({ database });
    const [{ id }] = (await request("GET", "tokens")).body.data;
    const { token } = (await request("POST", `tokens/${id}/copy`)).body;
    const count = async () => (await plaza.dump(["tokens.hash"])).length;
    expect(await count()).toBe(2);
    await request("POST", "clock/advance", { seconds: 601 });
    expect(await labelsOf(plaza, token)).toMatchObject({ status: 403, body: { error_subcode: 463 } });
    await request("POST", `tokens/${id}/copy`);
    expect(await count()).toBe(2);
  });
});
