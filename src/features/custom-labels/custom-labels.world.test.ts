import { expect, test } from "bun:test";
import type { WorldSection } from "#graph/contract/feature";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { removeNode } from "#graph/worlds/open-world";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { expectBounds, textOf } from "#harness/schemas/bounds";
import { changeEntry, findEntry, insertEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { labelsPerPageMax } from "./custom-labels.handlers.ts";
import { labelSection } from "./custom-labels.world.ts";

test("D-40: a label of a world file has a name of 1 to 80 characters, and a page 5,000 labels by default", () => {
  expectBounds(labelSection.entry, { id: "5009", page: "2001" }, { name: { right: ["x", textOf(80)], wrong: ["", textOf(81)] } });
  expect({ least: labelsPerPageMax.minimum, usual: labelsPerPageMax.default }).toEqual({ least: 1, usual: 5_000 });
});

onEachDatabase("a label of a world file", (database) => {
  const open = (options = {}) => openPlaza({ database, world: cafe, ...options });
  const create = (plaza: Awaited<ReturnType<typeof open>>, name: string) =>
    plaza.post("/v26.0/2001/custom_labels", { token: "page", body: { page_label_name: name } });

  test("D-40: has a unique name on its page, without spaces around it, and stays on its page", async () => {
    const plaza = await open();
    const insert = (entry: object) => insertEntry(plaza, "labels", { id: "5009", page: "2001", ...entry });
    await expect(insert({ name: "  " })).rejects.toThrow("must not be empty");
    await expect(insert({ name: " vip " })).rejects.toThrow("is already used by the label 5001 of this page");
    expect(await insert({ name: " VIP " })).toBe(true);
    await changeEntry(plaza, "labels", "5009", { name: "VIP" });
    await expect(changeEntry(plaza, "labels", "5009", { name: "vip" })).rejects.toThrow("is already used by the label 5001 of this page");
    await expect(changeEntry(plaza, "labels", "5009", { page: "2002" })).rejects.toThrow("cannot change");
    expect(await findEntry(plaza, "labels", "5009")).toEqual({ id: "5009", page: "2001", name: "VIP", users: [] });
    // A label can have the name of another page's label.
    expect(await insert({ id: "5010", page: "2002", name: "vip" })).toBe(true);
    expect(await findEntry(plaza, "labels", "2001")).toBeUndefined();
    expect(await removeEntry(plaza, "labels", "2001")).toBe(false);
  });

  test("has only the people who are named last", async () => {
    const plaza = await open();
    const users = async (wanted: readonly string[]) => {
      await changeEntry(plaza, "labels", "5001", { users: wanted });
      return (await findEntry(plaza, "labels", "5001"))?.users;
    };
    expect([await users(["9002", "9001"]), await users(["9002"]), await users([]), await users(["9001"])]).toEqual([
      ...[["9001", "9002"], ["9002"], [], ["9001"]],
    ]);
  });

  test("D-40: counts for its page until it is removed, or the page is", async () => {
    const plaza = await open({ settings: { labels_per_page_max: 2 } });
    await insertEntry(plaza, "labels", { id: "5009", page: "2001", name: "second" });
    expect((await create(plaza, "third")).body.message).toContain("the page already has 2 labels");
    expect(await removeEntry(plaza, "labels", "5009")).toBe(true);
    expect((await create(plaza, "third")).status).toBe(200);
    expect((await create(plaza, "fourth")).status).toBe(400);
    const pages = sectionsOf(plaza.registry).find(({ key }) => key === "pages") as WorldSection;
    expect(await plaza.world.database.write((tx) => removeNode(tx, plaza.registry, plaza.world, pages, "2001"))).toBe(true);
    expect(await plaza.dump(["label_counts.labels", "labels.id", "label_names.label", "label_users.label"])).toEqual([]);
  });

  test("D-30: a person's labels are listed newest first, on each of their pages", async () => {
    const plaza = await open();
    for (const [id, name] of [
      ["5003", "b"],
      ["5002", "c"],
      ["5011", "a"],
    ] as const)
      await insertEntry(plaza, "labels", { id, page: "2001", name, users: ["9001", "9002"] });
    const page = async (query: object) => (await plaza.get("/v26.0/9002/custom_labels", { token: "page", query: { limit: "2", ...query } })).body;
    const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    const first = await page({});
    expect(ids(first)).toEqual(["5011", "5003"]);
    expect(ids(await page({ after: first.paging.cursors.after }))).toEqual(["5002"]);
  });
});
