import { describe, expect, test } from "bun:test";
import { onEachDatabase, openPlaza, type PlazaOptions, type TestPlaza } from "#harness/plaza";
import { tokenValue } from "#system";
import { CallFigures } from "#telemetry/figures";
import { type ControlAppOptions, controlApp, controlRoutes } from "./app.ts";

const KEY = "control-key-of-the-test";
const CAFE = {
  users: [{ id: "3001", name: "Ada" }],
  apps: [{ id: "1001", name: "Shop", secret: "s3cret", created_time: 1_767_225_600 }],
  pages: [{ id: "2001", name: "Cafe", people: [{ psid: "9001", name: "Guest" }], roles: [{ user: "3001", tasks: ["MESSAGING"] }] }],
  labels: [
    { id: "5001", page: "2001", name: "vip", users: ["9001"] },
    { id: "5002", page: "2001", name: "regular" },
    { id: "5003", page: "2001", name: "late" },
  ],
  tokens: [{ token: "page-token", type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] }],
};

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer.
  readonly body: any;
}

async function openControl(options: PlazaOptions = {}, more: Partial<ControlAppOptions["house"]> = {}) {
  const plaza = await openPlaza({ world: CAFE, ...options });
  const unexpected: unknown[] = [];
  const app = controlApp({
    key: KEY,
    house: {
      registry: plaza.registry,
      worlds: new Map([["default", plaza.world]]),
      parseYaml: (text) => Bun.YAML.parse(text),
      mintTokenValue: tokenValue,
      onTimeMoved: [],
      ...more,
    },
    figures: new CallFigures(),
    onUnexpected: (error) => unexpected.push(error),
  });
  const call = async (method: string, path: string, body?: unknown, key: string | undefined = KEY): Promise<Answer> => {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const headers: Record<string, string> = key === undefined || key === "" ? {} : { authorization: `Bearer ${key}` };
    const response = await app.request(path.startsWith("/") ? path : `/v1/worlds/default/${path}`, {
      method,
      headers,
      ...(text === undefined ? {} : { body: text }),
    });
    expect(unexpected).toEqual([]);
    const answer = (await response.json()) as Answer["body"];
    if (response.status >= 400) expect(answer.error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    return { status: response.status, body: answer };
  };
  return { plaza, app, call };
}

const labelsOf = (plaza: TestPlaza, token = "page-token") => plaza.get("/v26.0/2001/custom_labels", { token });

describe("the control key", () => {
  test("is needed everywhere below /v1 but for the API's own document", async () => {
    const { call } = await openControl();
    for (const route of controlRoutes) {
      const path = route.path.replace("{w}", "default").replace("{key}", "labels").replace("{id}", "5001");
      for (const key of ["", "another", `${KEY}x`]) expect((await call(route.method, path, undefined, key)).status).toBe(401);
    }
    expect((await call("GET", "/v1/nothing", undefined, "")).status).toBe(401);
    expect((await call("GET", "/v1/openapi.json", undefined, "")).status).toBe(200);
  });

  test("health and readiness need none, and readiness asks the database", async () => {
    const { call, plaza } = await openControl();
    expect((await call("GET", "/healthz", undefined, "")).status).toBe(200);
    expect((await call("GET", "/readyz", undefined, "")).status).toBe(200);
    await plaza.world.database.close();
    expect((await call("GET", "/readyz", undefined, "")).status).toBe(503);
    expect((await call("GET", "/healthz", undefined, "")).status).toBe(200);
  });
});

onEachDatabase("nodes", (database) => {
  test("a node is made, read, changed and deleted, and the graph shows each step", async () => {
    const { plaza, call } = await openControl({ database });
    const made = await call("POST", "nodes/labels", { page: "2001", name: "new", users: ["9001"] });
    expect(made).toMatchObject({ status: 201, body: { page: "2001", name: "new", users: ["9001"] } });
    const { id } = made.body;
    expect((await call("GET", `nodes/labels/${id}`)).body).toEqual(made.body);
    expect((await labelsOf(plaza)).body.data[0]).toEqual({ id, name: "new" });
    expect((await call("PATCH", `nodes/labels/${id}`, { name: "changed" })).body).toEqual({ ...made.body, name: "changed" });
    expect((await labelsOf(plaza)).body.data[0]).toEqual({ id, name: "changed" });
    expect((await call("DELETE", `nodes/labels/${id}`)).status).toBe(200);
    expect((await call("GET", `nodes/labels/${id}`)).status).toBe(404);
    expect((await labelsOf(plaza)).body.data).toHaveLength(3);
  });

  test("null takes a key back to what it is when not given", async () => {
    const { call } = await openControl({ database });
    expect((await call("PATCH", "nodes/labels/5001", { users: null })).body.users).toEqual([]);
  });

  test("a taken id is 409 and changes nothing", async () => {
    const { call } = await openControl({ database });
    expect((await call("POST", "nodes/labels", { id: "5001", page: "2001", name: "other" })).status).toBe(409);
    expect((await call("POST", "nodes/labels", { id: "2001", page: "2001", name: "other" })).status).toBe(409);
    expect((await call("GET", "nodes/labels/5001")).body.name).toBe("vip");
  });

  test("a reference that leads nowhere is 422 and stores nothing, on creation and on change", async () => {
    const { call } = await openControl({ database });
    expect(await call("POST", "nodes/labels", { id: "77", page: "3", name: "x" })).toMatchObject({
      status: 422,
      body: { error: { parameter: "page" } },
    });
    expect((await call("GET", "nodes/labels/77")).status).toBe(404);
    const changed = await call("PATCH", "nodes/labels/5001", { users: ["9001", "3001"] });
    expect(changed).toMatchObject({ status: 422, body: { error: { parameter: "users[1]" } } });
    expect((await call("GET", "nodes/labels/5001")).body.users).toEqual(["9001"]);
  });

  test("what is no such node is 404, also where the id is none", async () => {
    const { call } = await openControl({ database });
    for (const id of ["1", "2001", "abc", "0", "99999999999999999999"]) {
      for (const method of ["GET", "PATCH", "DELETE"])
        expect((await call(method, `nodes/labels/${id}`, method === "PATCH" ? {} : undefined)).status).toBe(404);
    }
    expect((await call("GET", "nodes/shelves")).status).toBe(404);
    expect((await call("GET", "/v1/worlds/other/nodes/labels")).status).toBe(404);
  });

  test("a list is paged, and its pages hold every node once", async () => {
    const { call } = await openControl({ database });
    const seen: string[] = [];
    for (let path: string | undefined = "nodes/labels?limit=2"; path !== undefined; ) {
      const { body } = await call("GET", path);
      expect(body.data.length).toBeLessThanOrEqual(2);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      path = body.paging.next === undefined ? undefined : new URL(body.paging.next).pathname + new URL(body.paging.next).search;
    }
    expect(seen.sort()).toEqual(["5001", "5002", "5003"]);
  });

  test("every kind of node can be read and written back unchanged", async () => {
    const { call, plaza } = await openControl({ database });
    for (const section of plaza.registry.rooms.flatMap((room) => room.sections ?? [])) {
      for (const entry of (await call("GET", `nodes/${section.key}`)).body.data) {
        expect((await call("PATCH", `nodes/${section.key}/${entry.id}`, entry)).body).toEqual(entry);
      }
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
      const { call } = await openControl();
      const answer = await call(method, path, body);
      expect(answer).toMatchObject({ status: 400, body: { error: { code: "bad_request" } } });
      expect(answer.body.error.parameter).toBe(parameter);
    });
  }

  test("a cursor of another list", async () => {
    const { call } = await openControl();
    const { next } = (await call("GET", "nodes/labels?limit=1")).body.paging;
    expect((await call("GET", `nodes/pages?after=${new URL(next).searchParams.get("after")}`)).status).toBe(400);
  });
});

onEachDatabase("tokens", (database) => {
  test("a minted token works until it is revoked, and then not once more", async () => {
    const { plaza, call } = await openControl({ database });
    const minted = await call("POST", "tokens", { type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] });
    expect(minted.status).toBe(201);
    expect((await labelsOf(plaza, minted.body.token)).status).toBe(200);
    expect((await call("DELETE", `tokens/${minted.body.id}`)).status).toBe(200);
    const refused = await labelsOf(plaza, minted.body.token);
    expect(refused).toMatchObject({ status: 403, body: { code: 190, error_subcode: 466 } });
    expect((await call("DELETE", "tokens/1")).status).toBe(404);
  });

  test("the value is shown once", async () => {
    const { call } = await openControl({ database });
    const { token, ...rest } = (await call("POST", "tokens", { type: "app", app: "1001" })).body;
    const listed = await call("GET", "tokens");
    expect(listed.body.data[0]).toEqual(rest);
    expect(JSON.stringify(listed.body)).not.toContain(token);
    expect(JSON.stringify((await call("GET", "export")).body)).not.toContain(token);
  });

  test("a value can be brought, once", async () => {
    const { call, plaza } = await openControl({ database });
    const entry = { token: "my-token", type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] };
    expect((await call("POST", "tokens", entry)).status).toBe(201);
    expect((await call("POST", "tokens", entry)).status).toBe(409);
    expect((await labelsOf(plaza, "my-token")).status).toBe(200);
  });
});

