/** Tests of one world of a server: when it opens, who uses it, and the order of changes of the whole world. */
import { expect, test } from "bun:test";
import { catchTimers } from "#harness/time/stopped-time";
import type { Database } from "#storage/database";
import type { OpenWorld, WorldMemory } from "../open-world.ts";
import { type EnteredWorld, WorldSlot } from "./world-slot.ts";

/** Waits until everything has run that does not wait for a timer or another event. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A test world that records all its events in order. An event of the world that is in `held` waits for the promise that `held` has for it. */
function made() {
  const events: string[] = [];
  const held: Record<string, Promise<unknown>> = {};
  const happens = async (what: string): Promise<void> => {
    await held[what];
    await turn();
    events.push(what);
  };
  const clock = { isFrozen: false, nowMs: () => 1_000, note: () => happens("clock noted") };
  const work: { idle: { nextDueMs?: number } | undefined } = { idle: {} };
  const memory = {
    requests: { clear: () => events.push("requests forgotten"), shrink: () => events.push("requests shrink"), close: () => {} },
    faults: { clear: () => events.push("faults forgotten") },
    rateLimits: { clear: () => events.push("rates forgotten") },
  } as unknown as WorldMemory;
  let [databases, worlds] = [0, 0];
  const failures: { open?: Error } = {};
  const slot = new WorldSlot({
    ...{ name: "orders", memory },
    async openDatabase() {
      const number = ++databases;
      await happens(`database ${number} opened`);
      return { dialect: "sqlite", close: () => happens(`database ${number} closed`), saveState: (name: string) => happens(`${name} saved`) } as never;
    },
    databaseClosed: () => {},
    async openWorld(database, given, isRenewed) {
      const number = ++worlds;
      await happens(`world ${number} opened${isRenewed ? " anew" : ""}`);
      if (failures.open !== undefined) throw failures.open;
      const ends = { close: () => happens(`world ${number} closed`), abandon: () => happens(`world ${number} abandoned`) };
      return { ...{ name: `${number}`, database, clock, work, isOwn: given === memory }, ...ends } as unknown as OpenWorld;
    },
  });
  /** The world's events since the previous call. */
  const seen = (): string[] => events.splice(0);
  const entered = async (): Promise<EnteredWorld> => (await slot.enter()) as EnteredWorld;
  return { slot, seen, happens, held, clock, work, failures, entered };
}

const FORGOTTEN = ["requests forgotten", "faults forgotten", "rates forgotten"];
const OPENED = ["database 1 opened", "world 1 opened"];

test("opens at its first use, once for all who come meanwhile", async () => {
  const { slot, seen } = made();
  expect([slot.name, slot.world, seen()]).toEqual(["orders", undefined, []]);
  const [one, other, third] = await Promise.all([slot.enter(), slot.enter(), slot.hold()]);
  expect(seen()).toEqual(OPENED);
  expect([one?.world, other?.world, third?.world].every((world) => world === slot.world && world !== undefined)).toBe(true);
});

test("a world that cannot be opened closes its database, and the next request tries again", async () => {
  const { slot, seen, failures } = made();
  failures.open = new Error("no world");
  await expect(slot.hold()).rejects.toThrow("no world");
  expect(seen()).toEqual([...OPENED, "database 1 closed"]);
  delete failures.open;
  expect((await slot.hold())?.world).toBe(slot.world as OpenWorld);
  expect(seen()).toEqual(["database 2 opened", "world 2 opened"]);
});

test("was used if a request arrived since the last check, or is running", async () => {
  const { slot, entered } = made();
  const used = () => [slot.wasUsed(), slot.wasUsed()];
  expect(used()).toEqual([false, false]);
  const first = await entered();
  expect(used()).toEqual([true, true]);
  const held = await slot.hold();
  expect(used()).toEqual([true, true]);
  first.leave();
  expect(used()).toEqual([true, true]);
  held?.leave();
  expect(used()).toEqual([false, false]);
  (await entered()).leave();
  expect(used()).toEqual([true, false]);
  (await slot.hold())?.leave();
  expect(used()).toEqual([true, false]);
});

