/** Saved states as files: each is the old one or the new one, also after a power failure. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { variables } from "#harness/cli/variables";
import { diskSteps } from "#harness/disk/disk-steps";
import { temporaryFolder } from "#harness/server";
import { nextTurn } from "#kernel/turns";
import { StateFiles, type StateSource, StatesInMemory, statesFolder } from "./saved-states.ts";

const holding = (text: string): StateSource => ({ saveInto: (path) => writeFileSync(path, text, { flag: "wx" }), content: () => undefined });

test("a state is on the disk before it has its name, and its folders are as well", async () => {
  const folder = temporaryFolder();
  const states = new StateFiles(statesFolder(folder, "default"));
  const first = await diskSteps(folder, () => states.save("one", holding("first")));
  const placed = [
    "sync snapshots/default/one.sqlite.new",
    "snapshots/default/one.sqlite.new is snapshots/default/one.sqlite",
    "sync snapshots/default",
  ];
  expect(first.slice(-3)).toEqual(placed);
  expect(first.slice(0, -3).sort()).toEqual(["sync .", "sync snapshots"]);
  expect(await diskSteps(folder, () => states.save("one", holding("second")))).toEqual(placed);
  expect(await states.use("one", async (path) => readFileSync(path, "utf8"))).toBe("second");
});

test("what an interrupted save left is in nobody's way, and no state", async () => {
  const folder = temporaryFolder();
  const states = new StateFiles(folder);
  writeFileSync(join(folder, "one.sqlite.new"), "half");
  expect(states.list()).toEqual([]);
  states.save("one", holding("whole"));
  expect(await states.use("one", async (path) => readFileSync(path, "utf8"))).toBe("whole");
  expect(states.list()).toMatchObject([{ name: "one" }]);
});

test("a state that is not there is neither used nor deleted", async () => {
  const states = new StateFiles(temporaryFolder());
  let isUsed = false;
  expect(await states.use("one", async () => (isUsed = true))).toBeUndefined();
  expect({ isUsed, isDeleted: states.delete("one") }).toEqual({ isUsed: false, isDeleted: false });
});

test("states are listed in the order of their names, with the whole millisecond in which they were saved", () => {
  const folder = temporaryFolder();
  const states = new StateFiles(folder);
  const names = ["b", "10", "a", "B", "1", "_", "aa", "2", "c"];
  for (const name of names) {
    states.save(name, holding(name));
    utimesSync(join(folder, `${name}.sqlite`), 1_795_000_000, 1_795_000_000.0006);
  }
  // What is no state of the world.
  writeFileSync(join(folder, "notes.txt"), "");
  const sorted = ["1", "10", "2", "B", "_", "a", "aa", "b", "c"];
  expect(states.list()).toEqual(sorted.map((name) => ({ name, saved_ms: 1_795_000_000_000 })));
  const inMemory = new StatesInMemory();
  for (const name of names) inMemory.save(name, holding(name));
  expect(inMemory.list().map(({ name }) => name)).toEqual(sorted);
});

test("in memory a state has a file only as long as it is read, for its owner alone; one that is too large for the memory is saved by way of one", async () => {
  const folder = temporaryFolder();
  variables({ TMPDIR: folder });
  const states = new StatesInMemory();
  states.save("small", { saveInto: () => expect.unreachable(), content: () => Buffer.from("in memory") });
  states.save("large", holding("in a file"));
  expect(readdirSync(folder)).toEqual([]);
  for (const [name, content] of [
    ["small", "in memory"],
    ["large", "in a file"],
  ] as const) {
    let path = "";
    const read = await states.use(name, async (given) => {
      path = given;
      await nextTurn();
      expect(statSync(given).mode & 0o777).toBe(0o600);
      return readFileSync(given, "utf8");
    });
    expect({ read, isThere: existsSync(path), left: readdirSync(folder) }).toEqual({ read: content, isThere: false, left: [] });
  }
  await expect(states.use("small", () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  const failing: StateSource = {
    saveInto: () => {
      throw new Error("disk full");
    },
    content: () => undefined,
  };
  expect(() => states.save("other", failing)).toThrow("disk full");
  expect(readdirSync(folder)).toEqual([]);
  expect([await states.use("other", async () => "read"), states.delete("small"), states.delete("small")]).toEqual([undefined, true, false]);
});
