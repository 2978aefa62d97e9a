import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { expectUnreadable, openPlaza } from "#harness/plaza";
import { expectLifeOfEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

onEachDatabase("users", (database) => {
  test("a user is created, renamed and removed by a world file entry", async () => {
    await expectLifeOfEntry(await openPlaza({ database }), "users", { id: "3001", name: "Ada 😀" }, { name: "" });
  });

  test("D-165: a user is read with their own token and no other", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    for (const id of ["3001", "me"]) expect((await plaza.get(`/v26.0/${id}`, { bearer: "ada" })).body).toEqual({ id: "3001", name: "Ada" });
    for (const token of ["bob", "page", "app"]) await expectUnreadable(plaza, "3001", token);
  });

  test("D-11: removing a user ends their tokens, even those in use: their own become unknown, those of pages revoked", async () => {
    const { plaza, request } = await openControl({ database, world: cafe });
    const labels = (token: string) => plaza.get("/v26.0/2001/custom_labels", { token });
    const isKept = async () => ({ page: (await labels("page")).status, other: (await plaza.get("/v26.0/me", { bearer: "bob" })).status });
    expect((await plaza.get("/v26.0/me", { bearer: "ada" })).status).toBe(200);
    expect(await isKept()).toEqual({ page: 200, other: 200 });
    expect((await request("DELETE", "nodes/users/3001")).status).toBe(200);
    expect(await isKept()).toEqual({ page: 403, other: 200 });
    expect((await labels("page")).body).toMatchObject({ code: 190, error_subcode: 466 });
    expect(await labels("ada")).toMatchObject({ status: 403, body: { code: 190 } });
    // A new user with the same id does not get the tokens of the deleted user.
    expect((await request("POST", "nodes/users", { id: "3001", name: "Eve" })).status).toBe(201);
    expect(await plaza.get("/v26.0/me", { bearer: "ada" })).toMatchObject({ status: 401, body: { error: { code: 190 } } });
    expect((await labels("page")).body).toMatchObject({ code: 190, error_subcode: 466 });
  });
});
