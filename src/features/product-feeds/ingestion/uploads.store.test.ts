/**
 * Tests which uploads and generations an SQL statement selects: each test also stores rows of another feed, of other runs, and with other statuses.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { feedWorld } from "#harness/feeds";
import { openPlaza } from "#harness/plaza";
import type { Transaction } from "#storage/database";
import { beginGeneration, deleteGeneration, findFeed, findSpareGeneration, showGeneration } from "../product-feeds.store.ts";
import {
  claimUpload,
  completeUpload,
  countWaitingUploads,
  deleteOldUploads,
  deleteParts,
  deleteUpload,
  endUpload,
  findLatestUploads,
  findPart,
  findSparePart,
  findUpload,
  findUploadNode,
  findWaitingUpload,
  insertPart,
  insertUpload,
  listTroubledFeeds,
  listUploadsOfFeed,
  type NewUpload,
  saveCounts,
} from "./uploads.store.ts";

const FEED = "8101";
const OTHER = "8102";

onEachDatabase("stored uploads", (database) => {
  const open = async () => {
    const { world } = await openPlaza({ database, world: feedWorld });
    const { reader } = world.database;
    const write = <T>(body: (tx: Transaction) => Promise<T>): Promise<T> => world.database.write(body);
    const add = (feed = FEED, words: Partial<NewUpload> = {}) =>
      write((tx) =>
        insertUpload(tx, world.ids, feed, {
          ...{ source: "url", url: "https://a.example/f", file_name: undefined, created_time: 100, format: undefined, isUpdate: false },
          ...words,
        }),
      );
    const set = (n: number, status: "running" | "done", generation = 5, feed = FEED) =>
      write(async (tx) => {
        await claimUpload(tx, feed, n, generation, 200);
        if (status === "done") await endUpload(tx, { feed, n, generation }, end);
      });
    const statuses = async (feed = FEED) => (await listUploadsOfFeed(reader, feed, { limit: 50 })).rows.map(({ n, status }) => `${n} ${status}`);
    return { world, reader, write, add, set, statuses };
  };

  const end = { status: "done", ended_time: 300, format: "csv", problem: undefined, errors: "[]" } as const;
  const none = { rows: 0, items: 0, items_added: 0, items_replaced: 0, items_removed: 0, bad_rows: 0, duplicates: 0 };

  test("uploads are counted from 1 in each feed, and have a node", async () => {
    const { add, reader, statuses } = await open();
    const [first, , other] = [await add(), await add(FEED, { source: "file", url: undefined, isUpdate: true, format: "xml" }), await add(OTHER)];
    expect({ first: first?.n, other: other?.n, unknown: await add("9999") }).toEqual({ first: 1, other: 1, unknown: undefined });
    expect(await statuses()).toEqual(["2 receiving", "1 pending"]);
    expect(await findUploadNode(reader, first?.id ?? "")).toMatchObject({ feed: FEED, n: 1, is_update: 0, is_complete: 0, generation: 0 });
    expect(await findUpload(reader, FEED, 2)).toMatchObject({
      ...{ source: "file", is_update: 1, format: "xml", created_time: 100, started_time: 0, ended_time: 0, bytes: 0, ...none, errors: "[]" },
    });
    expect((await findLatestUploads(reader, [{ id: OTHER }, { id: FEED }, { id: "9999" }])).map((row) => row && [row.feed, row.n])).toEqual([
      [OTHER, 1],
      [FEED, 2],
      undefined,
    ]);
  });

  test("feeds whose last upload failed are listed by their ids, and no others", async () => {
    const { add, reader, write } = await open();
    const run = async (feed: string, status: "done" | "failed", problem?: string) => {
      const n = (await add(feed))?.n ?? 0;
      await write(async (tx) => {
        await claimUpload(tx, feed, n, 10 * n + Number(feed), 200);
        await endUpload(tx, { feed, n, generation: 10 * n + Number(feed) }, { ...end, status, problem });
      });
    };
    const failed = async (limit: number) => (await listTroubledFeeds(reader, 0, limit)).map(({ feed, n, problem }) => `${feed} ${n} ${problem}`);
    await run(OTHER, "failed", "first");
    await run(FEED, "failed", "second");
    expect([await failed(2), await failed(1)]).toEqual([[`${FEED} 1 second`, `${OTHER} 1 first`], [`${FEED} 1 second`]]);
    await run(FEED, "done");
    expect(await failed(2)).toEqual([`${OTHER} 1 first`]);
    await run(FEED, "failed", "third");
    expect(await failed(2)).toEqual([`${FEED} 3 third`, `${OTHER} 1 first`]);
  });

  test("the next upload is the oldest that is complete and unread; those that are still arriving wait", async () => {
    const { add, set, reader } = await open();
    await add(FEED, { source: "file" });
    for (let i = 0; i < 3; i++) await add();
    await add(OTHER);
    expect((await findWaitingUpload(reader, FEED))?.n).toBe(2);
    await set(2, "running");
    expect({ next: (await findWaitingUpload(reader, FEED))?.n, waiting: await countWaitingUploads(reader, FEED) }).toEqual({ next: 2, waiting: 4 });
    await set(2, "done");
    expect({ next: (await findWaitingUpload(reader, FEED))?.n, waiting: await countWaitingUploads(reader, FEED) }).toEqual({ next: 3, waiting: 3 });
    expect(await countWaitingUploads(reader, OTHER)).toBe(1);
  });

  test("a file becomes complete once, from the expected status, for this feed and number", async () => {
    const { add, write, reader, statuses } = await open();
    for (const feed of [FEED, FEED, OTHER]) await add(feed, { source: "file" });
    const complete = (n: number) => write((tx) => completeUpload(tx, FEED, n, 77, "receiving", "pending"));
    expect([await complete(1), await complete(1), await complete(9)]).toEqual([true, false, false]);
    expect(await findUpload(reader, FEED, 1)).toMatchObject({ is_complete: 1, bytes: 77, status: "pending" });
    expect([await statuses(), await statuses(OTHER)]).toEqual([["2 receiving", "1 pending"], ["1 receiving"]]);
  });

  test("only the newest run of an upload counts and ends it, and its counts begin at zero", async () => {
    const { add, write, reader, set } = await open();
    for (const feed of [FEED, FEED, OTHER]) await add(feed);
    await set(1, "running", 5);
    const count = (generation: number, rows: number) =>
      write((tx) => saveCounts(tx, { feed: FEED, n: 1, generation }, { ...none, rows, items: rows }));
    expect([await count(5, 3), await count(4, 9)]).toEqual([true, false]);
    await write((tx) => claimUpload(tx, FEED, 1, 6, 999));
    expect(await findUpload(reader, FEED, 1)).toMatchObject({ rows: 0, items: 0, generation: 6, started_time: 200, status: "running" });
    expect(await count(5, 9)).toBe(false);
    const finish = (generation: number) => write((tx) => endUpload(tx, { feed: FEED, n: 1, generation }, { ...end, problem: "p" }));
    expect([await finish(5), await finish(6), await finish(6), await count(6, 9)]).toEqual([false, true, false, false]);
    expect(await findUpload(reader, FEED, 1)).toMatchObject({ status: "done", ended_time: 300, format: "csv", problem: "p", rows: 0 });
    expect([await findUpload(reader, FEED, 2), await findUpload(reader, OTHER, 1)]).toMatchObject([
      { status: "pending", generation: 0 },
      { status: "pending", generation: 0 },
    ]);
  });

  test("D-142: the newest finished uploads stay; one that stopped arriving is deleted after a time", async () => {
    const { add, set, write, statuses, world } = await open();
    for (const created_time of [100, 100, 49, 50]) await add(FEED, created_time === 100 ? {} : { source: "file", created_time });
    for (let i = 0; i < 2; i++) await add();
    await add(OTHER, { source: "file", created_time: 1 });
    for (const n of [1, 2, 5]) await set(n, "done");
    const nodes = async () =>
      (await world.database.reader.all({ query: { text: "SELECT 1 FROM nodes WHERE type = 'product_feed_upload'" }, values: [] })).length;
    expect(await nodes()).toBe(7);
    await write((tx) => deleteOldUploads(tx, FEED, 5, 50));
    expect(await statuses()).toEqual(["6 pending", "5 done", "4 receiving", "2 done"]);
    await write((tx) => deleteOldUploads(tx, FEED, 0, 50));
    expect(await statuses()).toEqual(["6 pending", "4 receiving"]);
    await write((tx) => deleteUpload(tx, FEED, 4));
    expect({ own: await statuses(), other: await statuses(OTHER), nodes: await nodes() }).toEqual({
      own: ["6 pending"],
      other: ["1 receiving"],
      nodes: 2,
    });
  });

  test("the parts of a file are deleted with their upload, the first ones first, and not before it was read", async () => {
    const { add, set, write, reader } = await open();
    for (const feed of [FEED, FEED, OTHER]) await add(feed);
    await write(async (tx) => {
      for (const [feed, n, part] of [
        [FEED, 1, 0],
        [FEED, 1, 1],
        [FEED, 1, 2],
        [FEED, 2, 0],
        [FEED, 7, 0],
        [OTHER, 9, 0],
      ] as const)
        await insertPart(tx, feed, n, part, new Uint8Array([n, part]));
    });
    expect(await findPart(reader, FEED, 1, 2)).toEqual(new Uint8Array([1, 2]));
    expect(await findPart(reader, FEED, 2, 1)).toBeUndefined();
    expect(await findSparePart(reader, FEED)).toEqual({ n: 7 });
    await set(1, "done");
    await set(2, "running");
    expect(await findSparePart(reader, FEED)).toEqual({ n: 1 });
    expect(await write((tx) => deleteParts(tx, FEED, 1, 2))).toBe(2);
    expect(await findPart(reader, FEED, 1, 2)).toEqual(new Uint8Array([1, 2]));
    expect([await write((tx) => deleteParts(tx, FEED, 1, 2)), await write((tx) => deleteParts(tx, FEED, 7, 2))]).toEqual([1, 1]);
    expect(await findSparePart(reader, FEED)).toBeUndefined();
    expect([await findPart(reader, FEED, 2, 0), await findPart(reader, OTHER, 9, 0)]).not.toContain(undefined);
  });

  test("a generation is unused if no feed shows it and no run writes it", async () => {
    const { add, set, write, reader } = await open();
    await add();
    const begin = (feed = FEED) => write((tx) => beginGeneration(tx, feed));
    const before = [(await findFeed(reader, FEED))?.generation, (await findFeed(reader, OTHER))?.generation];
    const [shown, running, spare, other] = [await begin(), await begin(), await begin(), await begin(OTHER)];
    expect(new Set([...before, shown, running, spare, other]).size).toBe(6);
    await write((tx) => showGeneration(tx, FEED, shown, 3));
    await set(1, "running", running);
    expect(await findFeed(reader, FEED)).toMatchObject({ generation: shown, item_count: 3 });
    for (const old of [before[0], spare]) {
      expect(await findSpareGeneration(reader, FEED)).toBe(old);
      await write((tx) => deleteGeneration(tx, FEED, old ?? 0));
    }
    expect(await findSpareGeneration(reader, FEED)).toBeUndefined();
    await set(1, "done", running);
    expect(await findSpareGeneration(reader, FEED)).toBe(running);
    expect(await findSpareGeneration(reader, OTHER)).toBe(other);
  });
});
