import { expect, test } from "bun:test";
import fc from "fast-check";
import { WorldClock } from "#graph/worlds/clock";
import { exportWorld, importWorld } from "#graph/worlds/file/import-export";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { changeEntry, insertEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { type Status, statusAt, statuses, transitions } from "./required-actions.states.ts";
import { requiredActionSection } from "./required-actions.world.ts";

const DUE = 1_796_000_000;
const world = {
  ...cafe,
  apps: cafe.apps.map((app) =>
    app.id === "1001"
      ? {
          ...app,
          roles: [
            { user: "3001", role: "developer" },
            { user: "3002", role: "tester" },
          ],
        }
      : app,
  ),
  required_actions: [
    { id: 5203, app: "1001", title: "Later", due_date: DUE + 10, status: "in_progress" },
    { id: 5201, app: "1001", title: "Review", description: "d", due_date: DUE, status: "in_progress" },
    { id: 5202, app: "1001", title: "Same day", due_date: DUE, status: "in_review" },
    { id: 5204, app: "1001", title: "Whenever", status: "completed" },
    { id: 5205, app: "1002", title: "Theirs", status: "in_progress" },
  ],
};

const list = (plaza: TestPlaza, query: Record<string, unknown> = {}, request: { bearer?: string; headers?: Record<string, string> } = {}) =>
  plaza.get("/1001/required_actions", { surface: "app", bearer: "app", query, ...request });

const statusesOf = async (plaza: TestPlaza) =>
  Object.fromEntries((await list(plaza)).body.required_action.map((action: { id: number; status: string }) => [action.id, action.status]));

const move = (plaza: TestPlaza, id: string, status: Status) =>
  plaza.world.database.write(async (tx) => {
    const entry = await requiredActionSection.find(tx, id, plaza.world);
    await requiredActionSection.replace(tx, { ...entry, status }, plaza.world);
  });

onEachDatabase("required actions", (database) => {
  const open = (options = {}) => openPlaza({ database, world, ...options });

  test("D-50: an action is past due in the next response, even if another process has moved the clock", async () => {
    const plaza = await open();
    const ofOther = await WorldClock.open(plaza.world.database, () => 0);
    await ofOther.set((DUE + 1) * 1000, true);
    expect(await statusesOf(plaza)).toMatchObject({ 5201: "past_due", 5203: "in_progress" });
  });

  test("D-02: actions without an id get different ids below 2^53, also at the same moment", async () => {
    const { plaza, request } = await openControl({ database, world });
    const made: string[] = [];
    for (const title of ["a", "b", "c"]) {
      const { status, body } = await request("POST", "nodes/required_actions", { app: "1001", title });
      expect(status).toBe(201);
      made.push(body.id);
    }
    expect(new Set(made).size).toBe(3);
    const listed = (await list(plaza)).body.required_action.map(({ id }: { id: number }) => String(id));
    expect(listed).toEqual(expect.arrayContaining(made));
  });

  test("B1: an app's actions are listed by due date, then id", async () => {
    const { status, body } = await list(await open());
    expect(status).toBe(200);
    expect(body.required_action.map(({ id }: { id: number }) => id)).toEqual([5201, 5202, 5203, 5204]);
    expect(body.required_action[0]).toEqual({ id: 5201, title: "Review", description: "d", due_date: DUE, status: "in_progress" });
    expect(body.required_action[3]).toEqual({ id: 5204, title: "Whenever", status: "completed" });
  });

  test("B1, D-50: statuses filter the list in every encoding; an unknown one is refused", async () => {
    const plaza = await open();
    for (const given of ["in_review,completed", ["in_review", "completed"], '["in_review","completed"]', ["in_review,completed"]]) {
      expect((await list(plaza, { statuses: given })).body.required_action.map(({ id }: { id: number }) => id)).toEqual([5202, 5204]);
    }
    // An empty list in the filter `statuses` is refused, because the empty list of actions in the response would say that the app has nothing to do.
    for (const statuses of ["", "[]", []])
      expect(await list(plaza, { statuses })).toMatchObject({ status: 400, body: { error: { error_data: { parameter: "statuses" } } } });
    const { status, body } = await list(plaza, { statuses: "in_review,done" });
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 100, error_data: { parameter: "statuses" } } } });
  });

  test("B1, D-50: X-API-Version is 1.0.0 or absent", async () => {
    const plaza = await open();
    expect((await list(plaza, {}, { headers: { "x-api-version": "1.0.0" } })).headers["pf-api-version"]).toBe("1.0.0");
    expect((await list(plaza, {}, { headers: { "x-api-version": "1.0.1" } })).body.error.error_data.parameter).toBe("X-API-Version");
  });

  test("AUTH-5, D-13: the tokens of the app and of its administrators and developers are accepted, only as bearer", async () => {
    const plaza = await open();
    expect((await list(plaza, {}, { bearer: "ada" })).status).toBe(200);
    expect((await list(plaza, {}, { bearer: "bob" })).body.error.code).toBe(200);
    expect((await list(plaza, {}, { bearer: "cleo" })).status).toBe(403);
    expect((await list(plaza, {}, { bearer: "page" })).body.error.error_subcode).toBe(33);
    expect((await list(plaza, {}, { bearer: "1002|0ther" })).body.error.error_subcode).toBe(33);
    const inQuery = await plaza.get("/1001/required_actions", { surface: "app", query: { access_token: "app" } });
    expect(inQuery).toMatchObject({ status: 401, body: { error: { code: 104 } } });
    expect((await plaza.get("/1001/required_actions", { bearer: "app" })).body.error.error_subcode).toBe(33);
  });

  test("D-50: a status stays as it was set, until the clock passes a due date that was in the future then", async () => {
    const plaza = await open();
    plaza.time.realMs = (DUE + 5) * 1000;
    const resumed = { id: "5206", app: "1001", title: "Taken up", due_date: DUE, status: "in_review" };
    await insertEntry(plaza, "required_actions", resumed);
    await move(plaza, "5203", "in_review");
    expect(await statusesOf(plaza)).toMatchObject({ 5203: "in_review", 5206: "in_review" });
    const again = await openPlaza({ database });
    await importWorld(again.world, again.registry, JSON.stringify(await exportWorld(plaza.world, plaza.registry)), { isMerge: false });
    plaza.time.realMs += 100_000;
    again.time.realMs += 100_000;
    expect(await statusesOf(plaza)).toMatchObject({ 5201: "past_due", 5203: "past_due", 5206: "in_review" });
    expect(await statusesOf(again)).toEqual(await statusesOf(plaza));
    await changeEntry(plaza, "required_actions", "5203", { due_date: DUE + 1_000_000 });
    expect((await statusesOf(plaza))[5203]).toBe("past_due");
    await changeEntry(plaza, "required_actions", "5206", { due_date: DUE + 90 });
    expect((await statusesOf(plaza))[5206]).toBe("in_review");
  });

  test("D-50: strict refuses an unknown parameter; clients ignores it", async () => {
    const refused = { status: 400, body: { error: { code: 100, error_data: { parameter: "status" } } } };
    expect(await list(await open(), { status: "completed" })).toMatchObject(refused);
    const [strict, clients] = [await open(), await open({ profile: "clients" })];
    expect(await list(strict, { statuses: "completed", pretty: "1" })).toMatchObject({ status: 200 });
    expect(await list(clients, { status: "completed" })).toMatchObject({ status: 200 });
    for (const [parameter, value] of Object.entries({ limit: "1", after: "x", before: "x", fields: "id", ids: "1001" })) {
      const named = { status: 400, body: { error: { code: 100, error_data: { parameter } } } };
      expect(await list(strict, { [parameter]: value })).toMatchObject(named);
      expect(await list(clients, { [parameter]: value })).toMatchObject({ status: 200 });
    }
  });

  test("D-50: an action that is not completed becomes past_due when the clock passes its due date, and can be resumed", async () => {
    const plaza = await open();
    plaza.time.realMs = DUE * 1000;
    expect(await statusesOf(plaza)).toEqual({ 5201: "in_progress", 5202: "in_review", 5203: "in_progress", 5204: "completed" });
    plaza.time.realMs += 1000;
    expect(await statusesOf(plaza)).toEqual({ 5201: "past_due", 5202: "past_due", 5203: "in_progress", 5204: "completed" });
    await expect(move(plaza, "5201", "completed")).rejects.toThrow("from past_due to completed");
    await move(plaza, "5201", "in_review");
    plaza.time.realMs += 1_000_000;
    expect((await statusesOf(plaza))[5201]).toBe("in_review");
    await move(plaza, "5201", "completed");
    await expect(move(plaza, "5201", "in_progress")).rejects.toThrow("from completed");
  });
});

test("D-50: the clock never completes an action and never changes a completed one", () => {
  const facts = fc.record({ status: fc.constantFrom(...statuses), status_time: fc.nat(), due_date: fc.option(fc.nat()) });
  fc.assert(
    fc.property(facts, fc.nat(), (action, now) => {
      const status = statusAt(action, now);
      expect(status === "completed").toBe(action.status === "completed");
      if (status !== action.status) expect(status).toBe("past_due");
      expect(transitions[status]).toBeArray();
    }),
  );
});
