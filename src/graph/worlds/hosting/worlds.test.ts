/**
 * Checks that the worlds of one server are created, closed when idle, replaced and deleted. The databases of these tests are real; background work is
 * only recorded.
 */
import { expect, spyOn, test } from "bun:test";
import { authMigrations } from "#auth/auth.migrations";
import { afterThisTest } from "#harness/cleanup";
import { movedClock } from "#harness/work-database";
import { nodeId } from "#kernel/ids";
import { nextTurn } from "#kernel/turns";
import type { Database, Transaction } from "#storage/database";
import { databasesIn } from "#storage/open";
import { sql } from "#storage/sql";
import { graphMigrations } from "../graph.migrations.ts";
import { newWorldMemory, type OpenWorld } from "../open-world.ts";
import { epochOf, findSetting, saveSetting } from "../settings.store.ts";
import { findWakeTimes, insertWorld } from "./worlds.store.ts";
import { announce, followChanges, Worlds } from "./worlds.ts";

const START_MS = 1_795_000_000_000;

async function opened(openMax = 100) {
  const events: string[] = [];
  const real = movedClock(START_MS);
  const databases = await databasesIn(":memory:", [graphMigrations, authMigrations]);
  const work: Record<string, { nextDueMs?: number } | undefined> = {};
  const seen = (): string[] => events.splice(0);
  const failures: unknown[] = [];
  const worlds = await Worlds.open({
    databases: {
      spread: [],
      open: (name) => databases.open(name),
      look: (name, read) => databases.look(name, read),
      async remove(name) {
        await databases.remove(name);
        events.push(`data of ${name} removed`);
      },
      making: (name, make) => databases.making(name, make),
    },
    openMax,
    async openWorld(name, database, memory) {
      events.push(`${name} opened`);
      const clock = { isFrozen: false, nowMs: () => 1_000, note: async () => {} };
      const worker = {
        start: () => events.push(`${name} works`),
        get idle() {
          return name in work ? work[name] : {};
        },
      };
      const ends = { close: async () => void events.push(`${name} closed`), abandon: async () => void events.push(`${name} abandoned`) };
      return { ...{ name, database, memory, clock, work: worker }, ...ends } as unknown as OpenWorld;
    },
    openEmpty: async (profile) => ({ name: "", profile, close: async () => void events.push("empty world closed") }) as unknown as OpenWorld,
    newMemory: () =>
      newWorldMemory({
        isSandbox: false,
        faults: { sleepMs: async () => {}, randomFraction: () => 0, monotonicMs: () => 0 },
        rateLimits: { app_calls_per_hour: 0, page_calls_per_hour: 0 },
      }),
    async removeFiles(name) {
      events.push(`files of ${name} removed`);
    },
    async fillFirst({ name }) {
      events.push(`${name} filled`);
    },
    ...{ randomSecret: () => "process", realNowMs: () => real.ms },
    collectGarbage: () => events.push("memory given back"),
    onError: (error) => failures.push(error),
  });
  afterThisTest(() => worlds.close());
  const openNames = (): string[] => [...worlds.open()].map(({ name }) => name);
  /** Fills a test world with one word as its data. */
  const write = (name: string, word: string) => async (world: OpenWorld) => {
    expect(world.name).toBe(name);
    await world.database.write((tx) => saveSetting(tx, "word", word));
  };
  const wordIn = async (name: string): Promise<string | undefined> => {
    const held = await worlds.hold(name);
    return held === undefined ? "no world" : findSetting(held.world.database.reader, "word").finally(() => held.leave());
  };
  const openings = async (): Promise<string[]> =>
    (await worlds.default.database.reader.all<{ name: string }>(sql`SELECT o.name FROM open_worlds o ORDER BY o.name`)).map(({ name }) => name);
  /** Closes unused worlds in two calls, because after the first call the world still counts as used. */
  const closeIdle = (): Promise<boolean> => worlds.closeUnused().then(() => worlds.closeUnused());
  return { worlds, seen, real, work, failures, openNames, write, wordIn, openings, closeIdle };
}

test("worlds that are open work from the start, later ones from their opening", async () => {
  const { worlds, seen, write } = await opened();
  await worlds.make("a", write("a", "x"));
  seen();
  const reported: string[] = [];
  await worlds.start(async ({ name }) => void reported.push(`${name} ${seen().join()}`), false);
  expect([reported, seen()]).toEqual([["default ", "a default works"], ["a works"]]);
  await worlds.make("b", write("b", "x"));
  expect([reported.at(-1), seen()]).toEqual(["b b opened", ["b works"]]);
});