describe("import and export", () => {
  test("an export can be imported; what was deleted in between is back", async () => {
    const { call } = await openControl();
    const before = (await call("GET", "export")).body;
    await call("DELETE", "nodes/labels/5002");
    expect(await call("POST", "import", before)).toEqual({ status: 200, body: { success: true } });
    expect((await call("GET", "nodes/labels/5002")).body.name).toBe("regular");
  });

  test("YAML is taken too; a file that is refused names path and line", async () => {
    const { call } = await openControl();
    expect((await call("POST", "import", "labels:\n- {id: 77, page: 2001, name: q}")).status).toBe(200);
    expect(await call("POST", "import", "labels:\n- {id: 78, page: 3, name: q}")).toMatchObject({
      status: 422,
      body: { error: { parameter: "labels[0].page", message: "labels[0].page refers to 3, which does not exist (line 2)" } },
    });
  });
});

onEachDatabase("the clock", (database) => {
  test("is set, stopped and moved on; two moves at once add up", async () => {
    const { call, plaza } = await openControl({ database });
    expect((await call("PUT", "clock", { now: "2026-11-01T10:00:00+0000", frozen: true })).body).toEqual({ now: 1_793_527_200, frozen: true });
    plaza.time.realMs += 5_000;
    expect((await call("GET", "clock")).body.now).toBe(1_793_527_200);
    await Promise.all([call("POST", "clock/advance", { seconds: 10 }), call("POST", "clock/advance", { seconds: 20 })]);
    expect((await call("PUT", "clock", { frozen: false })).body).toEqual({ now: 1_793_527_230, frozen: false });
    plaza.time.realMs += 5_000;
    expect((await call("GET", "clock")).body.now).toBe(1_793_527_235);
  });
});

