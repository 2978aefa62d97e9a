/** Tests the comments and reactions of a world file: valid and invalid entries, and finding and changing a stored entry. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { changeEntry, expectLifeOfEntry, findEntry, insertEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

const NOW = 1_795_000_000;
const world = {
  ...cafe,
  live_videos: [
    { id: "5301", page: "2001", status: "VOD" },
    { id: "5302", page: "2001", status: "VOD" },
  ],
};

onEachDatabase("the audience of a world file", (database) => {
  const open = () => openPlaza({ database, world });

  test("a comment has the time of the import and the named actor by default, and is exported in full", async () => {
    const plaza = await open();
    const comment = { id: "5401", live_video: "5301", from: "3001", message: "a" };
    await insertEntry(plaza, "live_comments", comment);
    expect(await findEntry(plaza, "live_comments", "5401")).toEqual({ ...comment, created_time: NOW });
    await changeEntry(plaza, "live_comments", "5401", { message: "b", from: "2002", created_time: NOW - 5 });
    expect(await findEntry(plaza, "live_comments", "5401")).toEqual({ ...comment, message: "b", from: "2002", created_time: NOW - 5 });
    await expect(changeEntry(plaza, "live_comments", "5401", { live_video: "5302" })).rejects.toThrow("cannot change");
    expect(await removeEntry(plaza, "live_comments", "5401")).toBe(true);
    expect(await removeEntry(plaza, "live_comments", "5401")).toBe(false);
    await expectLifeOfEntry(plaza, "live_comments", comment, { message: "c" });
    // The ids of nodes of other types are not valid ids of comments.
    for (const id of ["5301", "3001", "77"]) {
      expect(await findEntry(plaza, "live_comments", id)).toBeUndefined();
      expect(await removeEntry(plaza, "live_comments", id)).toBe(false);
    }
  });

  test("a comment has 1 to 8,000 characters", async () => {
    const plaza = await open();
    const insert = (id: string, message: string) => insertEntry(plaza, "live_comments", { id, live_video: "5301", from: "3001", message });
    expect([await insert("1", "x"), await insert("2", "x".repeat(8_000))]).toEqual([true, true]);
    for (const message of ["", "x".repeat(8_001)]) expect(() => insert("3", message)).toThrow("message");
  });

  test("a reaction is a like with the current time by default; each actor has one on each video", async () => {
    const plaza = await open();
    const insert = (more: object) => insertEntry(plaza, "live_reactions", { live_video: "5301", from: "3001", ...more });
    expect([await insert({}), await insert({ type: "LOVE" }), await insert({ live_video: "5302", type: "WOW", time: NOW - 9 })]).toEqual([
      ...[true, false, true],
    ]);
    expect(await findEntry(plaza, "live_reactions", "5301 3001")).toEqual({ live_video: "5301", from: "3001", type: "LIKE", time: NOW });
    expect(await findEntry(plaza, "live_reactions", "5302 3001")).toEqual({ live_video: "5302", from: "3001", type: "WOW", time: NOW - 9 });
    await changeEntry(plaza, "live_reactions", "5301 3001", { type: "HAHA", time: NOW + 1 });
    expect(await findEntry(plaza, "live_reactions", "5301 3001")).toMatchObject({ type: "HAHA", time: NOW + 1 });
    for (const identity of ["5301", "x 3001", "5301 x", "9 3001", "5301 3002", ""]) {
      expect(await findEntry(plaza, "live_reactions", identity)).toBeUndefined();
      expect(await removeEntry(plaza, "live_reactions", identity)).toBe(false);
    }
    expect([await removeEntry(plaza, "live_reactions", "5301 3001"), await removeEntry(plaza, "live_reactions", "5301 3001")]).toEqual([true, false]);
    expect(await findEntry(plaza, "live_reactions", "5302 3001")).toMatchObject({ type: "WOW" });
  });

  test("only a user or a page comments or reacts, and only on a video", async () => {
    const plaza = await open();
    const comment = (from: string, live_video = "5301") =>
      insertEntry(plaza, "live_comments", { id: String(60 + Number(from)), live_video, from, message: "x" });
    for (const from of ["3001", "2001"]) expect(await comment(from)).toBe(true);
    for (const from of ["1001", "5301", "77"]) await expect(comment(from)).rejects.toThrow(`refers to ${from}, which is not a user or a page`);
    for (const live_video of ["2001", "77"])
      await expect(comment("3002", live_video)).rejects.toThrow(`refers to ${live_video}, which is not a live video`);
    await expect(insertEntry(plaza, "live_reactions", { live_video: "5301", from: "1001" })).rejects.toThrow("not a user or a page");
  });
});
