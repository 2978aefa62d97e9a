/** Tests which names of labels are in use on a page after a label was renamed or deleted. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { changeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

const statusOf = async (plaza: TestPlaza, name: string, token = "page"): Promise<number> => {
  const path = token === "page" ? "/v26.0/2001/custom_labels" : "/v26.0/2002/custom_labels";
  return (await plaza.post(path, { token, body: { page_label_name: name } })).status;
};

onEachDatabase("names of labels", (database) => {
  const open = () => openPlaza({ database, world: { ...cafe, labels: [...cafe.labels, { id: "5002", page: "2001", name: "VIP" }] } });
  const rename = (plaza: TestPlaza, id: string, name: string) => changeEntry(plaza, "labels", id, { name });

  test("D-40: the old name of a renamed label is free and the new one taken, only on its page", async () => {
    const plaza = await open();
    expect(await statusOf(plaza, "vip")).toBe(400);
    await rename(plaza, "5001", "gold");
    expect(await statusOf(plaza, "gold", "bar")).toBe(200);
    expect(await statusOf(plaza, "gold")).toBe(400);
    expect(await statusOf(plaza, "vip")).toBe(200);
  });

  test("of two names that differ only in case, one stays taken when the label of the other is renamed or deleted", async () => {
    const plaza = await open();
    await rename(plaza, "5002", "gold");
    expect(await statusOf(plaza, "vip")).toBe(400);
    expect(await statusOf(plaza, "VIP")).toBe(200);
    expect((await plaza.delete("/v26.0/5001", { token: "page" })).status).toBe(200);
    expect(await statusOf(plaza, "VIP")).toBe(400);
    expect(await statusOf(plaza, "vip")).toBe(200);
  });

  test("D-40: a page without labels accepts exactly the maximum number", async () => {
    const plaza = await openPlaza({ database, world: { ...cafe, labels: [] }, settings: { labels_per_page_max: 3 } });
    const statuses: number[] = [];
    for (const name of ["a", "b", "c", "d"]) statuses.push(await statusOf(plaza, name));
    expect(statuses).toEqual([200, 200, 200, 400]);
  });

  test("D-40, D-82: the error names the label with the name, even on a full page; a name in another case is then one label too many", async () => {
    // The test stores the label with the larger id first.
    const labels = [
      { id: "50012", page: "2001", name: "VIP" },
      { id: "5003", page: "2001", name: "vip" },
    ];
    const plaza = await openPlaza({ database, world: { ...cafe, labels }, settings: { labels_per_page_max: 2 } });
    const refusal = async (page_label_name: string, query: Record<string, string> = {}) => {
      const { status, body } = await plaza.post("/v26.0/2001/custom_labels", { token: "page", query, body: { page_label_name } });
      return { status, isFull: body.message.includes("already has 2 labels"), label_id: body.error_data.label_id };
    };
    expect(await refusal("vip")).toEqual({ status: 400, isFull: false, label_id: "5003" });
    expect(await refusal("VIP")).toEqual({ status: 400, isFull: false, label_id: "50012" });
    expect(await refusal("Vip")).toEqual({ status: 400, isFull: true, label_id: undefined });
    const migrated = { migrations_override: '{"label_names_case_insensitive":true}' };
    for (const name of ["vip", "VIP", "Vip"]) expect(await refusal(name, migrated)).toEqual({ status: 400, isFull: false, label_id: "5003" });
    expect(await refusal("gold", migrated)).toEqual({ status: 400, isFull: true, label_id: undefined });
  });

  test("D-82, D-310: with the migration, names with the same full case folding are one name; without it they are different", async () => {
    const plaza = await openPlaza({ database, world: { ...cafe, labels: [] } });
    const create = (page_label_name: string, isOn: boolean) =>
      plaza.post("/v26.0/2001/custom_labels", {
        token: "page",
        query: { migrations_override: JSON.stringify({ label_names_case_insensitive: isOn }) },
        body: { page_label_name },
      });
    for (const [name, other] of [
      ["Straße", "STRASSE"],
      ["ﬀ", "FF"],
      ["ΟΔΟΣ", "οδος"],
      ["µ", "Μ"],
      ["İ", "i\u0307"],
    ] as const) {
      const { body } = await create(name, true);
      expect(await create(other, true)).toMatchObject({ status: 400, body: { error_data: { label_id: body.id } } });
      const later = await create(other, false);
      expect(later.status).toBe(200);
      for (const { id } of [body, later.body]) expect((await plaza.delete(`/v26.0/${id}`, { token: "page" })).status).toBe(200);
      expect((await create(other, true)).status).toBe(200);
    }
    for (const name of ["ı", "i", "Strase", "ß\u0307"]) expect((await create(name, true)).status).toBe(200);
    expect((await create("I", true)).status).toBe(400);
  });
});
