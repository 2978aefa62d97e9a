/** D-16, D-33, D-35: the step `respond` makes a response from the result of a feature. */
import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { nobody } from "#auth/policy";
import type { Field, FieldSet } from "#graph/contract/operation";
import { projectionOf } from "#graph/pipeline/fields/projection";
import type { Parsed } from "#graph/pipeline/parse";
import { respond } from "#graph/pipeline/respond";
import type { Incoming, Versioned } from "#graph/pipeline/stages";
import { Cursors } from "#graph/response/cursors";
import { ChangeLog } from "#graph/versions/changes";
import { invalidParameter } from "#kernel/errors";
import { parseSelection } from "#kernel/selection";

const field = (more: Partial<Field> = {}): Field => ({ schema: Type.String(), policy: nobody, ...more });
const person: FieldSet = { fields: { id: field() }, defaults: ["id"] };
const set: FieldSet = {
  fields: { id: field(), name: field(), comments: field({ edge: { edge: "comments", items: person } as never }) },
  defaults: ["id", "name"],
};
const cursors = new Cursors(new Uint8Array(32).fill(1));
const changes = new ChangeLog([{ introduced: 25, summary: "", operations: ["doThings"], downResponse: (response) => ({ old: response }) }]);

interface Given {
  readonly version?: number;
  readonly readPart?: () => Promise<unknown>;
  readonly debug?: string;
}

/** The result of the step. */
async function response(
  parsed: object,
  result: unknown,
  { version = 26, readPart = async () => ({ read: true }), debug }: Given = {},
): Promise<unknown> {
  const find = async (_request: unknown, _reader: unknown, node: object) =>
    "id" in node && node.id === "404" ? undefined : { ...node, name: "found" };
  const registry = { changes, types: [{ type: "label" }, { type: "page", reading: { set, find } }] };
  const request = { query: { debug }, body: {} };
  const versioned = { endpoint: { access: { operation: "doThings" }, paramNames: [] }, served: { version }, address: { version } };
  const incoming = { request, registry, upgrades: [] } as unknown as Incoming;
  return respond(incoming, versioned as unknown as Versioned, parsed as Parsed, result, readPart);
}

const world = { database: { reader: {} }, cursors };
const graphRequest = { baseUrl: "http://plaza.test", path: "/7/things", queryText: "", body: {}, query: {} };
const request = { world, graphRequest, node: { id: "7", type: "page", owner: "7" }, page: { limit: 2 } };
const choose = (fields: string) => projectionOf(set, parseSelection(fields), "strict", () => false);
const access = { policy: nobody, check: [] };

test("a response is in the words of the serving version, with the additions of `debug` beside it", async () => {
  const read = { kind: "read" };
  expect([await response(read, { a: 1 }), await response(read, { a: 1 }, { version: 24 })]).toEqual([{ a: 1 }, { old: { a: 1 } }]);
  expect(await response(read, { a: 1 }, { version: 24, debug: "all" })).toEqual({ old: { a: 1 }, __debug__: { messages: [] } });
});

test("a list has its items, its page, and the feature's additions", async () => {
  const found = {
    rows: [
      { id: "1", name: "a" },
      { id: "2", name: null },
    ],
    hasPrevious: false,
    hasNext: true,
    firstKey: ["1"],
    lastKey: ["2"],
  };
  const list = (fields: string, contract: object = {}, extras?: object) =>
    response({ kind: "list", request, served: { contract }, name: "things 7", projection: choose(fields), access }, { ...found, extras });
  const own = { before: cursors.sign("things 7", ["1"]), after: cursors.sign("things 7", ["2"]) };
  const next = `http://plaza.test/7/things?after=${own.after}`;
  expect(await list("name")).toEqual({ data: [{ name: "a", id: "1" }, { id: "2" }], paging: { cursors: own, next } });
  expect(await list("id", { cursorsOnly: true }, { count: 2 })).toEqual({ data: [{ id: "1" }, { id: "2" }], paging: { cursors: own }, count: 2 });
  expect(await list("comments")).toMatchObject({
    data: [
      { comments: { read: true }, id: "1" },
      { comments: { read: true }, id: "2" },
    ],
  });
});

describe("D-33: the read-back after a write", () => {
  const write = (written: object, fields: string | undefined, contract: object = { readBack: { type: "page", set } }, given: Given = {}) =>
    response({ kind: "write", request, served: { contract }, access, projection: fields === undefined ? undefined : choose(fields) }, written, given);

  test("is the node whose id the response has, or the addressed one", async () => {
    expect(await write({ id: "9" }, "name")).toEqual({ name: "found", id: "9" });
    expect(await write({ success: true }, "name")).toEqual({ name: "found", id: "7" });
    expect(await write({ id: "9", more: 1 }, undefined)).toEqual({ id: "9", more: 1 });
  });

  test("is the response itself if the node is gone, or its type has no read", async () => {
    expect(await write({ id: "404" }, "name")).toEqual({ id: "404" });
    expect(await write({ id: "9", made: true }, "name", { readBack: { type: "label", set } })).toEqual({ id: "9", made: true });
  });

  test("omits a refused part; another failure fails the request", async () => {
    const failing = (error: Error) => write({ id: "9" }, "name,comments", undefined, { readPart: () => Promise.reject(error) });
    expect(await failing(invalidParameter("a", "is wrong"))).toEqual({ name: "found", id: "9" });
    await expect(failing(new RangeError("the store is away"))).rejects.toThrow("the store is away");
    expect(await write({ id: "9" }, "name,comments")).toEqual({ name: "found", comments: { read: true }, id: "9" });
  });
});

test("a node that is gone by now is missing, and an existing one shows its fields", async () => {
  const node = (row: object | undefined, fields: string) => {
    const parsed = {
      kind: "node",
      request: { ...request, graphRequest: { ...graphRequest, method: "GET", header: () => undefined } },
      reading: { set },
      projection: choose(fields),
      access,
      hasMetadata: false,
    };
    return response(parsed, row);
  };
  expect([await node({ id: "7", name: "a" }, "name"), await node({ id: "7", name: "a" }, "comments")]).toEqual([
    { name: "a", id: "7" },
    { comments: { read: true }, id: "7" },
  ]);
  await expect(node(undefined, "name")).rejects.toThrow("Object with ID '7' does not exist");
});
