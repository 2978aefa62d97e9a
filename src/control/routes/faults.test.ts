import { describe, expect, test } from "bun:test";
import { handleRequest } from "#graph/pipeline/handle-request";
import { appUsage, caseUsage, NO_CASE_USAGE } from "#graph/response/usage";
import { importWorld } from "#graph/worlds/file/import-export";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, requestOf } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { sql } from "#storage/sql";

const labels = "/v26.0/2001/custom_labels";

onEachDatabase("faults", (database) => {
  test("an operation fails the given number of times, in its own form, and does nothing", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.faults.add({ operation: "createLabel", status: 503, times: 2 });
    for (let i = 0; i < 2; i++) {
      const { status, body } = await plaza.post(labels, { token: "page", body: { page_label_name: "new" } });
      expect({ status, code: body.code, is_transient: body.is_transient }).toEqual({ status: 503, code: 2, is_transient: true });
    }
    expect((await plaza.get(labels, { token: "page" })).body.data).toHaveLength(1);
    expect((await plaza.post(labels, { token: "page", body: { page_label_name: "new" } })).status).toBe(200);
    expect(plaza.world.faults.list()).toEqual([]);
  });

  test("a fault with only latency delays the response and keeps it; deleted faults have no effect", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.faults.add({ operation: "*", latency_ms: 1 });
    expect((await plaza.get(labels, { token: "page" })).status).toBe(200);
    plaza.world.faults.add({ operation: "*", status: 400, code: 100, probability: 0 });
    expect(plaza.world.faults.list().map(({ met }) => met)).toEqual([1, 0]);
    plaza.world.faults.clear();
    expect((await plaza.get(labels, { token: "page" })).status).toBe(200);
  });

  test("D-150: a request is matched by its node, its parameters and its token", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const statusOf = async (query: Record<string, unknown> = {}) => (await plaza.get(labels, { token: "page", query })).status;
    const met = async (match: object) => {
      plaza.world.faults.clear();
      plaza.world.faults.add({ operation: "listLabels", status: 503, ...match });
      return statusOf({ limit: "1" });
    };
    const token = (await plaza.world.tokens.find("page"))?.id as string;
    for (const match of [{ node: "2001" }, { query: { limit: "1" } }, { token }, { node: "2001", query: { limit: "1" }, token }]) {
      expect({ match, status: await met(match) }).toEqual({ match, status: 503 });
    }
    for (const match of [{ node: "2002" }, { query: { limit: "2" } }, { query: { after: "1" } }, { query: { toString: "1" } }, { token: "1" }]) {
      expect({ match, status: await met(match) }).toEqual({ match, status: 200 });
    }
  });

  test("D-370: a request whose tokens are revoked on the way is refused, and so is each later one with these tokens", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.faults.add({ operation: "createLabel", revoke_tokens: true, times: 1, skip: 1 });
    const create = async (name: string) => plaza.post(labels, { token: "page", body: { page_label_name: name } });
    expect((await create("one")).status).toBe(200);
    expect(await create("two")).toMatchObject({ status: 403, body: { code: 190, error_subcode: 466 } });
    expect(await create("two")).toMatchObject({ status: 403, body: { code: 190 } });
    expect(await plaza.world.database.reader.all(sql`SELECT name FROM labels WHERE name = 'two'`)).toEqual([]);
  });

  test("D-370: a request during which the time moves past the expiry of its token is refused; with another expiry it is served at the new time", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const nowMs = plaza.world.clock.nowMs();
    const page = cafe.tokens.find(({ token }) => token === "page");
    const file = { tokens: [{ ...page, token: "brief", expires_at: nowMs / 1_000 + 60 }] };
    await importWorld(plaza.world, plaza.registry, JSON.stringify(file), { isMerge: true });
    plaza.world.faults.add({ operation: "listLabels", advance_seconds: 59, times: 1 });
    expect((await plaza.get(labels, { token: "brief" })).status).toBe(200);
    plaza.world.faults.add({ operation: "listLabels", advance_seconds: 1, times: 1 });
    expect(await plaza.get(labels, { token: "brief" })).toMatchObject({
      status: 403,
      body: { code: 190, message: expect.stringContaining("expired") },
    });
    expect((await plaza.get(labels, { token: "page" })).status).toBe(200);
  });

  test("D-370: a list has short pages, with links to the rest", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    for (const page_label_name of ["two", "three"]) await plaza.post(labels, { token: "page", body: { page_label_name } });
    plaza.world.faults.add({ operation: "listLabels", page_max: 2 });
    const { body } = await plaza.get(labels, { token: "page", query: { limit: "10" } });
    expect(body.data).toHaveLength(2);
    const after = new URL(body.paging.next).searchParams.get("after");
    expect((await plaza.get(labels, { token: "page", query: { limit: "10", after } })).body.data).toMatchObject([{ name: "vip" }]);
    expect((await plaza.get(labels, { token: "page", query: { limit: "1" } })).body.data).toHaveLength(1);
  });

  test("D-370: an error can say when to retry", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.faults.add({ operation: "listLabels", status: 503, retry_after_seconds: 2 });
    expect(await plaza.get(labels, { token: "page" })).toMatchObject({ status: 503, headers: { "retry-after": "2" } });
  });

  test("D-150: the second of two faults applies if the first does not match", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.faults.add({ operation: "listLabels", status: 503, probability: 0 });
    plaza.world.faults.add({ operation: "listLabels", status: 500, code: 1 });
    expect((await plaza.get(labels, { token: "page" })).status).toBe(500);
  });

  test("D-22: an exceeded rate limit has the platform's form, for the app or the page", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.faults.add({ operation: "*", rate_limit: "app", retry_after_seconds: 7, times: 1 });
    plaza.world.faults.add({ operation: "*", rate_limit: "page", times: 1 });
    expect(await plaza.get(labels, { token: "page" })).toMatchObject({
      status: 429,
      body: { code: 4, is_transient: true },
      headers: { "retry-after": "7", "x-app-usage": appUsage(100), "x-business-use-case-usage": NO_CASE_USAGE },
    });
    expect(await plaza.get(labels, { token: "page" })).toMatchObject({
      status: 429,
      body: { code: 613, is_transient: true },
      headers: { "retry-after": "60", "x-app-usage": appUsage(0), "x-business-use-case-usage": caseUsage("2001", 100, 1) },
    });
  });

  test("D-150: a fault with a status and a body is an error with this body, and a resetting one resets errors as well", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const request = async (token: string) => {
      const deps = { registry: plaza.registry, traceId: () => "t", monotonicMs: () => 0, onUnexpected: () => {} };
      const { status, body, damage } = await handleRequest(deps, plaza.world, requestOf("GET", labels, { token }));
      return { status, body, isReset: damage?.reset === true };
    };
    plaza.world.faults.add({ operation: "listLabels", status: 503, body: "<html>", times: 1 });
    expect(await request("page")).toEqual({ status: 503, body: "<html>", isReset: false });
    plaza.world.faults.add({ operation: "listLabels", status: 500, reset: true, times: 1 });
    expect(await request("page")).toMatchObject({ status: 500, isReset: true });
    expect(await request("page")).toMatchObject({ status: 200, isReset: false });
  });

  test("D-150: an error applies to each request of a batch; faults that damage a response do not", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    plaza.world.faults.add({ operation: "listLabels", body: "<html>", reset: true });
    plaza.world.faults.add({ operation: "listLabels", status: 503, times: 1 });
    const batch = JSON.stringify([1, 2].map(() => ({ method: "GET", relative_url: "v26.0/2001/custom_labels" })));
    const { body } = await plaza.post("/v26.0", { token: "page", body: { batch } });
    expect(body.map(({ code }: { code: number }) => code)).toEqual([503, 200]);
    expect(plaza.world.faults.list()).toMatchObject([{ met: 0 }]);
  });

  test("D-375: a batch and ids= are operations themselves, and their parts count as requests of their operations", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const create = (name: string) => ({ method: "POST", relative_url: "v26.0/2001/custom_labels", body: `page_label_name=${name}` });
    const send = (...names: string[]) => plaza.post("/v26.0", { token: "page", body: { batch: JSON.stringify(names.map(create)) } });
    const deps = { registry: plaza.registry, traceId: () => "t", monotonicMs: () => 0, onUnexpected: () => {} };
    const textOf = async (...request: Parameters<typeof requestOf>) => (await handleRequest(deps, plaza.world, requestOf(...request))).body;
    const labelCount = async () => (await plaza.world.database.reader.all(sql`SELECT name FROM labels`)).length;
    plaza.world.faults.add({ operation: "batch", status: 503, retry_after_seconds: 1, times: 1 });
    const before = await labelCount();
    expect(await send("one")).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(await labelCount()).toBe(before);
    plaza.world.faults.add({ operation: "ids", body: "<html>", times: 1 });
    expect(await textOf("GET", "/v26.0", { token: "page", query: { ids: "2001" } })).toBe("<html>");
    // The second `createLabel` is the second operation in the first batch, and the third `createLabel` is a request of its own.
    plaza.world.faults.add({ operation: "createLabel", skip: 1, times: 1, status: 503 });
    plaza.world.faults.add({ operation: "createLabel", skip: 2, times: 1, body: "<html>" });
    expect((await send("one", "two")).body.map(({ code }: { code: number }) => code)).toEqual([200, 503]);
    expect(await textOf("POST", labels, { token: "page", body: { page_label_name: "three" } })).toBe("<html>");
    expect(await labelCount()).toBe(before + 2);
    plaza.world.faults.add({ operation: "batch", revoke_tokens: true, times: 1 });
    expect(await send("four")).toMatchObject({ body: { error: { code: 190 } } });
    expect(await labelCount()).toBe(before + 2);
  });
});

