/** Tests which verify token an app's callback has after a world file without secrets was merged (D-263). */
import { expect, test } from "bun:test";
import { exportWorld, importWorld } from "#graph/worlds/file/import-export";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { expectBounds } from "#harness/schemas/bounds";
import { findEntry } from "#harness/sections";
import { appSection } from "./apps.world.ts";

const [OWN, PAGE, ELSEWHERE] = ["https://receiver.example/", "https://receiver.example/page", "https://elsewhere.example/"] as const;
const fields = ["live_videos"];

const world = {
  apps: [
    {
      id: "1001",
      secret: "s3cret",
      callback: { url: OWN, verify_token: "of the app" },
      subscriptions: [{ object: "page", fields, callback: { url: PAGE, verify_token: "of the page" } }],
    },
  ],
};

test("an app's secret and addresses are not empty, and it may have no names of logged events", () => {
  const url = { right: [{ url: "x" }], wrong: [{ url: "" }, {}] };
  expectBounds(
    appSection.entry,
    { id: "1001" },
    {
      secret: { right: ["s"], wrong: [""] },
      callback: url,
      event_name_limit: { right: [0, 1], wrong: [-1, 0.5] },
      name: { right: [""], wrong: [1] },
    },
  );
});

onEachDatabase("the roles of an app", (database) => {
  test("each belong to one person: a user, or a microblog user", async () => {
    const people = { users: [{ id: "3001" }], microblog_users: [{ id: "7001" }] };
    const roleOf = (person: object) => ({ ...people, apps: [{ id: "1001", roles: [{ role: "tester", ...person }] }] });
    for (const [wrong, problem] of [
      [{}, "apps[0].roles[0].user or microblog_user is required"],
      [{ user: "3001", microblog_user: "7001" }, "apps[0].roles[0].microblog_user cannot be combined with user"],
    ] as const)
      await expect(openPlaza({ database, world: roleOf(wrong) })).rejects.toThrow(problem);
    for (const right of [{ user: "3001" }, { microblog_user: "7001" }]) {
      const plaza = await openPlaza({ database, world: roleOf(right) });
      expect((await findEntry(plaza, "apps", "1001"))?.roles).toEqual([{ ...right, role: "tester" }]);
    }
  });
});

onEachDatabase("an app that is replaced by a file without secrets", (database) => {
  const open = () => openPlaza({ database, world });
  const merge = async (plaza: TestPlaza, callback: string | undefined, ofPage: string | undefined) => {
    const apps = [
      {
        id: "1001",
        ...(callback === undefined ? {} : { callback: { url: callback } }),
        subscriptions: [{ object: "page", fields, ...(ofPage === undefined ? {} : { callback: { url: ofPage } }) }],
      },
    ];
    await importWorld(plaza.world, plaza.registry, JSON.stringify({ apps }), { isMerge: true });
    const exported = await exportWorld(plaza.world, plaza.registry, { secrets: true });
    const [app] = exported.apps as unknown as [typeof world.apps extends (infer App)[] ? Partial<App> : never];
    return [app.callback?.verify_token, app.subscriptions?.[0]?.callback?.verify_token];
  };

  test("each callback keeps its own verify token", async () => {
    expect(await merge(await open(), OWN, PAGE)).toEqual(["of the app", "of the page"]);
  });

  test("a callback has no token of an address that belonged to another callback", async () => {
    expect(await merge(await open(), PAGE, OWN)).toEqual(["", ""]);
  });

  test("a callback with a new address loses its token, and the other one keeps its own", async () => {
    expect(await merge(await open(), ELSEWHERE, PAGE)).toEqual(["", "of the page"]);
    expect(await merge(await open(), OWN, ELSEWHERE)).toEqual(["of the app", ""]);
  });

  test("the file's values replace stored ones", async () => {
    const plaza = await open();
    const [app] = world.apps;
    const given = { ...app, secret: "another", callback: { url: OWN, verify_token: "given" } };
    await importWorld(plaza.world, plaza.registry, JSON.stringify({ apps: [given] }), { isMerge: true });
    const exported = await exportWorld(plaza.world, plaza.registry, { secrets: true });
    expect(exported.apps).toMatchObject([given]);
  });

  test("a callback that is not in the file is deleted with its token", async () => {
    expect(await merge(await open(), OWN, undefined)).toEqual(["of the app", undefined]);
    expect(await merge(await open(), undefined, PAGE)).toEqual([undefined, "of the page"]);
  });
});

onEachDatabase("D-363: the schemas of an app's events", (database) => {
  const level = { type: "object", properties: { level: { type: "integer" } } };

  test("they are stored with the app, and exported and changed like its other values", async () => {
    const { request } = await openControl({ database, world: { apps: [{ id: "1001", event_schemas: { level_up: level } }] } });
    expect((await request("GET", "export")).body.apps[0].event_schemas).toEqual({ level_up: level });
    const changed = await request("PATCH", "nodes/apps/1001", { event_schemas: { win: { type: "object" } } });
    expect(changed).toMatchObject({ status: 200, body: { event_schemas: { win: { type: "object" } } } });
    expect((await request("PATCH", "nodes/apps/1001", { event_schemas: null })).body.event_schemas).toEqual({});
  });

  test("a schema that is wrong, or too many or too large ones, are refused with the place", async () => {
    const { request } = await openControl({ database, world: { apps: [{ id: "1001" }] } });
    const refused = async (event_schemas: unknown) => {
      const { status, body } = await request("PATCH", "nodes/apps/1001", { event_schemas });
      return { status, ...body.error };
    };
    expect(await refused({ level_up: { type: "object", properties: { level: { type: "int" } } } })).toMatchObject({
      status: 400,
      parameter: "event_schemas.level_up.properties.level.type",
      message: expect.stringContaining("must be one of string, integer"),
    });
    expect(await refused({ level_up: { $ref: "#" } })).toMatchObject({ status: 400, parameter: "event_schemas.level_up.$ref" });
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`e${i}`, {}]));
    expect(await refused(many)).toMatchObject({ status: 400, message: "event_schemas must have at most 100 schemas" });
    const large = { a: { type: "string", description: "x".repeat(65_536) } };
    expect(await refused(large)).toMatchObject({ status: 400, message: "event_schemas must have at most 65536 characters as JSON" });
    expect((await request("GET", "nodes/apps/1001")).body.event_schemas).toEqual({});
  });
});