test("a world that is created with content is open and noted; one without opens at its first use", async () => {
  const { worlds, seen, openNames, write, wordIn, openings } = await opened();
  expect(await worlds.make("full", write("full", "x"))).toBe(true);
  expect(await worlds.make("bare")).toBe(true);
  expect({ open: openNames(), noted: await openings(), word: await wordIn("full") }).toEqual({
    ...{ open: ["default", "full"], noted: ["full"], word: "x" },
  });
  seen();
  expect(await wordIn("bare")).toBeUndefined();
  expect({ events: seen(), noted: await openings() }).toEqual({ events: ["bare opened"], noted: ["bare", "full"] });
  expect((await worlds.list({ limit: 5 })).rows).toEqual([
    { name: "bare", made_ms: START_MS, database: null },
    { name: "full", made_ms: START_MS, database: null },
  ]);
});

test("if several create a world of one name at once, the first one does, and the others do not touch it, even if theirs would fail", async () => {
  const { worlds, seen, write, wordIn } = await opened();
  seen();
  const failing = async (): Promise<void> => {
    throw new Error("wrong file");
  };
  const made = [worlds.make("a", write("a", "first")), worlds.make("a", failing), worlds.make("a")];
  expect(await Promise.all(made)).toEqual([true, false, false]);
  expect([seen(), await wordIn("a")]).toEqual([["a opened"], "first"]);
});

test("a name is used once; a world that cannot be filled leaves nothing, and its name is free again", async () => {
  const { worlds, seen, write, wordIn } = await opened();
  await expect(worlds.make("No Name")).rejects.toThrow("not a valid world name: No Name");
  expect(await worlds.make("a", write("a", "x"))).toBe(true);
  for (const name of ["a", "default"]) expect(await worlds.make(name, write(name, "other"))).toBe(false);
  expect([await wordIn("a"), await wordIn("default")]).toEqual(["x", undefined]);
  seen();
  const failing = worlds.make("b", async (world) => {
    await write("b", "half")(world);
    throw new Error("wrong file");
  });
  await expect(failing).rejects.toThrow("wrong file");
  expect(seen()).toEqual(["b opened", "b abandoned", "data of b removed", "files of b removed"]);
  expect(await wordIn("b")).toBe("no world");
  expect(await worlds.make("b")).toBe(true);
  expect(await wordIn("b")).toBeUndefined();
});

test("a name that another process takes first stays with that one, and its world opens at its first use", async () => {
  const { worlds, seen, openNames, wordIn } = await opened();
  const take = async () => void (await worlds.default.database.write((tx) => insertWorld(tx, "a", 1)));
  seen();
  expect(await worlds.make("a", take)).toBe(false);
  expect({ events: seen(), open: openNames() }).toEqual({ events: ["a opened", "a closed"], open: ["default"] });
  expect([await wordIn("a"), openNames()]).toEqual([undefined, ["default", "a"]]);
});

test("another process's changes apply here, too: a replaced world begins again, a deleted one is gone", async () => {
  const { worlds, seen, write, openNames, failures } = await opened();
  for (const name of ["a", "b"]) await worlds.make(name, write(name, "x"));
  const done = (change: "deleted" | "replaced", name: string) => worlds.default.database.write(async (tx) => announce(tx, change, "other", name));
  seen();
  await done("replaced", "a");
  (await worlds.hold("a"))?.leave();
  expect(seen()).toEqual(["a abandoned", "a opened"]);
  await done("deleted", "b");
  while (openNames().includes("b") || seen().length === 0) await Bun.sleep(1);
  expect({ open: openNames(), failures }).toEqual({ open: ["default", "a"], failures: [] });
});

test("worlds are checked a minute after one has opened; with the first one alone nothing is checked", async () => {
  const { setTimeout } = globalThis;
  const looks: (() => void)[] = [];
  const setTimer = spyOn(globalThis, "setTimeout").mockImplementation(((look: () => void, ms?: number) => {
    if (ms === 60_000 && new Error().stack?.includes("hosting/idle-worlds.ts")) looks.push(look); // Loops of other worlds sleep 60 s, too.
    return setTimeout(look, ms);
  }) as typeof setTimeout);
  try {
    const { worlds, openNames, write } = await opened();
    expect(looks).toEqual([]);
    await worlds.make("a", write("a", "x"));
    expect(looks).toHaveLength(1);
    await worlds.closeUnused();
    looks[0]?.();
    while (openNames().includes("a")) await Bun.sleep(1);
    expect(openNames()).toEqual(["default"]);
  } finally {
    setTimer.mockRestore();
  }
});

