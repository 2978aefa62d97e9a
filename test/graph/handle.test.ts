/** Checks that the code of a feature runs in order: requests to other servers before the transaction, and writes in the transaction. */
import { describe, expect, test } from "bun:test";
import { handle, prepare } from "#graph/pipeline/handle";
import type { Parsed, ParsedWrite } from "#graph/pipeline/parse";
import type { StoryRecorder } from "#graph/pipeline/story/story";

const reader = { name: "the reader" };
const tx = { name: "the transaction" };

/** A request, with a record of the events in its world. */
function asked(admission?: object) {
  const events: string[] = [];
  const database = {
    reader,
    write: async (body: (given: typeof tx) => Promise<unknown>) => {
      events.push("begin");
      const response = await body(tx);
      events.push("commit");
      return response;
    },
  };
  return { events, request: { world: { database, workBegins: () => {} }, graphRequest: { admission }, node: "the node" } };
}

const write = (served: object, request: object) => ({ kind: "write", served, request }) as unknown as ParsedWrite;

describe("the preparation of a write", () => {
  const given: unknown[] = [];
  const asks = { prepare: async (...what: unknown[]) => given.push(what) };

  test("uses the network and a reader, and is absent if there is nothing to prepare", async () => {
    const { request } = asked();
    expect(await prepare(write(asks, request))).toBe(1);
    expect(given).toEqual([[request, reader]]);
    expect(prepare(write({}, request))).toBeUndefined();
    expect(prepare(write({ submit: async () => ({}) }, request))).toBeUndefined();
    expect(prepare(write({ ...asks, submit: async () => ({}) }, request))).toBeUndefined();
  });

  test("D-97: lets other requests run while it waits", async () => {
    let waits = 0;
    const whileWaiting = async (wait: () => Promise<unknown>) => {
      waits++;
      return wait();
    };
    expect(await prepare(write(asks, asked({ whileWaiting }).request))).toBe(2);
    expect(waits).toBe(1);
  });
});

describe("a feature's code", () => {
  const handling = async (kind: string, parts: object, story?: object) => {
    const { request, events } = asked();
    const parsed = { kind, request, ...parts } as unknown as Parsed;
    const handled = await handle(parsed, "prepared", async () => {}, story as StoryRecorder | undefined);
    return { handled: { ...handled, parsed: undefined }, isItsOwn: handled.parsed === parsed, events, request };
  };
  const of = (what: object) => ({ parsed: undefined, isItsOwn: true, ...what });

  test("reads with the reader", async () => {
    const find = async (...given: unknown[]) => given;
    const node = await handling("node", { reading: { find } });
    expect({ ...node.handled, isItsOwn: node.isItsOwn }).toEqual(of({ kind: "node", row: [node.request, reader, "the node"] }) as never);
    const list = await handling("list", { served: { handle: find } });
    expect({ ...list.handled, isItsOwn: list.isItsOwn }).toEqual(of({ kind: "list", found: [list.request, reader] }) as never);
    const read = await handling("read", { served: { handle: find } });
    expect({ ...read.handled, isItsOwn: read.isItsOwn }).toEqual(of({ kind: "read", response: [read.request, reader] }) as never);
    expect([node.events, list.events, read.events]).toEqual([[], [], []]);
  });

  test("writes in one transaction, with the prepared values, and its details follow that", async () => {
    const followed: unknown[] = [];
    const story = { recordWrite: (given: unknown) => followed.push(given) };
    const { handled, events, request } = await handling(
      "write",
      { served: { contract: { operation: "createLabel" }, handle: async (...given: unknown[]) => given } },
      story,
    );
    expect<unknown>(handled).toEqual({ kind: "write", parsed: undefined, response: [request, tx, "prepared"] });
    expect(events).toEqual(["begin", "commit"]);
    expect(followed).toEqual([tx]);
    expect((await handling("write", { served: { contract: { operation: "createLabel" }, handle: async () => "done" } })).handled).toMatchObject({
      response: "done",
    });
  });

  test("of an intake opens its own transactions", async () => {
    const { handled, events, request } = await handling("write", { served: { submit: async (...given: unknown[]) => given } });
    expect<unknown>(handled).toMatchObject({ response: [request] });
    expect(events).toEqual([]);
  });
});