test("becomes idle only without use and work: first the world ends, then its database, then its log is cut", async () => {
  const { slot, seen, happens, work, entered } = made();
  const closeIdle = () => slot.closeIdle((dueInMs) => happens(`closed for ${dueInMs}`));
  expect(await closeIdle()).toBe(false);
  expect(seen()).toEqual([]);
  const [one, other] = [await entered(), await slot.hold()];
  one.leave();
  expect(await closeIdle()).toBe(false);
  other?.leave();
  work.idle = undefined;
  expect(await closeIdle()).toBe(false);
  expect(slot.world?.name).toBe("1");
  expect(seen()).toEqual(OPENED);
  work.idle = {};
  expect(await closeIdle()).toBe(true);
  expect(slot.world).toBeUndefined();
  expect(seen()).toEqual(["world 1 closed", "database 1 closed", "closed for undefined", "requests shrink"]);
  expect((await entered()).world).toBe(slot.world as unknown as OpenWorld);
  expect(seen()).toEqual(["database 2 opened", "world 2 opened"]);
});

test("stays idle until its work is due by its own clock; while that is stopped, it never is", async () => {
  const { slot, clock, work, entered } = made();
  const due = async (isFrozen: boolean, nextDueMs?: number): Promise<number | undefined | string> => {
    (await entered()).leave();
    clock.isFrozen = isFrozen;
    work.idle = nextDueMs === undefined ? {} : { nextDueMs };
    let found: number | undefined | string = "was not closed";
    await slot.closeIdle(async (dueInMs) => {
      found = dueInMs;
    });
    return found;
  };
  expect([await due(false, 1_500), await due(true, 1_500), await due(false), await due(true)]).toEqual([500, undefined, undefined, undefined]);
});

test("begins again: the old value is left, the data is replaced, nothing is cached, and new requests wait", async () => {
  const { slot, seen, happens, entered } = made();
  (await entered()).leave();
  const before = slot.world;
  const holder = await slot.hold();
  const [reported, reportedNoMore]: [boolean[], boolean[]] = [[], []];
  holder?.onReplaced((isDeleted) => reported.push(isDeleted));
  holder?.onReplaced((isDeleted) => reportedNoMore.push(isDeleted))();
  seen();
  const renewing = slot.renew(
    async (database: Database) => {
      await happens(`${database.dialect} replaced`);
      return true;
    },
    (world) => happens(`world ${world.name} begun`),
  );
  const waiting = slot.enter();
  expect(waiting).toBeInstanceOf(Promise);
  const entering = Promise.resolve(waiting).then((next) => happens(`world ${next?.world.name} entered`));
  expect(await renewing).toBe(true);
  await entering;
  expect(seen()).toEqual(["world 1 abandoned", "sqlite replaced", ...FORGOTTEN, "world 2 opened anew", "world 2 begun", "world 2 entered"]);
  expect({ reported, reportedNoMore, isOther: slot.world !== before }).toEqual({ reported: [false], reportedNoMore: [], isOther: true });
});

test("continues as before if nothing was replaced, or the replacement failed; an idle world is opened first", async () => {
  const { slot, seen } = made();
  expect(await slot.renew(async () => false)).toBe(false);
  expect(seen()).toEqual([...OPENED, "world 1 abandoned", ...FORGOTTEN, "world 2 opened anew"]);
  const failing = slot.renew(async () => {
    throw new Error("disk full");
  });
  await expect(failing).rejects.toThrow("disk full");
  expect(seen()).toEqual(["world 2 abandoned", ...FORGOTTEN, "world 3 opened anew"]);
  expect(slot.world?.name).toBe("3");
});

test("begins again when another process replaced it, if it is open; if it is idle, it only drops its state", async () => {
  const { slot, seen } = made();
  await slot.replaced();
  expect([seen(), slot.world]).toEqual([FORGOTTEN, undefined]);
  const reported: boolean[] = [];
  (await slot.hold())?.onReplaced((isDeleted) => reported.push(isDeleted));
  seen();
  await slot.replaced();
  expect(seen()).toEqual(["world 1 abandoned", ...FORGOTTEN, "world 2 opened anew"]);
  expect([reported, slot.world?.name]).toEqual([[false], "2"]);
});

