import { describe, expect, test } from "bun:test";
import type { ControlRequest } from "#control-contract/route";
import { storyText } from "#graph/pipeline/story/story-text";
import { RequestLog } from "#graph/worlds/request-log";
import { KEY, openControl } from "#harness/control";
import type { RequestFilter } from "./request-schemas.ts";
import { followRequests } from "./request-stream.ts";

const entry = (more: Record<string, unknown> = {}) => ({
  trace_id: "A1",
  operation: "listLabels",
  method: "GET",
  surface: "base",
  path: "/v26.0/2001/custom_labels",
  query: "",
  status: 200,
  time: 1_795_000_000_500,
  duration_ms: 1.5,
  app: "1001",
  request_body: "",
  response_body: "{}",
  ...more,
});

/** Reads the next event of the stream that has data. */
async function nextEvent(reader: { read(): Promise<{ value?: Uint8Array | undefined }> }) {
  for (;;) {
    const { value } = await reader.read();
    const text = new TextDecoder().decode(value);
    const data = /^data: (.*)$/m.exec(text)?.[1];
    if (data !== undefined) return { id: /^id: (\d+)$/m.exec(text)?.[1], ...JSON.parse(data) };
  }
}

/** Opens the request stream of a world that has the given request log, and returns a reader of the stream. */
function readerOf(log: RequestLog, filter: RequestFilter = {}, after?: number) {
  const request = {
    deps: { ending: new AbortController().signal },
    world: { requests: log, database: { dialect: "sqlite" } },
  } as unknown as ControlRequest;
  return (followRequests(request, filter, { after }).body as ReadableStream<Uint8Array>).getReader();
}

describe("the stream of requests", () => {
  test("sends matching requests, counts all, and continues after a cursor", async () => {
    const log = new RequestLog();
    log.add(entry({ trace_id: "A0" }));
    const reader = readerOf(log, { status_class: 4 });
    await reader.read();
    log.add(entry({ trace_id: "A1" }));
    log.add(entry({ trace_id: "A2", status: 400 }));
    expect(await nextEvent(reader)).toMatchObject({
      id: "3",
      seen: 2,
      refused: 1,
      failed: 0,
      skipped: 0,
      data: [{ trace_id: "A2", status: 400, app: "1001" }],
    });
    await reader.cancel();
    const later = readerOf(log, {}, 1);
    expect(await nextEvent(later)).toMatchObject({ id: "3", seen: 2, data: [{ trace_id: "A1" }, { trace_id: "A2" }] });
    await later.cancel();
    // The cursor that this request sends is from an earlier run of the server.
    const fresh = readerOf(log, {}, 900);
    await fresh.read();
    // The following request is counted, although the filter leaves it out.
    log.add(entry({ trace_id: "A3", status: 503 }));
    expect(await nextEvent(fresh)).toMatchObject({ id: "4", seen: 1, refused: 0, failed: 1, data: [{ trace_id: "A3" }] });
    await fresh.cancel();
  });

  test.each([
    { given: "Last-Event-ID: 1", id: "1", query: "", sent: ["A1", "A2"] },
    { given: "one with more digits", id: "000000000000001", query: "", sent: ["A1", "A2"] },
    { given: "one that no stream has sent", id: "1x", query: "", sent: ["A2"] },
    { given: "one beside a cursor in the query", id: "0", query: "?after=1", sent: ["A1", "A2"] },
  ])("continues at the reader's last position: $given", async ({ id, query, sent }) => {
    const { app, plaza } = await openControl();
    const { requests } = plaza.world;
    for (const trace_id of ["A0", "A1"]) requests.add(entry({ trace_id }));
    const headers = { authorization: `Bearer ${KEY}`, "last-event-id": id };
    const response = await app.request(`/v1/worlds/default/requests/stream${query}`, { headers });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const seen: string[] = [];
    requests.add(entry({ trace_id: "A2" }));
    while (!seen.includes("A2")) seen.push(...(await nextEvent(reader)).data.map(({ trace_id }: { trace_id: string }) => trace_id));
    expect(seen).toEqual([...sent]);
    await reader.cancel();
  });

  test("sends no request twice after an idle world was opened, and continues when it is restored", async () => {
    const log = new RequestLog();
    log.add(entry({ trace_id: "A0" }));
    log.shrink();
    const reader = readerOf(log);
    await reader.read();
    log.clear();
    log.add(entry({ trace_id: "A1" }));
    expect(await nextEvent(reader)).toMatchObject({ id: "2", seen: 1, data: [{ trace_id: "A1" }] });
    await reader.cancel();
  });

  test("counts requests that are too fast to show, even those that the log no longer has", async () => {
    const log = new RequestLog();
    const reader = readerOf(log);
    await reader.read();
    for (let at = 0; at < 1_500; at++) log.add(entry({ trace_id: `A${at}` }));
    const { data, seen, skipped } = await nextEvent(reader);
    expect({ seen, skipped, lines: data.length, newest: data.at(-1).trace_id }).toEqual({ seen: 1_500, skipped: 1_480, lines: 20, newest: "A1499" });
    await reader.cancel();
  });
});

test("a single request is read with its details, and a list omits them", async () => {
  const { request, plaza } = await openControl();
  const story = { steps: [{ name: "understand", duration_ms: 1 }], credentials: [], version: {}, deliveries: ["77"] };
  const text = storyText("", { step_count: 1, durations: [1_000], version: {}, deliveries: ["77"], error: "tokenMissing" });
  plaza.world.requests.add({ ...entry({ trace_id: "A1" }), story: text });
  plaza.world.requests.add(entry({ trace_id: "A2" }));
  expect(await request("GET", "requests/A1")).toMatchObject({ status: 200, body: { trace_id: "A1", time: 1_795_000_000.5, story } });
  expect((await request("GET", "requests/A2")).body.story).toBeUndefined();
  expect((await request("GET", "requests")).body.data.map((one: object) => "story" in one)).toEqual([false, false]);
  expect((await request("GET", "requests?stories=true")).body.data.map(({ story: one }: { story?: object }) => one)).toMatchObject([
    undefined,
    story,
  ]);
  expect((await request("GET", "requests/A3")).status).toBe(404);
});

test("the last requests are found by words of their contents", async () => {
  const { request, plaza } = await openControl();
  plaza.world.requests.add(entry({ trace_id: "A1" }));
  plaza.world.requests.add(entry({ trace_id: "A2", method: "POST", status: 403, app: "1002", operation: "createLabel" }));
  for (const filter of ["status_class=4", "method=POST", "app=1002", "search=createL", "search=A2"]) {
    const { data } = (await request("GET", `requests?${filter}`)).body;
    expect({ filter, found: data.map(({ trace_id }: { trace_id: string }) => trace_id) }).toEqual({ filter, found: ["A2"] });
  }
  expect((await request("GET", "requests?status_class=9")).status).toBe(400);
});
