import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { expectBounds, textOf } from "#harness/schemas/bounds";
import { changeEntry, findEntry, insertEntry, removeEntry } from "#harness/sections";
import { activitySection, followersSection } from "./microblog-insights.world.ts";

const counts = { right: [0, 1_000_000_000], wrong: [-1, 1_000_000_001] };

test("a record counts up to a thousand million, and its link and groups have realistic lengths", () => {
  expectBounds(
    activitySection.entry,
    { target: "7001", metric: "clicks", link_url: "x" },
    { value: counts, link_url: { right: ["x", textOf(2_048)], wrong: ["", textOf(2_049)] } },
  );
  const group = { right: ["", textOf(100)], wrong: [textOf(101)] };
  expectBounds(followersSection.entry, { microblog_user: "7001" }, { count: counts, country: group, city: group, age: group, gender: group });
});

onEachDatabase("a world file's activities, followers and posts", (database) => {
  const open = () =>
    openPlaza({
      database,
      world: { microblog_users: [{ id: "7001" }, { id: "7002" }], microblog_media: [{ id: "7101", owner: "7001", text: "a" }] },
    });

  test("activities and followers are records: they cannot be found, removed or changed", async () => {
    const plaza = await open();
    for (const [key, entry] of [
      ["activity", { target: "7101", metric: "likes" }],
      ["followers", { microblog_user: "7001" }],
    ] as const) {
      expect(await insertEntry(plaza, key, entry)).toBe(true);
      expect([await findEntry(plaza, key, "7101"), await removeEntry(plaza, key, "7101")]).toEqual([undefined, false]);
      await expect(changeEntry(plaza, key, "7101", entry)).rejects.toThrow("is a record, which cannot be changed");
    }
    const rows = async (section: typeof activitySection) =>
      (await section.list(plaza.world.database.reader, { limit: 9 }, plaza.world)).rows as unknown[];
    expect(await rows(activitySection)).toEqual([{ target: "7101", metric: "likes", time: 1_795_000_000, value: 1 }]);
    expect(await rows(followersSection)).toMatchObject([{ microblog_user: "7001", time: 1_795_000_000, count: 1 }]);
  });

  test("only clicks have a link, and they need one", async () => {
    const plaza = await open();
    await expect(insertEntry(plaza, "activity", { target: "7101", metric: "likes", link_url: "x" })).rejects.toThrow(
      "link_url is allowed only for the metric clicks",
    );
    await expect(insertEntry(plaza, "activity", { target: "7001", metric: "clicks" })).rejects.toThrow("link_url is required");
    expect(await insertEntry(plaza, "activity", { target: "7001", metric: "clicks", link_url: "x" })).toBe(true);
  });

  test("a post stays with its owner, and has the world's time unless it has its own", async () => {
    const plaza = await open();
    expect(await findEntry(plaza, "microblog_media", "7101")).toEqual({ id: "7101", owner: "7001", text: "a", timestamp: 1_795_000_000 });
    await expect(changeEntry(plaza, "microblog_media", "7101", { owner: "7002" })).rejects.toThrow("cannot change");
    plaza.time.realMs += 7_000;
    await changeEntry(plaza, "microblog_media", "7101", { text: "b", timestamp: undefined });
    expect(await findEntry(plaza, "microblog_media", "7101")).toEqual({ id: "7101", owner: "7001", text: "b", timestamp: 1_795_000_007 });
    expect(await findEntry(plaza, "microblog_media", "7001")).toBeUndefined();
    expect(await removeEntry(plaza, "microblog_media", "7001")).toBe(false);
  });
});
