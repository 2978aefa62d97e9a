import { expect, test } from "bun:test";
import { type DatabaseKind, onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { exportWorld, importWorld } from "./import-export.ts";
import { reloadWorld } from "./reload.ts";

const BEFORE = `
apps: [{id: "1001", name: Shop, secret: s3cret}]
users: [{id: "3001", name: Ada}]
pages:
- {id: "2001", name: Cafe, people: [{psid: "9001"}], roles: [{user: "3001", tasks: [MESSAGING]}]}
- {id: "2002", name: Bar}
labels:
- {id: "5001", page: "2001", name: vip, users: ["9001"]}
- {id: "5002", page: "2001", name: regular}
microblog_users: [{id: "7001"}]
microblog_media: [{id: "7101", owner: "7001"}]
activity: [{target: "7101", metric: views, time: 1767225600, value: 3}]
tokens:
- {token: page-token, type: page, app: "1001", page: "2001", user: "3001", scopes: [pages_messaging]}
- {token: second-token, type: page, app: "1001", page: "2001", user: "3001", scopes: [pages_messaging]}
`;

async function loaded(database: DatabaseKind): Promise<TestPlaza> {
  const plaza = await openPlaza({ database });
  await importWorld(plaza.world, plaza.registry, BEFORE, { isMerge: false });
  return plaza;
}

const reload = ({ world, registry }: TestPlaza, after: string, before = BEFORE) => reloadWorld(world, registry, before, after);

const labelsOf = async (plaza: TestPlaza, token = "page-token") => {
  const { status, body } = await plaza.get("/v26.0/2001/custom_labels", { token, query: { fields: "name" } });
  return status === 200 ? body.data.map(({ name }: { name: string }) => name).sort() : body;
};

const stateOf = async ({ world, registry }: TestPlaza) => JSON.stringify(await exportWorld(world, registry));

onEachDatabase("a changed world file", (database) => {
  test("D-195: new entries are added, changed ones replaced, removed ones deleted", async () => {
    const plaza = await loaded(database);
    const after = BEFORE.replace('- {id: "5002", page: "2001", name: regular}', '- {id: "5003", page: "2001", name: regular}').replace(
      "name: vip",
      "name: gold",
    );
    expect(await reload(plaza, after)).toEqual({ added: 1, replaced: 1, removed: 1, warnings: [] });
    expect(await labelsOf(plaza)).toEqual(["gold", "regular"]);
  });

  test("D-195: unchanged entries keep the apps' changes, and nodes that apps created stay", async () => {
    const plaza = await loaded(database);
    await plaza.post("/v26.0/2001/custom_labels", { token: "page-token", body: { page_label_name: "made" } });
    await plaza.delete("/v26.0/5002", { token: "page-token" });
    expect(await reload(plaza, `${BEFORE}required_actions: [{id: "5201", app: "1001", title: New}]\n`)).toMatchObject({
      added: 1,
      replaced: 0,
      removed: 0,
    });
    expect(await labelsOf(plaza)).toEqual(["made", "vip"]);
  });

  test("D-195: removing a page deletes its nodes, unless the file still names them", async () => {
    const plaza = await loaded(database);
    const state = await stateOf(plaza);
    const without = BEFORE.replace(/- \{id: "2001".*\n/, "");
    await expect(reload(plaza, without)).rejects.toThrow("labels[0].page refers to 2001, which does not exist (line 7)");
    expect(await stateOf(plaza)).toBe(state);
    const all = without.replace(/labels:\n.*\n.*\n/, "").replace(/tokens:\n[\s\S]*/, "");
    expect(await reload(plaza, all)).toMatchObject({ added: 0, replaced: 0, removed: 5 });
    expect(await exportWorld(plaza.world, plaza.registry)).not.toHaveProperty("labels");
    // The world was last changed to a file without the page, so the page and its nodes count as new when a file has them again.
    expect(await reload(plaza, BEFORE, all)).toMatchObject({ added: 5, removed: 0 });
    expect(await labelsOf(plaza)).toEqual(["regular", "vip"]);
  });

  test("D-195: a token can change its scopes, be revoked by its removal, and come back", async () => {
    const plaza = await loaded(database);
    const narrower = BEFORE.replace('user: "3001", scopes: [pages_messaging]}\n- {token: second', 'user: "3001", scopes: []}\n- {token: second');
    expect(await reload(plaza, narrower)).toMatchObject({ added: 0, replaced: 1, removed: 0 });
    expect(await labelsOf(plaza)).toMatchObject({ code: 10 });
    expect(await labelsOf(plaza, "second-token")).toHaveLength(2);
    const without = BEFORE.replace(/- \{token: page-token.*\n/, "");
    expect(await reload(plaza, without, narrower)).toMatchObject({ removed: 1 });
    expect(await labelsOf(plaza)).toMatchObject({ code: 190, error_subcode: 466 });
    expect(await reload(plaza, BEFORE, without)).toMatchObject({ added: 1 });
    expect(await labelsOf(plaza)).toHaveLength(2);
  });

  test("D-195: a record without an id is counted once, and a removed one stays counted", async () => {
    const plaza = await loaded(database);
    const viewsOf = async () => (await exportWorld(plaza.world, plaza.registry)).activity;
    const more = BEFORE.replace("value: 3}]", 'value: 3}, {value: 4, target: "7101", metric: views, time: 1767225601}]');
    expect(await reload(plaza, more)).toMatchObject({ added: 1, removed: 0 });
    expect(await viewsOf()).toMatchObject([{ value: 3 }, { value: 4 }]);
    expect(await reload(plaza, BEFORE, more)).toMatchObject({ added: 0, removed: 0 });
    expect(await viewsOf()).toMatchObject([{ value: 3 }, { value: 4 }]);
  });

  test("D-195: a file with a mistake at its end changes nothing, neither nodes nor clock nor profile", async () => {
    const plaza = await loaded(database);
    const state = await stateOf(plaza);
    const wrong = `clock: {now: 1800000000, frozen: true}\nprofile: clients\n${BEFORE.replace("name: vip", "name: gold")}- {token: third, type: page, app: "1001"}\n`;
    await expect(reload(plaza, wrong)).rejects.toThrow("tokens[2].page is required for a token of type page");
    expect(await stateOf(plaza)).toBe(state);
    const right = wrong.replace(/- \{token: third.*\n/, "");
    await reload(plaza, right);
    expect(await exportWorld(plaza.world, plaza.registry)).toMatchObject({ clock: { now: 1_800_000_000, frozen: true }, profile: "clients" });
    // The test moved the clock after the load, and the changed file does not set a new time.
    await plaza.world.clock.set(1_900_000_000_000, true);
    await reload(plaza, right.replace("name: gold", "name: vip"), right);
    expect(await exportWorld(plaza.world, plaza.registry)).toMatchObject({ clock: { now: 1_900_000_000 } });
  });

  test("D-195: unchanged versions of the file stay as they were set since", async () => {
    const plaza = await loaded(database);
    const versions = (end: number) => `versions: {migrations: [{name: own, start: 1700000000, end: ${end}}]}\n`;
    const storedEnd = async () => {
      const { versions: stored } = (await exportWorld(plaza.world, plaza.registry)) as { versions: { migrations: { name: string; end: number }[] } };
      return stored.migrations.find(({ name }) => name === "own")?.end;
    };
    const file = versions(1_800_000_000) + BEFORE;
    await reload(plaza, file);
    expect(await storedEnd()).toBe(1_800_000_000);
    await importWorld(plaza.world, plaza.registry, versions(1_900_000_000), { isMerge: true });
    await reload(plaza, file.replace("name: vip", "name: gold"), file);
    expect(await storedEnd()).toBe(1_900_000_000);
  });

  test("D-195: nodes that apps have removed do not prevent a reload", async () => {
    const plaza = await loaded(database);
    await plaza.world.database.write(async (tx) => {
      const { removeNode } = await import("../open-world.ts");
      const { sectionsOf } = await import("./import-export.ts");
      const users = sectionsOf(plaza.registry).find(({ key }) => key === "users");
      if (users !== undefined) await removeNode(tx, plaza.registry, plaza.world, users, "3001");
    });
    expect(await reload(plaza, BEFORE.replace("name: Bar", "name: Pub"))).toMatchObject({ added: 0, replaced: 1, removed: 0 });
  });
});