test("ends when it is deleted, before its data; its followers learn of it, and nobody enters it again", async () => {
  const { slot, seen, happens } = made();
  const reported: boolean[] = [];
  (await slot.hold())?.onReplaced((isDeleted) => reported.push(isDeleted));
  seen();
  const deleting = slot.delete(() => happens("removed"));
  const waiting = slot.enter();
  await deleting;
  expect(seen()).toEqual(["world 1 abandoned", "database 1 closed", "removed"]);
  expect(reported).toEqual([true]);
  expect([await waiting, await slot.enter(), await slot.hold()]).toEqual([undefined, undefined, undefined]);
  let isReplaced = false;
  const renewed = await slot.renew(async () => {
    isReplaced = true;
    return true;
  });
  expect(renewed).toBe(false);
  await expect(slot.fill(async () => {})).rejects.toThrow("the world orders was deleted while it was being created");
  expect({ isReplaced, events: seen() }).toEqual({ isReplaced: false, events: [] });
});

test("ends its work before its database when it is closed; an idle one has nothing to close", async () => {
  const { slot, seen, entered } = made();
  await slot.close();
  expect(seen()).toEqual([]);
  (await entered()).leave();
  await slot.close();
  expect(seen()).toEqual([...OPENED, "world 1 closed", "database 1 closed"]);
  expect(slot.world).toBeUndefined();
});

test("keeps its initial state once it exists, even for a slow fill, and nobody holds it afterwards", async () => {
  const { slot, seen, happens } = made();
  await slot.fill((world) => happens(`world ${world.name} filled`));
  expect(seen()).toEqual([...OPENED, "world 1 filled", "clock noted", "_beginning saved"]);
  const failing = slot.fill(async () => {
    throw new Error("wrong file");
  });
  await expect(failing).rejects.toThrow("wrong file");
  expect(seen()).toEqual([]);
  expect([slot.wasUsed(), slot.wasUsed()]).toEqual([true, false]);
});

test("delays a change until the requests have left, a second at most, but not for those of the control API", async () => {
  const { timeouts } = catchTimers("/src/graph/worlds/hosting/world-slot.ts");
  const { slot, seen, entered } = made();
  const [one, other] = [await entered(), await entered()];
  await slot.hold();
  seen();
  const closing = slot.close();
  await turn();
  one.leave();
  for (let turns = 0; turns < 5; turns++) await turn();
  expect(seen()).toEqual([]);
  other.leave();
  await closing;
  expect(seen()).toEqual(["world 1 closed", "database 1 closed"]);
  expect(timeouts).toMatchObject([{ ms: 1_000, isCleared: true }]);
  await entered();
  seen();
  const closingAgain = slot.close();
  for (let turns = 0; turns < 5; turns++) await turn();
  expect(seen()).toEqual([]);
  timeouts[1]?.fire();
  await closingAgain;
  expect(seen()).toEqual(["world 2 closed", "database 2 closed"]);
});

test("makes a change at once if no request is running", async () => {
  const { timeouts } = catchTimers("/src/graph/worlds/hosting/world-slot.ts");
  const { slot, entered } = made();
  (await entered()).leave();
  await slot.hold();
  await slot.replaced();
  expect(timeouts).toEqual([]);
});

test("runs changes one after another, after a world that is just opening, even if that fails", async () => {
  const { slot, seen, happens, held, failures } = made();
  const { promise, resolve: open } = Promise.withResolvers<void>();
  held["world 1 opened"] = promise;
  failures.open = new Error("no world");
  const holding = slot.hold().catch((error: Error) => happens(error.message));
  await turn();
  const changes = Promise.all([slot.replaced().then(() => happens("first")), slot.delete(() => happens("removed")), slot.close()]);
  for (let turns = 0; turns < 5; turns++) await turn();
  expect(seen()).toEqual(["database 1 opened"]);
  open();
  await Promise.all([holding, changes]);
  const all = seen();
  expect(all.slice(0, 2)).toEqual(["world 1 opened", "database 1 closed"]);
  expect(all.indexOf(FORGOTTEN[0] as string)).toBeLessThan(all.indexOf("removed"));
  expect(all).toContain("no world");
});
