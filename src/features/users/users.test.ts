import { test } from "bun:test";
import { expectUnreadable, onEachDatabase, openPlaza } from "#harness/plaza";
import { expectLifeOfEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

onEachDatabase("users", (database) => {
  test("a user is created, renamed and removed by a world file entry", async () => {
    await expectLifeOfEntry(await openPlaza({ database }), "users", { id: "3001", name: "Ada 😀" }, { name: "" });
  });

  test("D-21: a user cannot be read by id, not even the token's own", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    await expectUnreadable(plaza, "3001", "ada");
    await expectUnreadable(plaza, "me", "ada");
  });
});