test("worlds without use since the last check become idle; memory is freed only then, and the result says whether one is still open", async () => {
  const { worlds, seen, work, openNames, write, openings } = await opened();
  expect(await worlds.closeUnused()).toBe(false);
  for (const name of ["a", "b"]) await worlds.make(name, write(name, "x"));
  seen();
  expect([await worlds.closeUnused(), seen()]).toEqual([true, []]);
  work.b = undefined;
  expect(await worlds.closeUnused()).toBe(true);
  expect(seen()).toEqual(["a closed", "memory given back"]);
  expect({ open: openNames(), noted: await openings() }).toEqual({ open: ["default", "b"], noted: ["b"] });
  expect([await worlds.closeUnused(), seen()]).toEqual([true, []]);
  delete work.b;
  expect([await worlds.closeUnused(), openNames(), await openings()]).toEqual([false, ["default"], []]);
});

test("an idle world is opened when its work is due, counted in real time; one without work never is", async () => {
  const { worlds, real, work, write, closeIdle } = await opened();
  for (const name of ["due", "idle"]) await worlds.make(name, write(name, "x"));
  // The test world's own clock is at 1,000.
  work.due = { nextDueMs: 61_000 };
  real.ms += 5_000;
  await closeIdle();
  expect((await findWakeTimes(worlds.default.database.reader)).map((row) => ({ ...row }))).toEqual([{ name: "due", wake_ms: START_MS + 65_000 }]);
  (await worlds.hold("due"))?.leave();
  expect(await findWakeTimes(worlds.default.database.reader)).toEqual([]);
});

test("a deleted world is gone with its data and files, once; the first one cannot be deleted", async () => {
  const { worlds, seen, write, wordIn, openNames } = await opened();
  await worlds.make("a", write("a", "x"));
  seen();
  expect([await worlds.delete("default"), await worlds.delete("nothing"), seen()]).toEqual([false, false, []]);
  expect(await worlds.delete("a")).toBe(true);
  expect(seen()).toEqual(["a abandoned", "data of a removed", "files of a removed"]);
  expect([await worlds.delete("a"), await wordIn("a"), openNames()]).toEqual([false, "no world", ["default"]]);
  expect((await worlds.list({ limit: 5 })).rows).toEqual([]);
  await worlds.make("a", write("a", "y"));
  expect(await wordIn("a")).toBe("y");
});

test("requests enter a world by its name; an invalid or unknown name has none", async () => {
  const { worlds, write } = await opened();
  await worlds.make("a", write("a", "x"));
  expect((await worlds.enter("a"))?.world.name).toBe("a");
  expect((await worlds.enter("default"))?.world).toBe(worlds.default);
  expect(await worlds.enter("No Name")).toBeUndefined();
  expect(await worlds.enter("nothing")).toBeUndefined();
});

test("D-333: a closed world opens for a request that shows something that the world has stored", async () => {
  const { worlds, write, openNames, closeIdle, seen } = await opened();
  await worlds.make("a", write("a", "x"));
  expect((await worlds.enterOpen("a"))?.world.name).toBe("a");
  expect(await worlds.holdIf("a")).toMatchObject({ world: { name: "a" } });
  const [one, other] = [await worlds.enterOpen("a"), await worlds.holdIf("a")];
  for (const entered of [one, other, one, other]) entered?.leave();
  await closeIdle();
  expect(openNames()).toEqual(["default"]);
  expect(await worlds.enterOpen("a")).toBeUndefined();
  expect(await worlds.holdIf("a")).toBeUndefined();
  expect(await worlds.holdIf("a", async (reader) => (await findSetting(reader, "word")) === "y")).toBeUndefined();
  const outside = await worlds.outside("a");
  expect(outside.world.name).toBe("");
  await outside.door.showNode(nodeId("2001"));
  expect({ isOpened: outside.door.isOpened, open: openNames() }).toEqual({ isOpened: false, open: ["default"] });
  expect((await worlds.holdIf("a", async (reader) => (await findSetting(reader, "word")) === "x"))?.world.name).toBe("a");
  expect(await worlds.holdIf("nothing", async () => true)).toBeUndefined();
  expect((await worlds.outside("nothing")).world).toBe(outside.world);
  await worlds.close();
  expect(seen()).toContain("empty world closed");
});

