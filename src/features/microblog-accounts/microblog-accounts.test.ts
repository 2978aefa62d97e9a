import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { expectUnreadable, openPlaza } from "#harness/plaza";
import { expectLifeOfEntry, expectRoundTrip } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";

const world = { ...cafe, microblog_users: [{ id: "7001", username: "talk", user: "3001" }, { id: "7002" }] };

onEachDatabase("microblog accounts", (database) => {
  test("a microblog user is created, updated and removed by a world file entry", async () => {
    const plaza = await openPlaza({ database, world });
    await expectLifeOfEntry(plaza, "microblog_users", { id: "7003", username: "a", user: "3001" }, { username: "b" });
    await expectRoundTrip(plaza);
  });

  test("D-165: a microblog user is read with their own token, on the microblog host", async () => {
    const plaza = await openPlaza({ database, world });
    const access_token = await plaza.mint({ type: "microblog_user", app: nodeId("1001"), microblog_user: nodeId("7001") });
    const read = (id: string, fields?: string) => plaza.get(`/${id}`, { surface: "microblog", query: { access_token, fields } });
    expect((await read("me")).body).toEqual({ id: "7001", username: "talk" });
    expect((await read("7001", "id,name")).body).toEqual({ id: "7001", name: "talk" });
    // D-12: Plaza accepts the token of this request in a header, because the interface document does not say where the token must be.
    expect((await plaza.get("/7001", { surface: "microblog", bearer: access_token })).status).toBe(200);
    expect((await read("7002")).body.error.error_subcode).toBe(33);
    for (const token of ["ada", access_token]) await expectUnreadable(plaza, "7001", token);
  });
});
