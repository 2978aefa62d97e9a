/** The output of `plaza logs` for the requests that the control API returns. */
import { expect, test } from "bun:test";
import { controlStub } from "#harness/cli/control-stub";
import { written } from "#harness/cli/printed";
import { logs } from "./logs.ts";

const seen = (trace_id: string, more: object = {}) => ({
  ...{ trace_id, operation: "listPersonas", method: "GET", path: "/v26.0/2001/personas", status: 200, time: 1_795_000_000, duration_ms: 1.25 },
  ...{ app: "1001", response_body: "{}" },
  ...more,
});

test("a line has time, request, status, duration, operation, app and trace id, and a failure its reason", async () => {
  const list = [
    seen("A1"),
    seen("A2", { app: undefined, status: 399 }),
    seen("A3", { status: 400, reason: "of the graph" }),
    seen("A4", { status: 403, reason: "of \u001b another" }),
    seen("A5", { status: 500 }),
  ];
  const { given } = controlStub(() => ({ data: list.toReversed() }));
  const streams = written();
  expect(await logs(given)).toBe(0);
  const start = "2026-11-18T11:06:40.000Z GET /v26.0/2001/personas";
  expect(streams).toEqual({
    out: [
      `${start} 200 1.3 ms listPersonas app 1001 A1`,
      `${start} 399 1.3 ms listPersonas A2`,
      `${start} 400 1.3 ms listPersonas app 1001 A3: of the graph`,
      `${start} 403 1.3 ms listPersonas app 1001 A4: of \\u001b another`,
      `${start} 500 1.3 ms listPersonas app 1001 A5`,
      "",
    ].join("\n"),
    err: "",
  });
});

test("--json prints each request completely, and nothing if there is none", async () => {
  const { given } = controlStub(({ path }) => ({ data: path.includes("status=") ? [] : [seen("A2"), seen("A1")] }));
  const streams = written();
  expect(await logs({ ...given, json: true })).toBe(0);
  expect(streams.out).toBe(`${JSON.stringify(seen("A1"))}\n${JSON.stringify(seen("A2"))}\n`);
  Object.assign(streams, { out: "" });
  expect(await logs({ ...given, json: true, status: "500" })).toBe(0);
  expect(streams).toEqual({ out: "", err: "" });
  expect(await logs({ ...given, status: "500" })).toBe(0);
  expect(streams).toEqual({ out: "", err: "no requests\n" });
});

const events = (...entries: object[]) =>
  new Response(entries.map((entry) => `event: request\ndata: ${JSON.stringify(entry)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });

test("--follow subscribes before it lists, so that it misses nothing, and shows nothing twice", async () => {
  const stub = controlStub(({ path }) => {
    if (path.includes("limit=")) return { data: [seen("A2"), seen("A1")] };
    return events(seen("A2"), seen("A3"), seen("A2"));
  });
  const streams = written();
  expect(await logs({ ...stub.given, follow: true, operation: "listPersonas" })).toBe(1);
  const [followed, listed] = stub.asked;
  expect([followed?.path, listed?.path]).toEqual([
    "/v1/worlds/default/requests?operation=listPersonas",
    "/v1/worlds/default/requests?operation=listPersonas&limit=20",
  ]);
  expect(stub.headers[0]?.get("accept")).toBe("text/event-stream");
  // If a trace id comes again after a reconnection, it belongs to another request.
  expect(streams.out.match(/A\d/g)).toEqual(["A1", "A2", "A3", "A2"]);
  expect(streams.err).toBe("plaza: the server has ended\n");
});

test("--follow says why it ends: the server refuses it, the world is deleted, or the server has ended", async () => {
  const refused = (message: string, status: number) => Response.json({ error: { message } }, { status });
  const streams = written();
  const said = async (respond: Parameters<typeof controlStub>[0]) => {
    Object.assign(streams, { out: "", err: "" });
    expect(await logs({ ...controlStub(respond).given, follow: true })).toBe(1);
    return streams.err;
  };
  expect(await said(() => refused("no such key", 401))).toBe("plaza: no such key\n");
  const after = (last: () => unknown) => {
    let count = 0;
    return () => [events(), { data: [] }][count++] ?? last();
  };
  expect(await said(after(() => refused("there is no world default", 404)))).toBe("plaza: there is no world default\n");
  expect(await said(after(() => refused("busy", 503)))).toBe("plaza: the server has ended\n");
  expect(await said(after(() => ({ data: [] })))).toBe("plaza: the server has ended\n");
});
