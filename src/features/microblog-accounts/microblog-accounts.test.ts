import { test } from "bun:test";
import { expectUnreadable, onEachDatabase, openPlaza } from "#harness/plaza";
import { expectLifeOfEntry, expectRoundTrip } from "#harness/sections";
import { cafe } from "#harness/worlds";

const world = { ...cafe, microblog_users: [{ id: "7001", username: "talk", user: "3001" }, { id: "7002" }] };

onEachDatabase("microblog accounts", (database) => {
  test("a microblog user is created, updated and removed by a world file entry", async () => {
    const plaza = await openPlaza({ database, world });
    await expectLifeOfEntry(plaza, "microblog_users", { id: "7003", username: "a", user: "3001" }, { username: "b" });
    await expectRoundTrip(plaza);
  });

  test("D-21: a microblog user cannot be read by id", async () => {
    await expectUnreadable(await openPlaza({ database, world }), "7001", "ada");
  });
});
