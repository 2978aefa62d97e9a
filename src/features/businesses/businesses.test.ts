import { expect, test } from "bun:test";
import { expectUnreadable, onEachDatabase, openPlaza } from "#harness/plaza";
import { changeEntry, expectLifeOfEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

onEachDatabase("businesses", (database) => {
  test("a business is created, renamed and removed by a world file entry", async () => {
    await expectLifeOfEntry(await openPlaza({ database }), "businesses", { id: "3501", name: "Agency" }, { name: "Agency, renamed" });
  });

  test("D-165: a business is read by the people who work for it, from the next request to the last", async () => {
    const plaza = await openPlaza({ database, world: { ...cafe, businesses: [{ id: "3501", name: "Agency", people: [{ user: "3001" }] }] } });
    expect((await plaza.get("/v26.0/3501", { bearer: "ada", query: { fields: "id,name" } })).body).toEqual({ id: "3501", name: "Agency" });
    for (const token of ["bob", "page", "app"]) await expectUnreadable(plaza, "3501", token);
    await changeEntry(plaza, "businesses", "3501", { people: [{ user: "3002" }] });
    await expectUnreadable(plaza, "3501", "ada");
    expect((await plaza.get("/v26.0/3501", { bearer: "bob" })).status).toBe(200);
  });
});
