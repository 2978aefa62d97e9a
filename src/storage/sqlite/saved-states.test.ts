/** Saved states as files: each is the old one or the new one, also after a power failure. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { diskSteps } from "#harness/disk/disk-steps";
import { temporaryFolder } from "#harness/server";
import { StateFiles, type StateSource, statesFolder } from "./saved-states.ts";

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
