/** Checks that the code of a feature runs in order: requests to other servers before the transaction, and writes in the transaction. */
import { describe, expect, test } from "bun:test";
import { prepare, read, write as runWrite } from "#graph/pipeline/handle";
import type { ParsedRead, ParsedWrite } from "#graph/pipeline/parse";

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
  const reading = async (kind: string, parts: object) => {
    const { request, events } = asked();
    return { result: await read({ kind, request, ...parts } as unknown as ParsedRead), events, request };
  };
  const writing = async (served: object, onBegun = (_: unknown) => {}) => {
    const { request, events } = asked();
    return { result: await runWrite(write(served, request), "prepared", async () => {}, onBegun), events, request };
  };

  test("reads with the reader", async () => {
    const find = async (...given: unknown[]) => given;
    const node = await reading("node", { reading: { find } });
    expect<unknown>(node.result).toEqual([node.request, reader, "the node"]);
    const list = await reading("list", { served: { handle: find } });
    expect<unknown>(list.result).toEqual([list.request, reader]);
    const other = await reading("read", { served: { handle: find } });
    expect<unknown>(other.result).toEqual([other.request, reader]);
    expect([node.events, list.events, other.events]).toEqual([[], [], []]);
  });

  test("writes in one transaction, with the prepared values, and its story hears of the transaction", async () => {
    const followed: unknown[] = [];
    const contract = { operation: "createLabel" };
    const { result, events, request } = await writing({ contract, handle: async (...given: unknown[]) => given }, (given) => followed.push(given));
    expect<unknown>(result).toEqual([request, tx, "prepared"]);
    expect(events).toEqual(["begin", "commit"]);
    expect(followed).toEqual([tx]);
    expect((await writing({ contract, handle: async () => "done" })).result).toBe("done");
  });

  test("of an intake opens its own transactions", async () => {
    const { result, events, request } = await writing({ submit: async (...given: unknown[]) => given });
    expect<unknown>(result).toEqual([request]);
    expect(events).toEqual([]);
  });
});
