import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { expectUnreadable, openPlaza } from "#harness/plaza";
import { changeEntry, expectLifeOfEntry, findEntry, insertEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

onEachDatabase("businesses", (database) => {
  test("a business is created, renamed and removed by a world file entry", async () => {
    const agency = { id: "3501", name: "Agency", people: [{ user: "3001" }] };
    const plaza = await openPlaza({ database, world: cafe });
    await expectLifeOfEntry(plaza, "businesses", agency, { name: "Agency, renamed", people: [{ user: "3002" }, { user: "3003" }] });
  });

  test("D-165: a business is read by the people who work for it, from the next request on, and no longer after they leave", async () => {
    const plaza = await openPlaza({ database, world: { ...cafe, businesses: [{ id: "3501", name: "Agency", people: [{ user: "3001" }] }] } });
    expect((await plaza.get("/v26.0/3501", { bearer: "ada", query: { fields: "id,name" } })).body).toEqual({ id: "3501", name: "Agency" });
    for (const token of ["bob", "page", "app"]) await expectUnreadable(plaza, "3501", token);
    await changeEntry(plaza, "businesses", "3501", { people: [{ user: "3002" }] });
    await expectUnreadable(plaza, "3501", "ada");
    expect((await plaza.get("/v26.0/3501", { bearer: "bob" })).status).toBe(200);
  });

  test("D-165: the people of a removed business do not work for a new one with its id", async () => {
    const plaza = await openPlaza({ database, world: { ...cafe, businesses: [{ id: "3501", name: "Agency", people: [{ user: "3001" }] }] } });
    const status = async (bearer: string) => (await plaza.get("/v26.0/3501", { bearer })).status;
    expect({ ada: await status("ada"), bob: await status("bob") }).toEqual({ ada: 200, bob: 400 });
    expect(await removeEntry(plaza, "businesses", "3501")).toBe(true);
    expect(await insertEntry(plaza, "businesses", { id: "3501", name: "Another", people: [{ user: "3002" }] })).toBe(true);
    expect({ ada: await status("ada"), bob: await status("bob") }).toEqual({ ada: 400, bob: 200 });
    expect(await findEntry(plaza, "businesses", "3501")).toEqual({ id: "3501", name: "Another", people: [{ user: "3002" }] });
  });
});