test("D-333: closed worlds are opened in turns, between which others are served", async () => {
  const { worlds, openNames, write, closeIdle } = await opened();
  const names = Array.from({ length: 20 }, (_, at) => `w${at}`);
  for (const name of names) await worlds.make(name, write(name, "x"));
  await closeIdle();
  let open = openNames().length;
  expect(open).toBe(1);
  /** Counts the worlds that were opened in each turn of the event loop. */
  const openedInTurn: number[] = [];
  const look = (): void => {
    openedInTurn.push(openNames().length - open);
    open = openNames().length;
    if (open <= names.length) setImmediate(look);
  };
  setImmediate(look);
  const held = await Promise.all(names.map((name) => worlds.hold(name)));
  while (open <= names.length) await nextTurn();
  for (const one of held) one?.leave();
  expect(Math.max(...openedInTurn)).toBe(1);
});

test("D-333: a world opens if its data cannot be read yet, and its opening reports what is wrong", async () => {
  const { worlds, write, closeIdle } = await opened();
  await worlds.make("a", write("a", "x"));
  await closeIdle();
  const { door } = await worlds.outside("a");
  expect((await worlds.holdIf("a", () => Promise.reject(new Error("no such column"))))?.world.name).toBe("a");
  await door.showToken("any");
  expect(door.isOpened).toBe(true);
});

test("whether anything besides the first world exists: another world, or a snapshot", async () => {
  const { worlds } = await opened();
  expect(await worlds.hasMore()).toBe(false);
  await worlds.make("a");
  expect(await worlds.hasMore()).toBe(true);
  await worlds.delete("a");
  expect(await worlds.hasMore()).toBe(false);
  await worlds.saveSnapshot("default", "s");
  expect(await worlds.hasMore()).toBe(true);
});

test("snapshots of existing worlds are kept, listed, restored and deleted by name; the initial state is not one of them", async () => {
  const { worlds, seen, write, wordIn } = await opened();
  await worlds.make("a", write("a", "first"));
  for (const name of ["s", "t"]) expect(await worlds.saveSnapshot("a", name)).toBe(true);
  const listed = async () => (await worlds.listSnapshots("a"))?.map(({ name }) => name);
  expect(await listed()).toEqual(["s", "t"]);
  const held = await worlds.hold("a");
  await held?.world.database.write((tx) => saveSetting(tx, "word", "second"));
  held?.leave();
  seen();
  expect([await worlds.restoreSnapshot("a", "other"), await worlds.restoreSnapshot("a", "_beginning"), seen()]).toEqual([false, false, []]);
  expect(await worlds.restoreSnapshot("a", "s")).toBe(true);
  expect(seen()).toEqual(["a abandoned", "a opened"]);
  expect(await wordIn("a")).toBe("first");
  await expect(worlds.saveSnapshot("a", "_beginning")).rejects.toThrow("not a valid snapshot name: _beginning");
  expect([await worlds.deleteSnapshot("a", "_beginning"), await worlds.deleteSnapshot("a", "s"), await worlds.deleteSnapshot("a", "s")]).toEqual([
    ...[false, true, false],
  ]);
  expect(await listed()).toEqual(["t"]);
  const none = [
    worlds.saveSnapshot("nothing", "s"),
    worlds.listSnapshots("nothing"),
    worlds.restoreSnapshot("nothing", "s"),
    worlds.deleteSnapshot("nothing", "s"),
    worlds.reset("nothing"),
  ];
  expect(await Promise.all(none)).toEqual(none.map(() => undefined));
});

test("a reset restores the initial content, or nothing; the first world is filled again before it is used", async () => {
  const { worlds, seen, write, wordIn } = await opened();
  await worlds.make("a", write("a", "first"));
  await worlds.make("bare");
  for (const name of ["a", "bare", "default"]) {
    const held = await worlds.hold(name);
    await held?.world.database.write((tx) => saveSetting(tx, "word", "later"));
    held?.leave();
  }
  seen();
  expect(await worlds.reset("a")).toBe(true);
  expect(seen()).toEqual(["a abandoned", "files of a removed", "a opened"]);
  expect(await worlds.reset("bare")).toBe(true);
  seen();
  expect(await worlds.reset("default")).toBe(true);
  expect(seen()).toEqual(["default abandoned", "files of default removed", "default opened", "default filled"]);
  expect([await wordIn("a"), await wordIn("bare"), await wordIn("default")]).toEqual(["first", undefined, undefined]);
});

test("D-423: a reset and a restored snapshot end the epoch of a world's logs", async () => {
  const { worlds, write } = await opened();
  await worlds.make("a", write("a", "first"));
  let made = 0;
  const epoch = async (): Promise<string> => {
    const held = await worlds.hold("a");
    const { database } = (held as { world: OpenWorld }).world;
    return epochOf({ database, randomSecret: () => String(++made) }).finally(() => held?.leave());
  };
  expect([await epoch(), await epoch()]).toEqual(["1", "1"]);
  await worlds.saveSnapshot("a", "s");
  expect(await epoch()).toBe("1");
  await worlds.restoreSnapshot("a", "s");
  expect([await epoch(), await epoch()]).toEqual(["2", "2"]);
  await worlds.reset("a");
  expect(await epoch()).toBe("3");
});

