/** Checks that the file of a saved state is always either the complete old file or the complete new file, even after a power failure. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { diskSteps } from "#harness/disk/disk-steps";
import { temporaryFolder } from "#harness/server";
import { StateFiles, type StateSource } from "./saved-states.ts";

const holding = (text: string): StateSource => ({ saveInto: (path) => writeFileSync(path, text, { flag: "wx" }) });

test("a state is on the disk before it has its name, and so are its folders", async () => {
  const folder = temporaryFolder();
  const states = new StateFiles({ folder, isDurable: true }, "default");
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
  const inMemory = new StateFiles({ folder, isDurable: false }, "other");
  expect(await diskSteps(folder, () => inMemory.save("one", holding("first")))).toEqual([
    "snapshots/other/one.sqlite.new is snapshots/other/one.sqlite",
  ]);
});

test("the remains of an interrupted save do not matter, and are not a state", async () => {
  const folder = temporaryFolder();
  const states = new StateFiles({ folder, isDurable: true }, "default");
  mkdirSync(join(folder, "snapshots/default"), { recursive: true });
  writeFileSync(join(folder, "snapshots/default/one.sqlite.new"), "half");
  expect(states.list()).toEqual([]);
  states.save("one", holding("whole"));
  expect(await states.use("one", async (path) => readFileSync(path, "utf8"))).toBe("whole");
  expect(states.list()).toMatchObject([{ name: "one" }]);
});

test("a missing state is neither used nor deleted", async () => {
  const states = new StateFiles({ folder: temporaryFolder(), isDurable: true }, "default");
  let isUsed = false;
  expect(await states.use("one", async () => (isUsed = true))).toBeUndefined();
  expect({ isUsed, isDeleted: states.delete("one") }).toEqual({ isUsed: false, isDeleted: false });
});

test("states are listed in the order of their names, with the exact millisecond of their saving", () => {
  const folder = temporaryFolder();
  const states = new StateFiles({ folder, isDurable: true }, "default");
  const own = join(folder, "snapshots/default");
  const names = ["b", "10", "a", "B", "1", "_", "aa", "2", "c"];
  for (const name of names) {
    states.save(name, holding(name));
    utimesSync(join(own, `${name}.sqlite`), 1_795_000_000, 1_795_000_000.0006);
  }
  // `notes.txt` is not a saved state of the world.
  writeFileSync(join(own, "notes.txt"), "");
  const sorted = ["1", "10", "2", "B", "_", "a", "aa", "b", "c"];
  expect(states.list()).toEqual(sorted.map((name) => ({ name, saved_ms: 1_795_000_000_000 })));
});
