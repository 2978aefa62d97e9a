import { describe, expect, test } from "bun:test";
import type { WorldEntry } from "#graph/contract/feature";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { checkReferences, exportWorld, sectionsOf } from "#graph/worlds/file/import-export";
import { labelsOf, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { busyWorld, fullWorld } from "#harness/full-world";
import { nodeId } from "#kernel/ids";

onEachDatabase("nodes", (database) => {
  test("D-02: a new id skips ids that a world file has brought", async () => {
    const { plaza, request } = await openControl({ database });
    const { ids } = plaza.world;
    const mint = ids.mint.bind(ids);
    const taken = ["2001", "5001"].map(nodeId);
    ids.mint = () => taken.shift() ?? mint();
    const made = await request("POST", "nodes/labels", { page: "2001", name: "new" });
    expect(made).toMatchObject({ status: 201, body: { page: "2001", name: "new" } });
    expect(["2001", "5001"]).not.toContain(made.body.id);
  });

  test("a node is created, read, changed and deleted, and the graph shows each step", async () => {
    const { plaza, request } = await openControl({ database });
    const made = await request("POST", "nodes/labels", { page: "2001", name: "new", users: ["9001"] });
    expect(made).toMatchObject({ status: 201, body: { page: "2001", name: "new", users: ["9001"] } });
    const { id } = made.body;
    expect((await request("GET", `nodes/labels/${id}`)).body).toEqual(made.body);
    expect((await labelsOf(plaza)).body.data[0]).toEqual({ id, name: "new" });
    expect((await request("PATCH", `nodes/labels/${id}`, { name: "changed" })).body).toEqual({ ...made.body, name: "changed" });
    expect((await labelsOf(plaza)).body.data[0]).toEqual({ id, name: "changed" });
    expect((await request("DELETE", `nodes/labels/${id}`)).status).toBe(200);
    expect((await request("GET", `nodes/labels/${id}`)).status).toBe(404);
    expect((await labelsOf(plaza)).body.data).toHaveLength(3);
  });

  test("a deleted node's id can be used by a node of another kind", async () => {
    const { plaza, request } = await openControl({ database });
    const { id } = (await request("POST", "nodes/labels", { page: "2001", name: "first" })).body;
    const read = async () => (await plaza.get(`/v26.0/${id}`, { token: "page-token" })).operation;
    expect(await read()).toBe("readLabel");
    await request("DELETE", `nodes/labels/${id}`);
    expect(
      await request("POST", "nodes/personas", { id, page: "2001", name: "Later", profile_picture_url: "https://x.example/p.png" }),
    ).toMatchObject({
      status: 201,
    });
    expect(await read()).toBe("readPersona");
  });

  test("the nodes of a page are deleted with it, in every feature", async () => {
    const { plaza, request } = await openControl({ database });
    expect((await request("DELETE", "nodes/pages/2001")).status).toBe(200);
    for (const key of ["labels", "personas"]) {
      const { data } = (await request("GET", `nodes/${key}`)).body;
      expect(data.filter(({ page }: { page: string }) => page === "2001")).toEqual([]);
    }
    expect(await plaza.dump(["labels.name", "label_names.name", "label_users.label", "page_people.name"])).not.toContainEqual({ value: "vip" });
  });

  // The sections of the world file, in the order in which the test deletes their nodes: other nodes still refer to each deleted node.
  const removals = [
    ["media", "solutions", "chatapp_accounts", "businesses", "users"],
    ["microblog_users", "social_accounts", "pages", "apps"],
  ];
  for (const keys of removals) {
    test(`nodes that referred to removed ${keys.join(", ")} stay without the reference`, async () => {
      const { plaza, request } = await openControl({ database, world: busyWorld });
      const sections = sectionsOf(plaza.registry);
      for (const removed of keys) {
        const { data } = (await request("GET", `nodes/${removed}`)).body;
        expect(data).not.toEqual([]);
        for (const { id } of data) {
          expect((await request("DELETE", `nodes/${removed}/${id}`)).status).toBe(200);
          const file = await exportWorld(plaza.world, plaza.registry);
          // When the node was deleted, its tokens were deleted too.
          expect(((file.tokens ?? []) as object[]).flatMap((token) => Object.values(token))).not.toContain(id);
          for (const { key, entry, references } of sections) {
            for (const given of (file[key] ?? []) as object[])
              await checkReferences(
                plaza.world.database.reader,
                references(entryReader(entry)(given) as WorldEntry),
                `${key} after ${removed}/${id}`,
              );
          }
        }
      }
    });
  }

  test("the owner of a node cannot be changed, and an attempt changes nothing", async () => {
    const { request } = await openControl({ database, world: busyWorld });
    const tries: [path: string, body: Record<string, unknown>, parameter: string][] = [
      ["labels/5001", { page: "2002", users: [], name: "x" }, "page"],
      ["personas/5101", { page: "2002", name: "x" }, "page"],
      ["media/6101", { owner: "6002", caption: "x" }, "owner"],
      ["microblog_media/7101", { owner: "7002", text: "x" }, "owner"],
      ["phone_numbers/4101", { account: "4002", overrides: [] }, "account"],
    ];
    for (const [path, body, parameter] of tries) {
      const before = await request("GET", `nodes/${path}`);
      expect(await request("PATCH", `nodes/${path}`, body)).toMatchObject({ status: 400, body: { error: { parameter } } });
      expect(await request("GET", `nodes/${path}`)).toEqual(before);
      const [key, id] = path.split("/");
      expect((await request("GET", `nodes/${key}`)).body.data.filter((entry: { id: string }) => entry.id === id)).toHaveLength(1);
    }
  });

  test("D-120: an activity with a metric that its target does not have is 422", async () => {
    const { request } = await openControl({ database, world: fullWorld });
    const record = async (body: Record<string, unknown>) => (await request("POST", "nodes/activity", body)).status;
    expect(await record({ target: "7001", metric: "shares" })).toBe(422);
    expect(await record({ target: "7101", metric: "clicks", link_url: "https://example.com" })).toBe(422);
    expect(await record({ target: "7101", metric: "shares" })).toBe(201);
    expect(await record({ target: "7001", metric: "clicks", link_url: "https://example.com" })).toBe(201);
  });

  test("D-40, D-41: labels and personas follow the rules of the operations that create them", async () => {
    const { request } = await openControl({ database });
    expect(await request("POST", "nodes/labels", { page: "2001", name: "  spaced " })).toMatchObject({ status: 201, body: { name: "spaced" } });
    const refused = async (path: string, body: Record<string, unknown>) => {
      const { status, body: response } = await request(path.includes("/") ? "PATCH" : "POST", `nodes/${path}`, body);
      return { status, parameter: response.error?.parameter };
    };
    expect(await refused("labels", { page: "2001", name: "spaced  " })).toEqual({ status: 409, parameter: "name" });
    expect(await refused("labels", { page: "2001", name: "  " })).toEqual({ status: 400, parameter: "name" });
    expect(await refused("labels/5001", { name: " " })).toEqual({ status: 400, parameter: "name" });
    expect(await refused("personas", { page: "2001", name: " " })).toEqual({ status: 400, parameter: "name" });
    expect(await refused("personas", { page: "2001", profile_picture_url: "picture" })).toEqual({ status: 400, parameter: "profile_picture_url" });
  });

  test("a role of an app names a user or a microblog user, and not both", async () => {
    const { request } = await openControl({ database, world: fullWorld });
    const role = "developer";
    for (const [one, parameter] of [
      [{ role }, "roles[1].user"],
      [{ role, user: "3001", microblog_user: "7001" }, "roles[1].microblog_user"],
    ] as const) {
      const { status, body } = await request("PATCH", "nodes/apps/1001", { roles: [{ role, user: "3001" }, one] });
      expect({ status, parameter: body.error.parameter }).toEqual({ status: 400, parameter });
    }
  });

  test("null resets a key to its default", async () => {
    const { request } = await openControl({ database });
    expect((await request("PATCH", "nodes/labels/5001", { users: null })).body.users).toEqual([]);
  });

  test("a taken id is 409 and changes nothing", async () => {
    const { request } = await openControl({ database });
    expect((await request("POST", "nodes/labels", { id: "5001", page: "2001", name: "other" })).status).toBe(409);
    expect((await request("POST", "nodes/labels", { id: "2001", page: "2001", name: "other" })).status).toBe(409);
    expect((await request("GET", "nodes/labels/5001")).body.name).toBe("vip");
  });

  test("D-278: a taken name is 409 with its key and changes nothing, on creation and on change", async () => {
    const { request } = await openControl({ database, world: fullWorld });
    const { id } = (await request("POST", "nodes/labels", { page: "2001", name: "other" })).body;
    const taken = (parameter: string) => ({ status: 409, body: { error: { code: "conflict", parameter } } });
    expect(await request("POST", "nodes/labels", { page: "2001", name: " vip " })).toMatchObject(taken("name"));
    expect(await request("PATCH", `nodes/labels/${id}`, { name: "vip" })).toMatchObject(taken("name"));
    expect((await request("GET", `nodes/labels/${id}`)).body.name).toBe("other");
  });

  test("a reference to a missing node is 422 and stores nothing, on creation and on change", async () => {
    const { request } = await openControl({ database });
    expect(await request("POST", "nodes/labels", { id: "77", page: "3", name: "x" })).toMatchObject({
      status: 422,
      body: { error: { parameter: "page" } },
    });
    expect((await request("GET", "nodes/labels/77")).status).toBe(404);
    const changed = await request("PATCH", "nodes/labels/5001", { users: ["9001", "3001"] });
    expect(changed).toMatchObject({ status: 422, body: { error: { parameter: "users[1]" } } });
    expect((await request("GET", "nodes/labels/5001")).body.users).toEqual(["9001"]);
  });

  test("a reference to another owner's node is 422 and stores nothing, on creation and on change", async () => {
    const { request } = await openControl({ database, world: fullWorld });
    await request("PATCH", "nodes/pages/2002", { people: [{ psid: "9002" }] });
    const refusal = (parameter: string, rest: string) => ({ status: 422, body: { error: { parameter, message: `${parameter} ${rest}` } } });
    const stranger = refusal("users[1]", "refers to 9002, which belongs to 2002 and not to 2001");
    const users = ["9001", "9002"];
    expect(await request("POST", "nodes/labels", { id: "77", page: "2001", name: "x", users })).toMatchObject(stranger);
    expect((await request("GET", "nodes/labels/77")).status).toBe(404);
    expect(await request("PATCH", "nodes/labels/5001", { users })).toMatchObject(stranger);
    expect((await request("GET", "nodes/labels/5001")).body.users).toEqual(["9001"]);
    const album = await request("POST", "nodes/media", { id: "78", owner: "6002", children: ["6101"] });
    expect(album).toMatchObject(refusal("children[0]", "refers to 6101, which belongs to 6001 and not to 6002"));
    expect((await request("GET", "nodes/media/78")).status).toBe(404);
  });

  test("an id inside an entry that belongs to another node is 409 and changes nothing", async () => {
    const { request } = await openControl({ database, world: fullWorld });
    const refused = async (method: string, path: string, body: Record<string, unknown>, parameter: string) => {
      const before = (await request("GET", "export")).body;
      const message = `${parameter} 9001 is already in use`;
      expect(await request(method, `nodes/${path}`, body)).toMatchObject({ status: 409, body: { error: { parameter, message } } });
      expect((await request("GET", "export")).body).toEqual(before);
    };
    await refused("PATCH", "pages/2002", { people: [{ psid: "9002" }, { psid: "9001" }] }, "people[1].psid");
    await refused("POST", "pages", { id: "2003", people: [{ psid: "9001" }] }, "people[0].psid");
    await refused("PATCH", "social_accounts/6001", { social_scoped_id: "9001" }, "social_scoped_id");
  });

  test("a person who moves to another page loses its labels", async () => {
    const { request } = await openControl({ database, world: fullWorld });
    await request("PATCH", "nodes/pages/2001", { people: null });
    await request("PATCH", "nodes/pages/2002", { people: [{ psid: "9001" }] });
    expect((await request("GET", "nodes/labels/5001")).body.users).toEqual([]);
    expect((await request("PATCH", "nodes/labels/5001", { users: ["9001"] })).status).toBe(422);
    expect((await request("POST", "nodes/labels", { page: "2002", name: "x", users: ["9001"] })).status).toBe(201);
  });

  test("a missing node is 404, even if the id is not an id", async () => {
    const { request } = await openControl({ database });
    for (const id of ["1", "2001", "abc", "0", "99999999999999999999"]) {
      for (const method of ["GET", "PATCH", "DELETE"])
        expect((await request(method, `nodes/labels/${id}`, method === "PATCH" ? {} : undefined)).status).toBe(404);
    }
    expect((await request("GET", "nodes/shelves")).status).toBe(404);
    expect((await request("GET", "/v1/worlds/other/nodes/labels")).status).toBe(404);
  });

  test.each([1, 2])("a list is read in pages of %i, and has every node once", async (limit) => {
    const { request } = await openControl({ database });
    const seen: string[] = [];
    for (let path: string | undefined = `nodes/labels?limit=${limit}`; path !== undefined && seen.length <= 3; ) {
      const { body } = await request("GET", path);
      expect(body.data.length).toBeLessThanOrEqual(limit);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      path = body.paging.next === undefined ? undefined : new URL(body.paging.next).pathname + new URL(body.paging.next).search;
    }
    expect(seen.sort()).toEqual(["5001", "5002", "5003"]);
  });

  test("records without an id are added, and cannot be addressed", async () => {
    const { request } = await openControl({ database });
    await request("POST", "nodes/microblog_users", { id: "7001", username: "cafe" });
    const record = { target: "7001", metric: "views", time: 1_794_960_000, value: 2 };
    for (let i = 0; i < 2; i++) expect(await request("POST", "nodes/activity", record)).toEqual({ status: 201, body: record });
    expect((await request("POST", "import", { activity: [record, record] })).status).toBe(200);
    expect((await request("GET", "nodes/activity")).body.data).toEqual([{ ...record, value: 8 }]);
    expect((await request("GET", "nodes/activity/7001")).status).toBe(404);
  });

  test("every kind of node can be read and written back unchanged", async () => {
    const { request, plaza } = await openControl({ database, world: busyWorld });
    // The other kinds of nodes have no ids, so no path leads to a single node of these kinds.
    const keys = sectionsOf(plaza.registry).flatMap(({ key, identity }) => (identity === undefined ? [key] : []));
    for (const key of keys) {
      const { data } = (await request("GET", `nodes/${key}`)).body;
      expect(data).not.toEqual([]);
      const written: unknown[] = [];
      for (const entry of data) written.push((await request("PATCH", `nodes/${key}/${entry.id}`, entry)).body);
      expect(written).toEqual(data);
    }
  });
});

describe("malformed bodies and queries are 400 and name the parameter", () => {
  const cases: [method: string, path: string, body: unknown, parameter: string | undefined][] = [
    ["POST", "nodes/labels", "{", undefined],
    ["POST", "nodes/labels", [], undefined],
    ["POST", "nodes/labels", { page: "2001", name: "x", nam: 1 }, "nam"],
    ["POST", "nodes/labels", { page: "2001" }, "name"],
    ["PATCH", "nodes/labels/5001", { id: "5002" }, "id"],
    ["GET", "nodes/labels?limit=0", undefined, "limit"],
    ["GET", "nodes/labels?after=zzz", undefined, "after"],
    ["POST", "tokens", { type: "page", app: "1001" }, "page"],
    ["POST", "tokens", { type: "robot", app: "1001" }, "type"],
    ["PUT", "clock", { now: "soon" }, "now"],
    ["POST", "clock/advance", { seconds: -1 }, "seconds"],
    ["POST", "requests/expect", { count: -1 }, "count"],
  ];
  for (const [method, path, body, parameter] of cases) {
    test(`${method} ${path} ${JSON.stringify(body)}`, async () => {
      const { request } = await openControl();
      const response = await request(method, path, body);
      expect(response).toMatchObject({ status: 400, body: { error: { code: "bad_request" } } });
      expect(response.body.error.parameter).toBe(parameter);
    });
  }

  test("a cursor of another list", async () => {
    const { request } = await openControl();
    const { next } = (await request("GET", "nodes/labels?limit=1")).body.paging;
    expect((await request("GET", `nodes/pages?after=${new URL(next).searchParams.get("after")}`)).status).toBe(400);
  });
});
