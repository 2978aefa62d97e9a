/** Tests feeds of several worlds: Plaza looks up each feed in the feed's own world, which stays open during the look-up. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import type { FeedHealth } from "./channel.ts";
import { WorldFeeds } from "./world-feeds.ts";

const KEY = "own.0123456789abcdef";
const SIZE = { width: 640, height: 360 };

onEachDatabase("the feeds of a world", (database) => {
  async function open() {
    const plaza = await openPlaza({
      database,
      world: { ...cafe, live_videos: [{ id: "5301", page: "2001", status: "LIVE", stream_key: KEY }] },
    });
    const { world } = plaza;
    const held: string[] = [];
    let isOpen = true;
    const hold = async (name: string) => {
      held.push(`hold ${name}`);
      return name === "own" && isOpen ? { world, leave: () => void held.push(`leave ${name}`), onReplaced: () => () => {} } : undefined;
    };
    const worlds = {
      ...{ hold, holdIf: hold },
      open: () => (isOpen ? [world] : []).values(),
    } as unknown as ConstructorParameters<typeof WorldFeeds>[0];
    const has = async () => (await plaza.dump(["live_videos.has_feed"])).map((row) => Number((row as { value: unknown }).value));
    const [feeds, other] = [new WorldFeeds(worlds), new WorldFeeds(worlds)];
    return { plaza, feeds, other, held, has, world, close: () => (isOpen = false) };
  }
  const healthOf = (world: string, session: number) => ({ world, video: "5301", session }) as FeedHealth;

  test("a key is looked up in the world that it names, and the feed belongs to that world; the world is left at once", async () => {
    const { feeds, held, has } = await open();
    expect(await feeds.check("0123456789abcdef")).toBeUndefined();
    expect(await feeds.check("other.0123456789abcdef")).toBeUndefined();
    expect(held.splice(0)).toEqual(["hold default", "hold other"]);
    expect(await feeds.check(KEY)).toEqual({ feed: { world: "own", video: "5301", session: 0 } });
    expect(await feeds.check("own.unknown")).toBeUndefined();
    expect(await feeds.start(KEY, SIZE)).toEqual({ feed: { world: "own", video: "5301", session: 1 } });
    expect(await has()).toEqual([1]);
    await feeds.end({ world: "own", video: "5301", session: 1 }, "lost");
    expect(await has()).toEqual([0]);
    expect(held).toEqual(["hold own", "leave own", "hold own", "leave own", "hold own", "leave own", "hold own", "leave own"]);
  });

  test("no feed of a deleted world may continue; a world without feeds is not kept open for a report", async () => {
    const { feeds, held, world } = await open();
    expect(await feeds.report([])).toEqual([]);
    expect(held).toEqual([]);
    await feeds.start(KEY, SIZE);
    held.splice(0);
    expect(await feeds.report([healthOf("gone", 1), healthOf("own", 1), healthOf("own", 7)])).toEqual([
      { world: "gone", video: "5301", session: 1 },
      { world: "own", video: "5301", session: 7 },
    ]);
    // In the list of open worlds, this world has another name, and no feed belongs to this other name.
    expect(world.name).not.toBe("own");
    expect(held).toEqual(["hold gone", "hold own", "leave own"]);
  });

  test("a world is left even if the question fails", async () => {
    const { feeds, held, world } = await open();
    await feeds.check(KEY);
    held.splice(0);
    world.database.write = () => Promise.reject(new Error("the database is away"));
    await expect(feeds.start(KEY, SIZE)).rejects.toThrow("the database is away");
    expect(held).toEqual(["hold own", "leave own"]);
  });

  test("when the process has died, the feeds of all open worlds are lost, and those of others when they are opened", async () => {
    const one = await open();
    await one.feeds.start(KEY, SIZE);
    await one.feeds.lost();
    expect(await one.has()).toEqual([0]);
    const other = await open();
    await other.feeds.start(KEY, SIZE);
    other.close();
    await other.feeds.lost();
    expect(await other.has()).toEqual([1]);
  });

  test("the feeds of a silent process are lost, both for a world that is opened and for a later check", async () => {
    const { feeds, other, has, plaza, world } = await open();
    await feeds.start(KEY, SIZE);
    await other.opened(world);
    // On SQLite, no other process can use the database, so the feed of the other process is lost at once.
    expect(await has()).toEqual([database === "sqlite" ? 0 : 1]);
    await feeds.start(KEY, SIZE);
    await other.loseSilent();
    expect(await has()).toEqual([1]);
    plaza.time.realMs += 60_000;
    await other.loseSilent();
    expect(await has()).toEqual([0]);
    // An ingest process that reports feeds also looks for dead processes in open worlds to which no encoder sends.
    await feeds.start(KEY, SIZE);
    plaza.time.realMs += 60_000;
    for (let times = 0; times < 5; times++) await other.report([]);
    expect(await has()).toEqual([0]);
  });
});