describe("faults of the control API", () => {
  test("are shown with the id of a token, never with its value", async () => {
    const { request } = await openControl();
    const made = await request("POST", "faults", { operation: "listLabels", token: "page-token", status: 503 });
    expect(made.status).toBe(201);
    expect(made.body.token).toMatch(/^\d+$/);
    expect((await request("GET", "faults")).body.data).toEqual([made.body]);
  });

  test.each([
    [{ status: 503 }, "operation"],
    [{ operation: "*", webhook: "*", status: 503 }, "operation"],
    [{ operation: "nothing", status: 503 }, "operation"],
    [{ operation: "*" }, "status"],
    [{ operation: "*", effect: "lose", status: 503 }, "effect"],
    [{ operation: "*", status: 503, rate_limit: "app" }, "rate_limit"],
    [{ operation: "*", reset: true, code: 2 }, "code"],
    [{ operation: "*", status: 503, content_type: "text/html" }, "content_type"],
    [{ operation: "*", status: 503, token: "unknown-value" }, "token"],
    [{ webhook: "nothing", effect: "lose" }, "webhook"],
    [{ webhook: "messages" }, "effect"],
    [{ webhook: "messages", effect: "lose", status: 503 }, "status"],
    [{ webhook: "messages", effect: "repeat", latency_ms: 5 }, "latency_ms"],
    [{ operation: "*", latency_ms: 5, retry_after_seconds: 5 }, "retry_after_seconds"],
  ])("%j is refused and names %s", async (body, parameter) => {
    const { request } = await openControl();
    const refused = await request("POST", "faults", body);
    expect(refused).toMatchObject({ status: 400, body: { error: { parameter } } });
    expect(JSON.stringify(refused.body)).not.toContain("unknown-value");
    expect((await request("GET", "faults")).body.data).toEqual([]);
  });

  test("each number and text accepts its bounds, and nothing beyond them", async () => {
    const { request } = await openControl();
    const statusOf = async (body: object) => (await request("POST", "faults", { operation: "*", ...body })).status;
    const taken = [
      ...[{ status: 400 }, { status: 599 }, { status: 503, times: 1 }, { status: 503, probability: 0 }, { status: 503, probability: 1 }],
      ...[{ revoke_tokens: true }, { page_max: 1 }, { advance_seconds: 1 }, { advance_seconds: 316_224_000 }, { latency_ms: 0, skip: 0 }],
      ...[
        { latency_ms: 0, lasts_ms: 1 },
        { latency_ms: 0, lasts_ms: 300_000 },
      ],
      ...[{ latency_ms: 0 }, { latency_ms: 300_000 }, { cut_body_at: 0 }, { body_bytes_per_second: 1 }, { body: "x".repeat(65_536) }],
      ...[
        { rate_limit: "app", retry_after_seconds: 0 },
        { reset: true, node: "1" },
        { status: 503, code: 1, query: {} },
      ],
      ...[
        { body: "", content_type: "a" },
        { body: "", content_type: "ab" },
        { body: "", content_type: `a${" ".repeat(200)}b` },
      ],
    ];
    for (const body of taken) expect({ body, status: await statusOf(body) }).toEqual({ body, status: 201 });
    const refused = [
      ...[{ status: 399 }, { status: 600 }, { status: 503, times: 0 }, { status: 503, probability: -0.1 }, { status: 503, probability: 1.1 }],
      ...[{ revoke_tokens: false }, { page_max: 0 }, { advance_seconds: 0 }, { advance_seconds: 316_224_001 }, { latency_ms: 0, skip: -1 }],
      ...[
        { latency_ms: 0, lasts_ms: 0 },
        { latency_ms: 0, lasts_ms: 300_001 },
      ],
      ...[{ latency_ms: -1 }, { latency_ms: 300_001 }, { cut_body_at: -1 }, { body_bytes_per_second: 0 }, { body: "x".repeat(65_537) }],
      ...[{ rate_limit: "app", retry_after_seconds: -1 }, { rate_limit: "user" }, { reset: false }, { status: 503, node: "" }],
      ...[
        { status: 503, token: "" },
        { operation: "", status: 503 },
        { operation: undefined, webhook: "", effect: "lose" },
      ],
      ...[
        { body: "", content_type: `a${" ".repeat(201)}b` },
        { status: 503, more: 1 },
      ],
    ];
    for (const body of refused) expect({ body, status: await statusOf(body) }).toEqual({ body, status: 400 });
    expect((await request("GET", "faults")).body.data).toHaveLength(taken.length);
    expect(await request("DELETE", "faults")).toMatchObject({ status: 200, body: { success: true } });
    expect((await request("GET", "faults")).body.data).toEqual([]);
  });

  test("are refused by a process that serves no requests of apps, because they would have no effect", async () => {
    const { request } = await openControl({}, { servesGraph: false });
    expect((await request("POST", "faults", { operation: "*", status: 503 })).status).toBe(409);
    expect((await request("GET", "faults")).body.data).toEqual([]);
  });

  test("a content type cannot end its header", async () => {
    const { request } = await openControl();
    expect((await request("POST", "faults", { operation: "*", body: "x", content_type: "a\r\nset-cookie: b" })).status).toBe(400);
  });

  test("are a hundred at most", async () => {
    const { request } = await openControl();
    for (let i = 0; i < 100; i++) expect((await request("POST", "faults", { webhook: "*", effect: "lose" })).status).toBe(201);
    expect((await request("POST", "faults", { webhook: "*", effect: "lose" })).status).toBe(409);
  });
});
