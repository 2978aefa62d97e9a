import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { changeEntry, findEntry, insertEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { requiredActionSection } from "./required-actions.world.ts";

const LARGEST = String(Number.MAX_SAFE_INTEGER);
const BEYOND = String(2n ** 53n);

onEachDatabase("a required action of a world file", (database) => {
  test("D-02: has an id that a JSON number can hold, given or derived from a longer one, and never one that is taken", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const insert = (id: string) => insertEntry(plaza, "required_actions", { id, app: "1001" });
    await expect(insert(BEYOND)).rejects.toThrow("must be below 2^53");
    expect(await insert(LARGEST)).toBe(true);
    const made = (minted: string) => {
      plaza.world.ids.mint = () => nodeId(minted);
      return plaza.world.database.write(async (tx) => requiredActionSection.mintId?.(tx, plaza.world));
    };
    expect([await made("7000"), await made(String(2n ** 62n + 1_023n)), await made(BEYOND)]).toEqual(["7000", String(2n ** 52n), String(2n ** 43n)]);
    expect([await made("1001"), await made("2001")]).toEqual(["1003", "2003"]);
  });

  test("stays with its app, and its id belongs to no other node", async () => {
    const plaza = await openPlaza({
      database,
      world: { ...cafe, required_actions: [{ id: "5201", app: "1001", title: "Review", due_date: 1_795_000_001 }] },
    });
    await expect(changeEntry(plaza, "required_actions", "5201", { app: "1002" })).rejects.toThrow("cannot change");
    const stored = { id: "5201", app: "1001", title: "Review", due_date: 1_795_000_001, status: "in_progress" };
    expect(await findEntry(plaza, "required_actions", "5201")).toEqual(stored);
    expect([await findEntry(plaza, "required_actions", "1001"), await removeEntry(plaza, "required_actions", "1001")]).toEqual([undefined, false]);
    // The due date of the action passes before the test reads the list of actions.
    plaza.time.realMs = 1_795_000_002_000;
    const listed = await requiredActionSection.list(plaza.world.database.reader, { limit: 5 }, plaza.world);
    expect(listed.rows as unknown[]).toEqual([{ ...stored, status: "past_due" }]);
    expect(await findEntry(plaza, "required_actions", "5201")).toEqual({ ...stored, status: "past_due" });
    expect(await removeEntry(plaza, "required_actions", "5201")).toBe(true);
  });
});
