import { test } from "bun:test";
import { expectUnreadable, onEachDatabase, openPlaza } from "#harness/plaza";
import { expectLifeOfEntry, expectRoundTrip } from "#harness/sections";
import { cafe } from "#harness/worlds";

const world = { ...cafe, microblog_users: [{ id: "7001", username: "talk", user: "3001" }, { id: "7002" }] };

onEachDatabase("microblog accounts", (database) => {
  test("a microblog user is made, changed and removed by the world file's words", async () => {
    const plaza = await openPlaza({ database, world });
    await expectLifeOfEntry(plaza, "microblog_users", { id: "7003", username: "a", user: "3001" }, { username: "b" });
    await expectRoundTrip(plaza);
  });

  test("D-21: the interface reads no microblog user by id", async () => {
    await expectUnreadable(await openPlaza({ database, world }), "7001", "ada");
  });
});
