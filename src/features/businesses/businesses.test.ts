import { test } from "bun:test";
import { expectUnreadable, onEachDatabase, openPlaza } from "#harness/plaza";
import { expectLifeOfEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

onEachDatabase("businesses", (database) => {
  test("a business is made, renamed and removed by the world file's words", async () => {
    await expectLifeOfEntry(await openPlaza({ database }), "businesses", { id: "3501", name: "Agency" }, { name: "Agency, renamed" });
  });

  test("D-21: the interface reads no business by id", async () => {
    await expectUnreadable(await openPlaza({ database, world: { ...cafe, businesses: [{ id: "3501" }] } }), "3501", "ada");
  });
});
