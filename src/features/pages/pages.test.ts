import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { expectUnreadable, openPlaza } from "#harness/plaza";
import { changeEntry, expectLifeOfEntry, expectRoundTrip, findEntry, insertEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";

const labels = "/v26.0/2001/custom_labels";

onEachDatabase("pages", (database) => {
  const open = () => openPlaza({ database, world: cafe });

  test("a page with its people and roles is created, updated and removed by a world file entry", async () => {
    const plaza = await open();
    const page = {
      id: "2009",
      name: "New",
      people: [{ psid: "9901", name: "Guest" }],
      roles: [{ user: "3001", tasks: ["MANAGE"], via_business: true }],
    };
    await expectLifeOfEntry(plaza, "pages", page, { people: [{ psid: "9902", name: "" }], roles: [] });
    await expectRoundTrip(plaza);
  });

  test("D-13: a changed role takes effect with the next request", async () => {
    const plaza = await open();
    const status = async (token: string) => (await plaza.get(labels, { token })).status;
    expect({ ada: await status("ada"), bob: await status("bob"), cleo: await status("cleo") }).toEqual({ ada: 200, bob: 403, cleo: 400 });
    await changeEntry(plaza, "pages", "2001", {
      roles: [
        { user: "3002", tasks: ["MESSAGING"] },
        { user: "3003", tasks: [] },
      ],
    });
    expect({ ada: await status("ada"), bob: await status("bob"), cleo: await status("cleo") }).toEqual({ ada: 400, bob: 200, cleo: 403 });
  });

  test("D-13: a role on a removed page is not a role on a new page with its id, even if it was just used", async () => {
    const plaza = await open();
    const seen = async (token: string) => {
      const { status, body } = await plaza.get(labels, { token });
      return status === 200 ? body.data : body.error_subcode;
    };
    expect(await seen("ada")).toHaveLength(1);
    expect(await removeEntry(plaza, "pages", "2001")).toBe(true);
    expect(await insertEntry(plaza, "pages", { id: "2001", name: "Another", roles: [{ user: "3002", tasks: ["MESSAGING"] }] })).toBe(true);
    expect({ ada: await seen("ada"), bob: Array.isArray(await seen("bob")) }).toEqual({ ada: 33, bob: true });
  });

  test("an update adds and removes people; the others keep their labels", async () => {
    const plaza = await open();
    await changeEntry(plaza, "labels", "5001", { users: ["9001", "9002"] });
    await changeEntry(plaza, "pages", "2001", { people: [{ psid: "9001", name: "Guest, renamed" }, { psid: "9003" }] });
    expect((await findEntry(plaza, "pages", "2001"))?.people).toEqual([
      { psid: "9001", name: "Guest, renamed" },
      { psid: "9003", name: "" },
    ]);
    expect((await plaza.get("/v26.0/9001/custom_labels", { token: "page" })).body.data).toHaveLength(1);
    expect((await plaza.get("/v26.0/9002/custom_labels", { token: "page" })).body.error_subcode).toBe(33);
    expect((await plaza.get("/v26.0/9003/custom_labels", { token: "page" })).body.data).toEqual([]);
    expect((await findEntry(plaza, "labels", "5001"))?.users).toEqual(["9001"]);
  });

  test("a person cannot have an id that another node has, on a new page or an existing one", async () => {
    const plaza = await open();
    const taken = [{ psid: "9901" }, { psid: "9101" }];
    await expect(insertEntry(plaza, "pages", { id: "2009", people: taken })).rejects.toThrow("9101 is already in use");
    await expect(changeEntry(plaza, "pages", "2001", { people: taken })).rejects.toThrow("9101 is already in use");
    expect(await findEntry(plaza, "pages", "2009")).toBeUndefined();
    expect((await findEntry(plaza, "pages", "2001"))?.people).toEqual([
      { psid: "9001", name: "Guest" },
      { psid: "9002", name: "" },
    ]);
  });

  test("a page has exactly the roles and people of its entry", async () => {
    const plaza = await open();
    const roles = [
      { user: "3001", tasks: ["MANAGE"], via_business: false },
      { user: "3002", tasks: [], via_business: true },
    ];
    await changeEntry(plaza, "pages", "2001", { roles });
    expect((await findEntry(plaza, "pages", "2001"))?.roles).toEqual(roles);
    await changeEntry(plaza, "pages", "2001", { roles: [{ user: "3003" }], people: undefined, name: undefined });
    expect(await findEntry(plaza, "pages", "2001")).toEqual({
      ...{ id: "2001", name: "", people: [], roles: [{ user: "3003", tasks: [], via_business: false }], subscribed_apps: [] },
    });
  });

  test("D-165: a page is read by its token and by people with any role on it", async () => {
    const plaza = await open();
    const shown = { id: "2001", name: "Cafe" };
    for (const token of ["page", "no-scope", "ada", "bob"]) {
      expect((await plaza.get("/v26.0/2001", { bearer: token, query: { fields: "id,name" } })).body).toEqual(shown);
      expect((await plaza.get("/v26.0/2001", { token })).body).toEqual(shown);
    }
    expect((await plaza.get("/v26.0/me", { bearer: "page" })).body).toEqual(shown);
    for (const token of ["bar", "cleo", "app"]) await expectUnreadable(plaza, "2001", token);
    await removeEntry(plaza, "pages", "2001");
    await expectUnreadable(plaza, "2001", "ada");
  });

  test("D-163: in clients, fields of other platforms are left out of a page, and misspelt ones refused", async () => {
    const plaza = await openPlaza({ database, world: cafe, profile: "clients" });
    const read = (fields: string) => plaza.get("/v26.0/2001", { bearer: "page", query: { fields } });
    expect((await read("id,fan_count,name,cover{source,id}")).body).toEqual({ id: "2001", name: "Cafe" });
    expect((await read("nam")).body.error.error_data).toEqual({ parameter: "fields", field: "nam" });
    expect((await (await open()).get("/v26.0/2001", { bearer: "page", query: { fields: "fan_count" } })).body.error.error_data.field).toBe(
      "fan_count",
    );
  });

  test("removing a page removes its people", async () => {
    const plaza = await open();
    await removeEntry(plaza, "pages", "2001");
    for (const path of [labels, "/v26.0/9001/custom_labels"]) expect((await plaza.get(path, { token: "page" })).body.error_subcode).toBe(33);
  });
});
