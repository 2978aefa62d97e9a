import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { expectBounds } from "#harness/schemas/bounds";
import { changeEntry, findEntry, insertEntry, removeEntry } from "#harness/sections";
import { mediaSection } from "./tagged-media.world.ts";

test("media of a world file cannot have negative numbers of likes and comments", () => {
  const counts = { right: [0, 1], wrong: [-1, 0.5] };
  expectBounds(mediaSection.entry, { id: "6101", owner: "6001" }, { like_count: counts, comments_count: counts });
});

onEachDatabase("media of a world file", (database) => {
  test("have the world's time by default, and stay with their owner", async () => {
    const plaza = await openPlaza({ database, world: { social_accounts: [{ id: "6001" }, { id: "6002" }] } });
    await insertEntry(plaza, "media", { id: "6101", owner: "6001", private: true });
    const stored = {
      ...{ id: "6101", owner: "6001", media_type: "IMAGE", media_product_type: "FEED", timestamp: 1_795_000_000 },
      ...{ private: true, tagged: [], like_count: 0, comments_count: 0, children: [] },
    };
    expect(await findEntry(plaza, "media", "6101")).toEqual(stored);
    await expect(changeEntry(plaza, "media", "6101", { owner: "6002" })).rejects.toThrow("cannot change");
    plaza.time.realMs += 5_500;
    await changeEntry(plaza, "media", "6101", { private: false, timestamp: undefined });
    expect(await findEntry(plaza, "media", "6101")).toEqual({ ...stored, private: false, timestamp: 1_795_000_005 });
    expect(await findEntry(plaza, "media", "6001")).toBeUndefined();
  });

  test("lose a removed child, and do not get a new node with its id", async () => {
    const plaza = await openPlaza({ database, world: { social_accounts: [{ id: "6001" }] } });
    const add = (id: string, children: readonly string[] = []) => insertEntry(plaza, "media", { id, owner: "6001", children });
    for (const id of ["6101", "61011", "6102"]) expect(await add(id)).toBe(true);
    await add("6201", ["61011", "6101", "6102"]);
    await add("6202", ["6101"]);
    await add("6203", ["61011"]);
    const childrenOf = async (id: string) => (await findEntry(plaza, "media", id))?.children;
    const albums = async () => Promise.all(["6201", "6202", "6203"].map(childrenOf));
    expect(await removeEntry(plaza, "media", "6101")).toBe(true);
    expect(await albums()).toEqual([["61011", "6102"], [], ["61011"]]);
    expect(await add("6101")).toBe(true);
    expect(await albums()).toEqual([["61011", "6102"], [], ["61011"]]);
  });
});
