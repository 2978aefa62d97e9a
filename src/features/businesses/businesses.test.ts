import { test } from "bun:test";
import { expectUnreadable, onEachDatabase, openPlaza } from "#harness/plaza";
import { expectLifeOfEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

onEachDatabase("businesses", (database) => {
  test("a business is created, renamed and removed by a world file entry", async () => {
    await expectLifeOfEntry(await openPlaza({ database }), "businesses", { id: "3501", name: "Agency" }, { name: "Agency, renamed" });
  });

  test("D-21: a business cannot be read by id", async () => {
    await expectUnreadable(await openPlaza({ database, world: { ...cafe, businesses: [{ id: "3501" }] } }), "3501", "ada");
  });
});
