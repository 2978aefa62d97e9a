import { describe, expect, spyOn, test } from "bun:test";
import { KEY, openControl } from "#harness/control";

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

describe("the last requests", () => {
  test("are listed by operation, status and time, without secrets", async () => {
    const { request, plaza } = await openControl();
    plaza.world.requests.add(entry({ trace_id: "A1" }));
    plaza.world.requests.add(entry({ trace_id: "A2", operation: "createLabel", status: 400, time: 1_795_000_010_000 }));
    const all = (await request("GET", "requests")).body.data;
    expect(all.map(({ trace_id }: { trace_id: string }) => trace_id)).toEqual(["A2", "A1"]);
    expect(all[1]).toMatchObject({ time: 1_795_000_000.5, query: "access_token=…&limit=5" });
    expect((await request("GET", "requests?operation=createLabel")).body.data).toHaveLength(1);
    expect((await request("GET", "requests?status=200")).body.data).toHaveLength(1);
    expect((await request("GET", "requests?since=1795000005")).body.data).toHaveLength(1);
    expect((await request("GET", "requests?limit=1")).body.data).toMatchObject([{ trace_id: "A2" }]);
    expect((await request("GET", "requests?limit=0")).body.error.parameter).toBe("limit");
  });

  test("further ones are sent as they arrive, through the same filter, if the caller accepts server-sent events", async () => {
    const { app, plaza } = await openControl();
    plaza.world.requests.add(entry({ trace_id: "A1" }));
    const response = await app.request("/v1/worlds/default/requests?status=200", {
      headers: { authorization: `Bearer ${KEY}`, accept: "text/event-stream" },
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toBe(": listening\n\n");
    plaza.world.requests.add(entry({ trace_id: "A2", status: 400 }));
    plaza.world.requests.add(entry({ trace_id: "A3" }));
    expect(await next()).toStartWith('event: request\ndata: {"trace_id":"A3"');
    plaza.world.requests.add(entry({ trace_id: "A4" }));
    expect(await next()).toContain('"query":"access_token=…&limit=5"');
    await reader.cancel();
    plaza.world.requests.add(entry({ trace_id: "A5" }));
  });

  test("nothing waits for requests when the reader has left", async () => {
    const { app, plaza } = await openControl();
    const next = spyOn(plaza.world.requests, "next");
    const response = await app.request("/v1/worlds/default/requests", { headers: { authorization: `Bearer ${KEY}`, accept: "text/event-stream" } });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    plaza.world.requests.add(entry({ trace_id: "A1" }));
    await reader.read();
    const before = next.mock.results.length;
    expect(before).toBeGreaterThan(0);
    await reader.cancel();
    plaza.world.requests.add(entry({ trace_id: "A2" }));
    await Bun.sleep(0);
    plaza.world.requests.add(entry({ trace_id: "A3" }));
    await Bun.sleep(0);
    expect(next).toHaveBeenCalledTimes(before);
  });

  test("an expectation is met by earlier requests, and looks into bodies and queries", async () => {
    const { request, plaza } = await openControl();
    plaza.world.requests.add(entry({}));
    for (const match of [
      { status: 200 },
      { query: { limit: 5 } },
      { request_body: { name: "vip" } },
      { request_body: "vip" },
      { path: "/v26.0/2001/custom_labels" },
    ]) {
      expect(await request("POST", "requests/expect", { operation: "listLabels", match })).toMatchObject({ status: 200, body: { count: 1 } });
    }
    for (const match of [{ status: 201 }, { query: { limit: 6 } }, { request_body: { name: "gold" } }, { request_body: { users: [] } }]) {
      const refused = await request("POST", "requests/expect", { operation: "listLabels", match });
      expect(refused).toMatchObject({ status: 422, body: { count: 0, data: [{ trace_id: "A1" }] } });
    }
  });

  test("an expectation waits for later requests", async () => {
    const { request, plaza } = await openControl();
    const waiting = request("POST", "requests/expect", { operation: "listLabels", count: 2, within_ms: 5_000 });
    plaza.world.requests.add(entry({ trace_id: "A1" }));
    plaza.world.requests.add(entry({ trace_id: "A2" }));
    expect(await waiting).toMatchObject({ status: 200, body: { count: 2 } });
  });

  test("an expectation of none waits for the whole time", async () => {
    const { request, plaza } = await openControl();
    expect((await request("POST", "requests/expect", { operation: "listLabels", count: 0, within_ms: 20 })).status).toBe(200);
    const waiting = request("POST", "requests/expect", { operation: "listLabels", count: 0, within_ms: 5_000 });
    plaza.world.requests.add(entry({}));
    expect(await waiting).toMatchObject({ status: 422, body: { count: 1 } });
  });

  test("a failed expectation names the nearest request and its differences", async () => {
    const { request, plaza } = await openControl();
    plaza.world.requests.add(entry({ trace_id: "A1", operation: "createLabel", request_body: '{"name":"gold","users":["9001","9002"]}' }));
    plaza.world.requests.add(entry({ trace_id: "A2", operation: "createLabel", request_body: "name=gold&users=9001", status: 400 }));
    plaza.world.requests.add(entry({ trace_id: "A3", operation: "listLabels", request_body: '{"name":"vip"}', status: 200 }));
    const match = { status: 200, request_body: { name: "vip", users: ["9001", "9003"] } };
    const refused = await request("POST", "requests/expect", { operation: "createLabel", match });
    expect(refused.status).toBe(422);
    expect(refused.body.error.message).toBe("expected 1 request, saw 0; the nearest differs in request_body.name, request_body.users[1]");
    expect(refused.body.nearest).toMatchObject({
      request: { trace_id: "A1" },
      differences: [
        { at: "request_body.name", expected: "vip", actual: "gold" },
        { at: "request_body.users[1]", expected: "9003", actual: "9002" },
      ],
    });
    const other = await request("POST", "requests/expect", { operation: "updatePersona", match: { status: 400 } });
    expect(other.body.nearest).toMatchObject({
      request: { trace_id: "A2" },
      differences: [{ at: "operation", expected: "updatePersona", actual: "createLabel" }],
    });
  });

  test("the nearest miss of too few requests is one that does not match, and shows no secret; an expectation of none has no nearest miss", async () => {
    const { request, plaza } = await openControl();
    plaza.world.requests.add(entry({ trace_id: "A1", query: "access_token=s3cret&limit=5" }));
    plaza.world.requests.add(entry({ trace_id: "A2" }));
    const refused = await request("POST", "requests/expect", { match: { query: { access_token: "other" } }, count: 1 });
    expect(refused.body.nearest.differences).toEqual([{ at: "query.access_token", expected: "other", actual: "…" }]);
    expect(JSON.stringify(refused.body)).not.toContain("s3cret");
    const few = await request("POST", "requests/expect", { match: { trace_id: "A2" }, count: 2 });
    expect(few.body.nearest.request.trace_id).toBe("A1");
    const none = await request("POST", "requests/expect", { match: { trace_id: "A2" }, count: 0 });
    expect(none.status).toBe(422);
    expect(none.body).not.toHaveProperty("nearest");
  });
});
