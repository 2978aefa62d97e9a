import { expect, test } from "bun:test";
import { exportWorld, importWorld } from "#graph/worlds/file/import-export";
import { findNode } from "#graph/worlds/nodes.store";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { changeEntry, expectLifeOfEntry, findEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { forgetParty } from "./migration-intents.store.ts";
import { migrationIntentSection } from "./migration-intents.world.ts";

const scopes = ["chatapp_business_management"];
const world = {
  ...cafe,
  apps: [
    { ...cafe.apps[0], roles: [{ user: "3001", role: "developer" }] },
    cafe.apps[1],
    { id: "1003", name: "Owner", secret: "own" },
    { id: "1004", name: "Stranger" },
  ],
  businesses: [{ id: "3501", people: [{ user: "3002" }] }],
  chatapp_accounts: [
    { id: "4001", business: "3501", subscribed_apps: [{ app: "1001" }] },
    { id: "4002", subscribed_apps: [{ app: "1002" }] },
    { id: "4003", subscribed_apps: [{ app: "1001" }] },
    { id: "4004", business: "3501", subscribed_apps: [{ app: "1001" }] },
  ],
  solutions: [
    { id: "4201", name: "Sol", owner_app: "1003" },
    { id: "4202", name: "Theirs", owner_app: "1002" },
    { id: "4203", name: "Own", owner_app: "1001" },
  ],
  migration_intents: [
    { id: "4301", waba: "4001", destination_waba: "4002", solution: "4201" },
    { id: "4302", waba: "4001", status: "COMPLETED" },
  ],
  tokens: [
    ...cafe.tokens,
    { token: "source", type: "system_user", app: "1001", user: "3001", scopes },
    { token: "destination", type: "user", app: "1002", user: "3002", scopes },
    { token: "owner", type: "user", app: "1003", user: "3002", scopes },
    { token: "stranger", type: "user", app: "1004", user: "3002", scopes },
    { token: "of-business", type: "user", app: "1001", user: "3002", scopes },
    { token: "roleless", type: "user", app: "1001", user: "3003", scopes },
    { token: "scopeless", type: "user", app: "1001", user: "3001", scopes: [] },
    { token: "old", type: "user", app: "1001", user: "3001", scopes, expires_at: 1_700_000_000 },
  ],
};

const read = (plaza: TestPlaza, query: Record<string, unknown> = {}, bearer = "source", path = "/v25.0/4301") => plaza.get(path, { bearer, query });

onEachDatabase("migration intents", (database) => {
  const open = (options = {}) => openPlaza({ database, world, ...options });

  test("H7: a response contains solution, status and destination_waba by default, and always the id", async () => {
    const { status, body } = await read(await open());
    expect(status).toBe(200);
    expect(body).toEqual({ solution: { id: "4201" }, status: "INITIATED", destination_waba: { id: "4002" }, id: "4301" });
  });

  test("H7-18, D-37: fields selects; a response always contains status", async () => {
    const plaza = await open();
    expect((await read(plaza, { fields: "waba" })).body).toEqual({ waba: { id: "4001" }, id: "4301", status: "INITIATED" });
    expect((await read(plaza, { fields: "waba{id}" })).body.waba).toEqual({ id: "4001" });
  });

  test("H7-18, D-58: a listed field without a value is omitted, even if fields names it", async () => {
    const plaza = await open();
    const ofBare = (query: Record<string, unknown>) => read(plaza, query, "source", "/v25.0/4302");
    for (const query of [{}, { fields: "destination_waba" }, { fields: "solution{id},destination_waba,status" }]) {
      const { status, body } = await ofBare(query);
      expect({ status, body }).toEqual({ status: 200, body: { status: "COMPLETED", id: "4302" } });
    }
    expect((await ofBare({ fields: "waba,solution" })).body).toEqual({ waba: { id: "4001" }, status: "COMPLETED", id: "4302" });
  });

  test("ERR-22, ERR-26, D-21: an unknown name is a 400, a field that only other nodes have is a 422", async () => {
    const plaza = await open();
    const refused = async (fields: string) => {
      const { status, body } = await read(plaza, { fields });
      const { code, error_data } = body.error;
      return { fields, status, code, parameter: error_data.parameter, field: error_data.field };
    };
    for (const [fields, field] of [["colour", "colour"] as const, ["id,Status", "Status"] as const, ["waba{colour}", "colour"] as const]) {
      expect(await refused(fields)).toEqual({ fields, status: 400, code: 100, parameter: "fields", field });
    }
    // The test requests fields of a persona, a phone number, a media object (which is only in a list), and an account; an intent has none of these
    // fields.
    for (const [fields, field] of [
      ["profile_picture_url", "profile_picture_url"] as const,
      ["id,webhook_configuration", "webhook_configuration"] as const,
      ["shortcode", "shortcode"] as const,
      ["solution{name}", "name"] as const,
    ]) {
      expect(await refused(fields)).toEqual({ fields, status: 422, code: 100, parameter: "fields", field });
    }
    // In a request for any other node, a field of a different node type is an unknown field.
    const label = await plaza.get("/v26.0/5001", { token: "page", query: { fields: "shortcode" } });
    expect(label).toMatchObject({ status: 400, body: { code: 100 } });
  });

  test("VER-1c, D-03: v23.0 to v25.0 serve intents; other versions and requests without one do not", async () => {
    const plaza = await open();
    for (const version of ["v23.0", "v24.0", "v25.0", "v25"]) expect((await read(plaza, {}, "source", `/${version}/4301`)).status).toBe(200);
    for (const path of ["/v22.0/4301", "/v26.0/4301", "/4301"]) {
      const { status, body } = await read(plaza, {}, "source", path);
      expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 2500 } } });
    }
  });

  test("ERR-23 to ERR-25: 401 without a live token, 403 without the scope, 404 for other apps and for missing intents", async () => {
    const plaza = await open();
    for (const bearer of ["destination", "owner"]) expect((await read(plaza, {}, bearer)).status).toBe(200);
    expect((await plaza.get("/v25.0/4301")).status).toBe(401);
    for (const bearer of ["old", "x"]) expect({ bearer, status: (await read(plaza, {}, bearer)).status }).toEqual({ bearer, status: 401 });
    expect((await read(plaza, {}, "scopeless")).body.error.code).toBe(10);
    const stranger = await read(plaza, {}, "stranger");
    const missing = await read(plaza, {}, "stranger", "/v25.0/4309");
    expect(stranger).toMatchObject({ status: 404, body: { error: { code: 803 } } });
    expect({ ...stranger.body.error, pftrace_id: "" }).toEqual(
      JSON.parse(JSON.stringify({ ...missing.body.error, pftrace_id: "" }).replaceAll("4309", "4301")),
    );
    // D-02: the test sends decimal numbers that no node can have as its id.
    for (const id of ["0", "04301", "9223372036854775808"]) {
      const none = await read(plaza, {}, "source", `/v25.0/${id}`);
      expect({ id, status: none.status, code: none.body.error.code }).toEqual({ id, status: 404, code: 803 });
      expect((await plaza.get(`/v25.0/${id}`, { bearer: "x" })).status).toBe(401);
      expect(await plaza.get(`/v25.0/${id}`)).toMatchObject({ status: 401, body: { error: { code: 104 } } });
      expect((await plaza.get(`/v26.0/${id}`)).body.error.code).toBe(2500);
      expect((await plaza.delete(`/v25.0/${id}`, { bearer: "source" })).body.error.code).toBe(2500);
      expect((await plaza.get(`/v26.0/${id}`, { bearer: "source" })).body.error.code).toBe(2500);
    }
    const inQuery = await plaza.get("/v25.0/4301", { query: { access_token: "source" } });
    expect(inQuery).toMatchObject({ status: 401, body: { error: { code: 104 } } });
  });

  test("D-58: a new intent has the status INITIATED and belongs to the requested account", async () => {
    const plaza = await open();
    const begin = (body: Record<string, unknown>, bearer = "source", waba = "4001") =>
      plaza.post(`/v25.0/${waba}/set_solution_migration_intent`, { bearer, body });
    const { body } = await begin({ solution_id: "4201", destination_waba: "4003" });
    expect((await read(plaza, { fields: "status,waba,destination_waba,solution" }, "source", `/v25.0/${body.id}`)).body).toEqual({
      status: "INITIATED",
      waba: { id: "4001" },
      destination_waba: { id: "4003" },
      solution: { id: "4201" },
      id: body.id,
    });
    const refused = async (given: Record<string, unknown>) => (await begin(given)).body.error.error_data.parameter;
    expect(await refused({})).toBe("solution_id");
    expect(await refused({ solution_id: "4301" })).toBe("solution_id");
    expect(await refused({ solution_id: "4201", destination_waba: "4002" })).toBe("destination_waba");
    expect(await refused({ solution_id: "4201", destination_waba: "4001" })).toBe("destination_waba");
    expect((await begin({ solution_id: "4201" }, "stranger")).body.error.error_subcode).toBe(33);
  });

  for (const profile of ["strict", "clients"] as const) {
    test(`D-305 [${profile}]: people with a role in the app or on both accounts begin an intent`, async () => {
      const plaza = await open({ profile });
      const begin = (bearer: string, body: object, waba = "4001") =>
        plaza.post(`/v25.0/${waba}/set_solution_migration_intent`, { bearer, body: { solution_id: "4203", ...body } });
      const outcome = async (...given: Parameters<typeof begin>) => {
        const { status, body } = await begin(...given);
        return [status, body.error?.code, body.error?.error_data?.parameter];
      };
      expect(await outcome("roleless", {})).toEqual([403, 200, undefined]);
      expect(await outcome("of-business", {}, "4003")).toEqual([403, 200, undefined]);
      expect(await outcome("of-business", { destination_waba: "4003" })).toEqual([400, 100, "destination_waba"]);
      expect(await outcome("of-business", { destination_waba: "4004" })).toEqual([200, undefined, undefined]);
      expect(await outcome("source", { destination_waba: "4003" })).toEqual([200, undefined, undefined]);
    });
  }

  test("D-306: a solution is visible to its app and to apps that set an intent of an account that has one for it; for others it is missing", async () => {
    const plaza = await open();
    const begin = (solution_id: string, waba = "4001") =>
      plaza.post(`/v25.0/${waba}/set_solution_migration_intent`, { bearer: "source", body: { solution_id } });
    const problem = async (solution_id: string, waba?: string) => {
      const { pftrace_id: _, ...error } = (await begin(solution_id, waba)).body.error;
      return error;
    };
    const missing = await problem("4299");
    expect(missing).toMatchObject({ code: 100, error_data: { parameter: "solution_id" } });
    expect(await problem("4202")).toEqual(missing);
    expect(await problem("4201", "4003")).toEqual(missing);
    // The migration intent 4301 moves the account 4001 to the account 4002.
    for (const solution of ["4201", "4203"]) expect((await begin(solution)).status).toBe(200);
    await changeEntry(plaza, "chatapp_accounts", "4002", { subscribed_apps: [{ app: "1001" }] });
    expect((await begin("4201", "4002")).status).toBe(200);
  });

  test("D-58: the status changes only along its table", async () => {
    const plaza = await open();
    const move = (status: string) =>
      plaza.world.database.write(async (tx) => {
        const entry = await migrationIntentSection.find(tx, "4301", plaza.world);
        await migrationIntentSection.replace(tx, { ...entry, status }, plaza.world);
      });
    await expect(move("COMPLETED")).rejects.toThrow("from INITIATED to COMPLETED");
    for (const status of ["ACCEPTED", "COMPLETED"]) await move(status);
    await expect(move("REJECTED")).rejects.toThrow("from COMPLETED");
    expect((await read(plaza)).body.status).toBe("COMPLETED");
  });

  test("an intent stays with its account, and its id belongs to no other node", async () => {
    const plaza = await open();
    await expect(changeEntry(plaza, "migration_intents", "4301", { waba: "4003" })).rejects.toThrow("cannot change");
    expect(await findEntry(plaza, "migration_intents", "4301")).toEqual({
      ...{ id: "4301", waba: "4001", destination_waba: "4002", solution: "4201", status: "INITIATED" },
    });
    expect(await findEntry(plaza, "migration_intents", "4302")).toEqual({ id: "4302", waba: "4001", status: "COMPLETED" });
    for (const id of ["4001", "4201", "4399"]) {
      expect(await findEntry(plaza, "migration_intents", id)).toBeUndefined();
      expect(await removeEntry(plaza, "migration_intents", id)).toBe(false);
    }
  });

  test("an intent and a solution are created, updated and removed by a world file entry", async () => {
    const plaza = await open();
    await expectLifeOfEntry(plaza, "migration_intents", { id: "4309", waba: "4003", destination_waba: "4002" }, { status: "REJECTED" });
    await expectLifeOfEntry(plaza, "solutions", { id: "4209", name: "New", owner_app: "1003" }, { name: "Newer" });
  });

  test("deleting an account deletes its own intents; others lose their references to it, and to a deleted solution", async () => {
    const plaza = await open();
    const list = async () => (await exportWorld(plaza.world, plaza.registry)).migration_intents;
    await plaza.world.database.write((tx) => forgetParty(tx, nodeId("4201")));
    expect(await list()).toMatchObject([{ id: "4301", destination_waba: "4002" }, { id: "4302" }]);
    expect(JSON.stringify(await list())).not.toContain("solution");
    await plaza.world.database.write((tx) => forgetParty(tx, nodeId("4002")));
    expect(JSON.stringify(await list())).not.toContain("destination_waba");
    await plaza.world.database.write((tx) => forgetParty(tx, nodeId("4001")));
    expect(await list()).toBeUndefined();
    expect(await findNode(plaza.world.database.reader, nodeId("4301"))).toBeUndefined();
  });

  test("deleting an app deletes its solutions, and intents lose their references to these only; the world stays valid", async () => {
    const { plaza, request } = await openControl({
      database,
      world: {
        ...world,
        solutions: [
          { id: "4201", name: "Sol", owner_app: "1003" },
          { id: "4202", owner_app: "1003" },
          { id: "4203", owner_app: "1002" },
        ],
        migration_intents: [
          ...world.migration_intents,
          { id: "4303", waba: "4003", solution: "4202" },
          { id: "4304", waba: "4003", destination_waba: "4001", solution: "4203" },
        ],
      },
    });
    expect((await request("DELETE", "nodes/apps/1003")).status).toBe(200);
    const file = await exportWorld(plaza.world, plaza.registry);
    expect({ solutions: file.solutions, intents: file.migration_intents }).toEqual({
      solutions: [{ id: "4203", name: "", owner_app: "1002" }],
      intents: [
        { id: "4301", waba: "4001", destination_waba: "4002", status: "INITIATED" },
        { id: "4302", waba: "4001", status: "COMPLETED" },
        { id: "4303", waba: "4003", status: "INITIATED" },
        { id: "4304", waba: "4003", destination_waba: "4001", solution: "4203", status: "INITIATED" },
      ],
    });
    for (const id of ["4201", "4202"]) expect(await findNode(plaza.world.database.reader, nodeId(id))).toBeUndefined();
    const again = await openPlaza({ database });
    await importWorld(again.world, again.registry, JSON.stringify(file), { isMerge: false });
  });
});
