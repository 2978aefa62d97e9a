/** Tests several ingest processes on one world: which feeds are lost and when, and the row in which a process is stored. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { feedStarted } from "../lifecycle/feed.ts";
import { readLiveState } from "../lifecycle/live-state.ts";
import { sourceSends } from "./feed.control.ts";
import { FeedRegistry } from "./feed-registry.ts";
import { type FeedHealth, healthOf } from "./health.ts";
import { findFeedsOf, saveIngest } from "./ingests.store.ts";

const KEY = "a-key-that-encoders-know";
const OTHER_KEY = "another-key-of-encoders";
const SIZE = { width: 640, height: 360 };
const live_videos = [
  { id: "5301", page: "2001", status: "LIVE", stream_key: KEY },
  { id: "5302", page: "2001", status: "LIVE", stream_key: OTHER_KEY },
];
const healthy = (video: string, session: number): FeedHealth => ({
  ...{ video, session, bits_per_second: 900_000, frames_per_second: 25, audio_bits_per_second: 64_000, audio_behind_ms: 20, gaps: 0, clock_steps: 0 },
  ...{ key_frame_ms: 2_000, ...SIZE },
});

onEachDatabase("one ingest process beside another", (database) => {
  const open = async () => {
    const plaza = await openPlaza({ database, world: { ...cafe, live_videos } });
    return { plaza, first: new FeedRegistry(plaza.world), second: new FeedRegistry(plaza.world) };
  };
  const isSending = async ({ world }: TestPlaza, id = "5301") => (await readLiveState(world, nodeId(id)))?.feed.is_sending;
  /** Returns for each ingest process that may have feeds the time of its last report, in milliseconds relative to now. */
  const heardOf = async (plaza: TestPlaza) =>
    ((await plaza.dump(["live_ingests.seen_ms"])) as { value: unknown }[]).map(({ value }) => Number(value) - plaza.time.realMs);

  test("a process that was silent for more than ten seconds is dead; on SQLite every other process is", async () => {
    const { plaza, first, second } = await open();
    await first.start(KEY, SIZE);
    plaza.time.realMs += 10_000;
    await second.loseSilent();
    expect(await isSending(plaza)).toBe(true);
    await second.takeOver();
    expect(await isSending(plaza)).toBe(database === "postgres");
    // `takeOver` works only once, because later reports find the ingest processes that die after its call.
    await first.start(KEY, SIZE);
    await second.takeOver();
    expect(await isSending(plaza)).toBe(true);
    plaza.time.realMs += 10_001;
    await new FeedRegistry(plaza.world).takeOver();
    expect(await isSending(plaza)).toBe(false);
  });

  test("if dead processes could not be looked for, the next key is checked when they can", async () => {
    const { plaza, first, second } = await open();
    await first.start(KEY, SIZE);
    plaza.time.realMs += 20_000;
    const { database: data } = plaza.world;
    const { write } = data;
    data.write = () => Promise.reject(new Error("the database is away"));
    await expect(second.check(KEY)).rejects.toThrow("the database is away");
    data.write = write;
    expect((await second.check(KEY))?.feed).toEqual({ video: "5301", session: 0 });
    expect(await isSending(plaza)).toBe(false);
  });

  test("every fifth report looks for the others, even in a process without feeds", async () => {
    const { plaza, first, second } = await open();
    await first.start(KEY, SIZE);
    plaza.time.realMs += 10_001;
    const seen: unknown[] = [];
    for (let times = 1; times <= 5; times++) {
      await second.report([]);
      seen.push(await isSending(plaza));
    }
    expect(seen).toEqual([true, true, true, true, false]);
    await first.start(KEY, SIZE);
    plaza.time.realMs += 10_001;
    for (let times = 6; times <= 10; times++) {
      expect(await isSending(plaza)).toBe(true);
      await second.report([]);
    }
    expect(await isSending(plaza)).toBe(false);
  });

  test("a process reports from its first feed while it has one; without a feed it is silent, and its end leaves no row", async () => {
    const { plaza, first } = await open();
    // The test replaces the world while the ingest process still has feeds of the earlier world.
    expect(await first.report([healthy("5301", 1)])).toEqual([{ video: "5301", session: 1 }]);
    expect([await heardOf(plaza), healthOf(plaza.world, "5301")]).toEqual([[], undefined]);
    await first.start(KEY, SIZE);
    plaza.time.realMs += 1_000;
    expect([await heardOf(plaza), await first.report([healthy("5301", 1)]), await heardOf(plaza)]).toEqual([[-1_000], [], [0]]);
    expect(healthOf(plaza.world, "5301")).toEqual(healthy("5301", 1));
    await first.end({ video: "5301", session: 1 }, "lost");
    expect(healthOf(plaza.world, "5301")).toBeUndefined();
    plaza.time.realMs += 1_000;
    expect([await first.report([]), await heardOf(plaza)]).toEqual([[], [-1_000]]);
    await first.start(OTHER_KEY, SIZE);
    await first.lost();
    expect([await heardOf(plaza), await isSending(plaza, "5302")]).toEqual([[], false]);
    // The feeds of the ingest process have ended, and reports about ended feeds change nothing.
    expect([await first.report([healthy("5302", 1)]), await heardOf(plaza)]).toEqual([[{ video: "5302", session: 1 }], []]);
  });

  test("a key is free for its own process, and if the control API simulates an encoder; a media server that reported once keeps it", async () => {
    const { plaza, first, second } = await open();
    const admits = async (registry: FeedRegistry, key = KEY) => (await registry.check(key)) !== undefined;
    await second.takeOver();
    await first.start(KEY, SIZE);
    expect([await admits(first), await admits(second)]).toEqual([true, false]);
    await first.end({ video: "5301", session: 1 }, "lost");
    expect(await admits(second)).toBe(true);
    await feedStarted(plaza.world, KEY);
    expect([await admits(first), await admits(second)]).toEqual([true, true]);
    expect(await sourceSends(plaza.world, OTHER_KEY, "encoder 1", false)).toBe(true);
    plaza.time.realMs += 1_000_000;
    expect([await admits(first, OTHER_KEY), await isSending(plaza, "5302")]).toEqual([false, true]);
  });

  test("the feeds of a process are those that send, and another process keeps its own", async () => {
    const { plaza, first, second } = await open();
    const { world } = plaza;
    await feedStarted(world, KEY, { ingest: "one", ...SIZE });
    await feedStarted(world, OTHER_KEY, { ingest: "one", ...SIZE });
    const feedsOf = async (ingest: string) => (await findFeedsOf(world.database.reader, ingest)).map(({ video, session }) => `${video} ${session}`);
    expect([await feedsOf("one"), await feedsOf("two")]).toEqual([["5301 1", "5302 1"], []]);
    await feedStarted(world, OTHER_KEY, { ingest: "two", ...SIZE });
    expect([await feedsOf("one"), await feedsOf("two")]).toEqual([["5301 1"], ["5302 2"]]);
    await world.database.write(async (tx) => {
      for (const id of ["one", "two"]) await saveIngest(tx, id, plaza.time.realMs - (id === "one" ? 10_001 : 0));
    });
    await Promise.all([first.loseSilent(), second.loseSilent()]);
    expect([await isSending(plaza), await isSending(plaza, "5302")]).toEqual([false, true]);
    expect([await feedsOf("one"), await feedsOf("two")]).toEqual([[], ["5302 2"]]);
  });
});