test("at the end the others are closed before the first one, which notes those that stay open, even one that is just opening", async () => {
  const { worlds, seen, real, work, write, openNames, failures, closeIdle } = await opened();
  for (const name of ["busy", "due", "idle"]) await worlds.make(name, write(name, "x"));
  Object.assign(work, { busy: undefined, due: { nextDueMs: 61_000 } });
  await closeIdle().then(() => (real.ms += 60_000));
  (await worlds.hold("idle"))?.leave();
  seen();
  await worlds.start(async () => {}, true);
  await worlds.close();
  const events = seen();
  expect(events.filter((event) => event.startsWith("due"))).toEqual(["due opened", "due works", "due closed"]);
  expect(events.filter((event) => event.endsWith(" closed")).toSorted()).toEqual(["busy", "default", "due", "idle"].map((name) => `${name} closed`));
  expect({ last: events.at(-1), open: openNames(), failures }).toEqual({ last: "default closed", open: [], failures: [] });
  expect(() => worlds.default).toThrow("the first world is closed");
});

/** A test database whose announcements go to all processes, like the facts of one database. */
function shared() {
  const listeners: ((kind: string | undefined, key: string | undefined) => void)[] = [];
  const invalidate = (kind: string | undefined, key?: string): void => {
    for (const listener of listeners) listener(kind, key);
  };
  const database = { onInvalidate: (listener: (typeof listeners)[number]) => void listeners.push(listener) } as unknown as Database;
  const heardBy = (process: string): string[] => {
    const heard: string[] = [];
    followChanges(database, process, (change, name) => heard.push(`${change} ${name}`));
    return heard;
  };
  return { tx: { invalidate } as unknown as Transaction, invalidate, heardBy };
}

test("every other process learns which world was deleted or replaced", () => {
  const { tx, heardBy } = shared();
  const [one, other] = [heardBy("p1"), heardBy("p2")];
  announce(tx, "deleted", "p1", "a");
  announce(tx, "replaced", "p2", "b");
  expect({ one, other }).toEqual({ one: ["replaced b"], other: ["deleted a"] });
});

test("other facts, or that everything may have changed, do not change a world", () => {
  const { invalidate, heardBy } = shared();
  const heard = heardBy("p1");
  invalidate(undefined);
  invalidate("token", "p2 a");
  invalidate("world", undefined);
  invalidate("world", "p2");
  expect(heard).toEqual([]);
});

test("D-332: a world that opens above the limit takes the place of the one whose last use is longest ago, and nothing of it is lost", async () => {
  const { worlds, openNames, write, wordIn, seen, work } = await opened(2);
  for (const name of ["a", "b", "c", "d"]) await worlds.make(name, write(name, `in ${name}`));
  expect(openNames()).toEqual(["default", "c", "d"]);
  seen();
  // A world that is in use stays open.
  const held = await worlds.hold("c");
  expect(await wordIn("a")).toBe("in a");
  expect(await wordIn("b")).toBe("in b");
  held?.leave();
  expect(openNames().sort()).toEqual(["b", "c", "default"]);
  expect(seen().filter((event) => / (opened|closed)$/.test(event))).toEqual(["d closed", "a opened", "a closed", "b opened"]);
  // A world that has work stays open, too.
  work.b = undefined;
  expect(await wordIn("d")).toBe("in d");
  expect(openNames().sort()).toEqual(["b", "d", "default"]);
  delete work.b;
  const words = await Promise.all(["a", "b", "c", "d"].flatMap((name) => [wordIn(name), wordIn(name)]));
  expect(words).toEqual(["a", "b", "c", "d"].flatMap((name) => [`in ${name}`, `in ${name}`]));
  expect(openNames()).toHaveLength(3);
});

test("D-332: one that finds no place because all others stay in use is refused, and opens once one of them has left", async () => {
  const { worlds, openNames, write, wordIn } = await opened(1);
  for (const name of ["a", "b"]) await worlds.make(name, write(name, `in ${name}`));
  const held = await worlds.hold("b");
  const waiting = wordIn("a");
  await expect(waiting).rejects.toMatchObject({ errorName: "overloaded" });
  const late = wordIn("a");
  held?.leave();
  expect(await late).toBe("in a");
  expect(openNames()).toEqual(["default", "a"]);
});
