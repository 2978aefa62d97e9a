/**
 * Tests which rows of comments, reactions and ingest processes an SQL statement selects: each test also stores equal rows of another video, actor or
 * process.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Database } from "#storage/database";
import { deleteIngest, findDeadIngests, findIngest, saveIngest } from "../ingest/ingests.store.ts";
import * as store from "./audience.store.ts";

const PAGE = nodeId("2001");
const comment = (id: string, video: string, actor: string, message = "Hi"): store.CommentRow => ({
  ...{ page: PAGE, video, id, actor, actor_type: "user", message, created_time: 5 },
});
const reaction = (video: string, actor: string, reacted_ms: number): store.ReactionRow => ({
  ...{ page: PAGE, video, actor, actor_type: "user", type: "LIKE", reacted_ms },
});

onEachDatabase("the audience of live videos", (kind) => {
  async function open(): Promise<Database> {
    const { database } = (await openPlaza({ database: kind })).world;
    await database.write(async (tx) => {
      for (const row of [comment("9", "71", "3001"), comment("100", "71", "3002"), comment("10", "71", "3001"), comment("11", "72", "3001")])
        expect(await store.insertComment(tx, row)).toBe(true);
      expect(await store.insertComment(tx, comment("9", "72", "3001"))).toBe(false);
      for (const row of [reaction("71", "3001", 7), reaction("71", "3002", 8), reaction("71", "30001", 7), reaction("72", "3001", 9)])
        await store.saveReaction(tx, row);
    });
    return database;
  }
  const comments = async ({ reader }: Database, video: string): Promise<string[]> =>
    (await store.listCommentsOfVideo(reader, PAGE, nodeId(video), { limit: 10 })).rows.map(({ id, message }) => `${id} ${message}`);
  const reactions = async ({ reader }: Database, video: string): Promise<string[]> =>
    (await store.listReactionsOfVideo(reader, PAGE, nodeId(video), { limit: 10 })).rows.map(({ actor, type }) => `${actor} ${type}`);

  test("each list belongs to one video and is sorted newest first, and by actor within one moment", async () => {
    const database = await open();
    expect([await comments(database, "71"), await comments(database, "72")]).toEqual([["100 Hi", "10 Hi", "9 Hi"], ["11 Hi"]]);
    expect([await reactions(database, "71"), await reactions(database, "72")]).toEqual([["3002 LIKE", "30001 LIKE", "3001 LIKE"], ["3001 LIKE"]]);
    const find = async (video: string, id: string) => (await store.findComment(database.reader, PAGE, nodeId(video), id))?.id;
    expect([await find("71", "9"), await find("72", "9"), await find("71", "11")]).toEqual(["9", undefined, undefined]);
    const react = async (video: string, actor: string) => (await store.findReaction(database.reader, PAGE, video, actor))?.reacted_ms;
    expect([await react("71", "3001"), await react("72", "3001"), await react("72", "3002")]).toEqual([7, 9, undefined]);
  });

  test("changing or deleting one leaves the others unchanged", async () => {
    const database = await open();
    await database.write(async (tx) => {
      await store.updateComment(tx, comment("10", "71", "3002", "Bye"));
      await store.deleteComment(tx, comment("9", "71", "3001"));
      await store.saveReaction(tx, { ...reaction("71", "3001", 10), type: "LOVE" });
      await store.deleteReaction(tx, reaction("71", "3002", 8));
    });
    expect([await comments(database, "71"), await comments(database, "72")]).toEqual([["100 Hi", "10 Bye"], ["11 Hi"]]);
    expect([await reactions(database, "71"), await reactions(database, "72")]).toEqual([["3001 LOVE", "30001 LIKE"], ["3001 LIKE"]]);
  });

  test("LIVE-14: deleting a video deletes its audience, and deleting a person deletes their comments and reactions only", async () => {
    const database = await open();
    await database.write((tx) => store.deleteActor(tx, nodeId("3001")));
    expect([await comments(database, "71"), await comments(database, "72")]).toEqual([["100 Hi"], []]);
    expect([await reactions(database, "71"), await reactions(database, "72")]).toEqual([["3002 LIKE", "30001 LIKE"], []]);
    const other = await open();
    await other.write((tx) => store.deleteAudience(tx, "2002", "71"));
    expect([(await comments(other, "71")).length, (await reactions(other, "71")).length]).toEqual([3, 3]);
    await other.write((tx) => store.deleteAudience(tx, PAGE, "71"));
    expect([await comments(other, "71"), await comments(other, "72")]).toEqual([[], ["11 Hi"]]);
    expect([await reactions(other, "71"), await reactions(other, "72")]).toEqual([[], ["3001 LIKE"]]);
    // Only the ids of deleted comments can be used again for new comments.
    const insert = (id: string) => other.write((tx) => store.insertComment(tx, comment(id, "73", "3001")));
    expect([await insert("9"), await insert("100"), await insert("11")]).toEqual([true, true, false]);
  });

  test("an ingest that was last seen before a time is dead, unless it is the process's own; only one process takes it over", async () => {
    const { database } = (await openPlaza({ database: kind })).world;
    const save = (id: string, seenMs: number) => database.write((tx) => saveIngest(tx, id, seenMs));
    for (const [id, seenMs] of [
      ["b", 9],
      ["a", 9],
      ["own", 9],
      ["c", 10],
      ["d", 11],
    ] as const)
      await save(id, seenMs);
    const dead = (beforeMs: number) => findDeadIngests(database.reader, "own", beforeMs);
    expect([await dead(9), await dead(10), await dead(11)]).toEqual([[], ["a", "b"], ["a", "b", "c"]]);
    await save("a", 12);
    expect([await findIngest(database.reader, "a"), await findIngest(database.reader, "b"), await findIngest(database.reader, "e")]).toEqual([
      ...[{ seen_ms: 12 }, { seen_ms: 9 }, undefined],
    ]);
    const take = (id: string) => database.write((tx) => deleteIngest(tx, id));
    expect([await take("b"), await take("b"), await dead(11)]).toEqual([true, false, ["c"]]);
  });
});
