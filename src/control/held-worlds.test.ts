/**
 * Checks that a request keeps its world open as long as the request needs it. If a request kept its world open too long, the world would
 * never close; if it did so too briefly, the world would close while the request reads it.
 */
import { describe, expect, test } from "bun:test";
import { KEY, openControl } from "#harness/control";
import { controlApp } from "./app.ts";

/** The control API with a world that counts the requests that hold it open, and that the test can delete or reset. */
async function counted() {
  const { served, plaza } = await openControl();
  const { worlds } = served.deps;
  const state = { holds: 0, leaves: 0 };
  const listeners = new Set<(isDeleted: boolean) => void>();
  const unexpected: unknown[] = [];
  const app = controlApp({
    ...served,
    onUnexpected: (error) => unexpected.push(error),
    deps: {
      ...served.deps,
      worlds: {
        ...worlds,
        hold: async (name) => {
          const held = await worlds.hold(name);
          if (held === undefined) return undefined;
          state.holds++;
          const onReplaced = (listener: (isDeleted: boolean) => void) => {
            listeners.add(listener);
            return () => listeners.delete(listener);
          };
          return { ...held, leave: () => void state.leaves++, onReplaced } as typeof held;
        },
      },
    },
  });
  const ask = (method: string, path: string, { body, accept }: { body?: string; accept?: string } = {}) =>
    app.request(`/v1/worlds/default/${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, ...(accept === undefined ? {} : { accept }) },
      ...(body === undefined ? {} : { body }),
    });
  return { ask, state, plaza, listeners, unexpected };
}

const EVENTS = { accept: "text/event-stream" };
const LEFT = { holds: 1, leaves: 1 };
const HELD = { holds: 1, leaves: 0 };

describe("a served request", () => {
  test("leaves its world with its response, whether it succeeds or fails", async () => {
    for (const [method, path, body, status] of [
      ["GET", "clock", undefined, 200],
      ["GET", "nodes/labels/1", undefined, 404],
      ["PUT", "clock", "{", 400],
      ["GET", "tokens?limit=x", undefined, 400],
    ] as const) {
      const { ask, state } = await counted();
      expect((await ask(method, path, body === undefined ? {} : { body })).status).toBe(status);
      expect({ path, ...state }).toEqual({ path, ...LEFT });
    }
  });

  test("a missing world is held by nobody", async () => {
    const { ask, state } = await counted();
    expect((await ask("GET", "../orders/clock")).status).toBe(404);
    expect(state).toEqual({ holds: 0, leaves: 0 });
  });
});

describe("a request that reports its progress", () => {
  const endOf = async (body: string) => {
    const { ask, state, unexpected } = await counted();
    const response = await ask("POST", "import", { body, ...EVENTS });
    const text = await response.text();
    expect({ ...state, unexpected: unexpected.length }).toEqual({ ...LEFT, unexpected: 0 });
    return /event: (result|error)\ndata: (.*)\n/.exec(text)?.slice(1);
  };

  test("holds its world until the work has ended, successfully or not", async () => {
    expect(await endOf('labels: [{id: "5009", page: "2001", name: new}]')).toEqual(["result", '{"success":true}']);
    const [event, data = ""] = (await endOf('labels: [{id: "5009", page: "999", name: new}]')) ?? [];
    expect([event, JSON.parse(data)]).toEqual(["error", { error: expect.objectContaining({ code: "unprocessable" }) }]);
  });

  test("gets one response if it does not ask for progress", async () => {
    const { ask, state } = await counted();
    const response = await ask("POST", "import", { body: "labels: []" });
    expect({ body: await response.json(), ...state }).toEqual({ body: { success: true }, ...LEFT });
  });
});

describe("a stream", () => {
  test("holds its world until its reader leaves it", async () => {
    const { ask, state, listeners } = await counted();
    const response = await ask("GET", "requests/stream", EVENTS);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    expect({ ...state, listeners: listeners.size }).toEqual({ ...HELD, listeners: 1 });
    await reader.cancel();
    expect({ ...state, listeners: listeners.size }).toEqual({ ...LEFT, listeners: 0 });
  });

  test.each([
    ["requests", true, true],
    // The readers of these streams continue with the world that replaced the reset world.
    ["requests", false, false],
    ["alerts", true, true],
    ["alerts", false, true],
  ])("of %s: its world is deleted: %p; it ends: %p", async (path, isDeleted, ends) => {
    const { ask, state, listeners } = await counted();
    const response = await ask("GET", path, EVENTS);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    for (const listener of [...listeners]) listener(isDeleted);
    if (ends) {
      while (!(await reader.read()).done);
      expect({ ...state, listeners: listeners.size }).toEqual({ ...LEFT, listeners: 0 });
    } else {
      expect({ ...state, listeners: listeners.size }).toEqual({ ...HELD, listeners: 1 });
      await reader.cancel();
    }
  });
});

describe("a body", () => {
  const MIB = 1_048_576;

  test.each([
    ["POST", "/default/nodes/labels", 2 * MIB],
    ["POST", "", 16 * MIB],
    ["POST", "/default/import", 256 * MIB],
    ["POST", "/default/live-feeds/callback", 16_384],
  ])("of %s /v1/worlds%s may have %i bytes, but not one more", async (method, path, bytesMax) => {
    const { served } = await openControl();
    const statusOf = async (bytes: number) => {
      const headers = { authorization: `Bearer ${KEY}`, "content-length": String(bytes) };
      return (await controlApp(served).request(`/v1/worlds${path}`, { method, headers, body: "no" })).status;
    };
    expect(await statusOf(bytesMax + 1)).toBe(413);
    expect(await statusOf(bytesMax)).not.toBe(413);
  });

  test("D-337: that would take long to parse is refused", async () => {
    const { request } = await openControl();
    const refusal = async (body: string) => (await request("PUT", "clock", body)).body.error.message;
    expect(await refusal(`{"now":[${"1,".repeat(200_000)}1]}`)).toBe("the body has more than 150000 values");
    expect(await refusal(`{"now":${"[".repeat(33)}1${"]".repeat(33)}}`)).toBe("the body nests deeper than 32 levels");
  });

  test("that is not UTF-8 or JSON is refused", async () => {
    const { served } = await openControl();
    const refusal = async (body: Uint8Array | string) => {
      const response = await controlApp(served).request("/v1/worlds/default/clock", {
        method: "PUT",
        headers: { authorization: `Bearer ${KEY}` },
        body,
      });
      return { status: response.status, message: ((await response.json()) as { error: { message: string } }).error.message };
    };
    expect(await refusal(new Uint8Array([0x7b, 0xff, 0x7d]))).toEqual({ status: 400, message: "the body is not valid UTF-8" });
    expect(await refusal("{")).toEqual({ status: 400, message: "the body is not valid JSON" });
    expect(await refusal('{"now":12345678901234567890}')).toEqual({
      ...{ status: 400, message: "the number 12345678901234567890 has more digits than can be kept: send it as text" },
    });
  });
});
