import { expect, test } from "bun:test";
import { labelsOf, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/plaza";

onEachDatabase("tokens", (database) => {
  test("a minted token works until it is revoked, and then not once more", async () => {
    const { plaza, request } = await openControl({ database });
    const minted = await request("POST", "tokens", { type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] });
    expect(minted.status).toBe(201);
    expect((await labelsOf(plaza, minted.body.token)).status).toBe(200);
    expect((await request("DELETE", `tokens/${minted.body.id}`)).status).toBe(200);
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

  test("a scope that nothing asks for is minted, with a warning", async () => {
    const { request } = await openControl({ database });
    const { status, body } = await request("POST", "tokens", { type: "app", app: "1001", scopes: ["ads_reed"] });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { scopes: ["ads_reed"], warnings: [expect.stringContaining("did you mean ads_read?")] },
    });
  });

  test("a value can be brought, once", async () => {
    const { request, plaza } = await openControl({ database });
    const entry = { token: "my-token", type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] };
    expect((await request("POST", "tokens", entry)).status).toBe(201);
    expect((await request("POST", "tokens", entry)).status).toBe(409);
    expect((await labelsOf(plaza, "my-token")).status).toBe(200);
  });
});
