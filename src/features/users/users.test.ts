import { expect, test } from "bun:test";
import { expectUnreadable, onEachDatabase, openPlaza } from "#harness/plaza";
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
});