describe("when the clock is moved", () => {
  test("whatever falls due has happened before the call answers", async () => {
    const happened: number[] = [];
    const settle = async ({ clock }: TestPlaza["world"]) => {
      await Promise.resolve();
      happened.push(clock.nowMs());
    };
    const { call } = await openControl({}, { onTimeMoved: [settle] });
    await call("PUT", "clock", { now: 1_795_000_000, frozen: true });
    await call("POST", "clock/advance", { seconds: 0.5 });
    expect(happened).toEqual([1_795_000_000_000, 1_795_000_000_500]);
  });

  test("a token expires with it", async () => {
    const { call, plaza } = await openControl();
    const now = (await call("PUT", "clock", { frozen: true })).body.now;
    const { token } = (await call("POST", "tokens", { type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"], expires_at: now + 60 }))
      .body;
    await call("POST", "clock/advance", { seconds: 59 });
    expect((await labelsOf(plaza, token)).status).toBe(200);
    await call("POST", "clock/advance", { seconds: 1 });
    expect((await labelsOf(plaza, token)).body.error_subcode).toBe(463);
  });
});

const entry = (more: Record<string, unknown>) => ({
  trace_id: "A1",
  operation: "listLabels",
  method: "GET",
  surface: "base",
  path: "/v26.0/2001/custom_labels",
  query: "access_token=secret&limit=5",
  status: 200,
  time: 1_795_000_000_500,
  duration_ms: 1.5,
  app: "1001",
  request_body: '{"name":"vip","users":["9001"]}',
  response_body: '{"data":[]}',
  ...more,
});

describe("the last calls", () => {
  test("are listed by operation, status and time, without secrets", async () => {
    const { call, plaza } = await openControl();
    plaza.world.requests.add(entry({ trace_id: "A1" }));
    plaza.world.requests.add(entry({ trace_id: "A2", operation: "createLabel", status: 400, time: 1_795_000_010_000 }));
    const all = (await call("GET", "requests")).body.data;
    expect(all.map(({ trace_id }: { trace_id: string }) => trace_id)).toEqual(["A2", "A1"]);
    expect(all[1]).toMatchObject({ time: 1_795_000_000.5, query: "access_token=…&limit=5" });
    expect((await call("GET", "requests?operation=createLabel")).body.data).toHaveLength(1);
    expect((await call("GET", "requests?status=200")).body.data).toHaveLength(1);
    expect((await call("GET", "requests?since=1795000005")).body.data).toHaveLength(1);
  });

  test("an expectation is met by what is there, and looks into bodies and queries", async () => {
    const { call, plaza } = await openControl();
    plaza.world.requests.add(entry({}));
    for (const match of [
      { status: 200 },
      { query: { limit: 5 } },
      { request_body: { name: "vip" } },
      { request_body: "vip" },
      { path: "/v26.0/2001/custom_labels" },
    ]) {
      expect(await call("POST", "requests/expect", { operation: "listLabels", match })).toMatchObject({ status: 200, body: { count: 1 } });
    }
    for (const match of [{ status: 201 }, { query: { limit: 6 } }, { request_body: { name: "gold" } }, { request_body: { users: [] } }]) {
      const refused = await call("POST", "requests/expect", { operation: "listLabels", match });
      expect(refused).toMatchObject({ status: 422, body: { count: 0, data: [{ trace_id: "A1" }] } });
    }
  });

  test("an expectation waits for calls that are yet to come", async () => {
    const { call, plaza } = await openControl();
    const waiting = call("POST", "requests/expect", { operation: "listLabels", count: 2, within_ms: 5_000 });
    plaza.world.requests.add(entry({ trace_id: "A1" }));
    plaza.world.requests.add(entry({ trace_id: "A2" }));
    expect(await waiting).toMatchObject({ status: 200, body: { count: 2 } });
  });

  test("none at all is expected for the whole time", async () => {
    const { call, plaza } = await openControl();
    expect((await call("POST", "requests/expect", { operation: "listLabels", count: 0, within_ms: 20 })).status).toBe(200);
    const waiting = call("POST", "requests/expect", { operation: "listLabels", count: 0, within_ms: 5_000 });
    plaza.world.requests.add(entry({}));
    expect(await waiting).toMatchObject({ status: 422, body: { count: 1 } });
  });
});

describe("the API's own document", () => {
  test("names every route, and a schema for each kind of node", async () => {
    const { call, plaza } = await openControl();
    const { body } = await call("GET", "/v1/openapi.json");
    expect(body.openapi).toBe("3.1.0");
    const sections = plaza.registry.rooms.flatMap((room) => room.sections ?? []).map(({ key }) => key);
    for (const route of controlRoutes) {
      for (const key of sections) expect(body.paths[route.path.replace("{key}", key)]).toHaveProperty(route.method.toLowerCase());
    }
    for (const key of sections) expect(body.components.schemas).toHaveProperty(key);
    const ids = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap((path) =>
      Object.values(path).map((at) => at.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(JSON.stringify(body)).not.toContain("x-plaza-read-as");
  });

  test("what is not served yet is 404", async () => {
    const { call } = await openControl();
    expect((await call("POST", "/v1/worlds", { name: "x" })).status).toBe(404);
    expect((await call("POST", "snapshots", { name: "x" })).status).toBe(404);
  });
});
