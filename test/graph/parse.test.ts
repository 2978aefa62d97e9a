/** D-21, D-33, D-34, D-50, D-161: the step `parse` reads a request's text. */
import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { nobody } from "#auth/policy";
import type { Field, FieldSet } from "#graph/contract/operation";
import { type Parsed, parse } from "#graph/pipeline/parse";
import type { Incoming, Versioned } from "#graph/pipeline/stages";
import { Cursors } from "#graph/response/cursors";
import { standardCalendar } from "#graph/versions/calendar";

const NOW = 1_000;
const cursors = new Cursors(new Uint8Array(32).fill(1));
const field: Field = { schema: Type.String(), policy: nobody };
const set: FieldSet = { fields: { id: field, name: field, a: field, b: field }, defaults: ["id", "name"] };

interface Given {
  readonly query?: object;
  readonly body?: object;
  readonly profile?: "strict" | "clients";
  readonly defect?: Error;
  readonly paramNames?: string[];
  /** The times until which each of the tokens may read data. */
  readonly expiries?: number[];
}

function parsed(endpoint: object, { query = {}, body = {}, profile = "strict", defect, paramNames = [], expiries = [0] }: Given = {}): Parsed {
  const changes = { upParams: (operation: string, version: number, params: object) => ({ ...params, changed: `${operation} in ${version}` }) };
  const world = { profile, cursors, calendar: standardCalendar };
  const incoming = {
    request: { query, body, files: new Map(), defect },
    world,
    registry: { changes, isField: () => false, servedIn: () => undefined },
    now: NOW,
  };
  const versioned = {
    ...{ subject: { id: "7", type: "page", owner: "7" }, caller: { app: { created_time: 0, migrations: {} } }, served: { version: 26 } },
    endpoint: { access: { operation: "doThings", policy: nobody }, paramNames, readParams: (source: object) => source, ...endpoint },
  };
  const check = expiries.map((data_access_expires_at) => ({ input: { token: { data_access_expires_at } } }));
  return parse(incoming as unknown as Incoming, versioned as unknown as Versioned, check as never);
}

const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return (error as Error).message.replace("(#100) Param ", "");
  }
  return "";
};

const node = { reading: { set } };
const serving = (contract: object, more: object = {}) => ({ served: { contract: { operation: "doThings", ...contract }, ...more } });
const list = (more: object = {}) => serving({ kind: "list", items: set, ...more });
const write = (more: object = {}, handler: object = {}) => serving({ kind: "write", ...more }, handler);

test("a defect in the request's text is raised before anything else", () => {
  expect(refusal(() => parsed(node, { defect: new Error("the defect"), query: { fields: "{" } }))).toBe("the defect");
});

test("an operation gets its parameters in the words of the newest version", () => {
  const { kind, request } = parsed(serving({ kind: "read" }), { query: { a: "1" }, body: { b: "2" } });
  expect(kind).toBe("read");
  expect(request).toMatchObject({ params: { a: "1", b: "2", changed: "doThings in 26" }, version: 26, node: { id: "7" } });
});

test("an endpoint with neither fields nor a handler is a mistake of the server", () => {
  expect(refusal(() => parsed({}))).toBe("doThings has neither a handler nor declared fields");
});

describe("the parameters of a request", () => {
  test("D-40: are checked against the places of the operation", () => {
    const given = { body: { a: "1" } };
    expect(refusal(() => parsed(serving({ kind: "read", places: { a: "query" } }), given))).toBe("a must be in the query");
    expect(refusal(() => parsed(serving({ kind: "read" }), given))).toBe("");
  });

  test("D-50: are closed if the operation says so, only in `strict`", () => {
    const closed = serving({ kind: "read", isClosed: true });
    expect(refusal(() => parsed(closed, { query: { a: "1" }, paramNames: ["changed"] }))).toStartWith("a is not known here");
    expect(refusal(() => parsed(closed, { query: { a: "1" }, paramNames: ["a", "changed"] }))).toBe("");
    expect(refusal(() => parsed(closed, { query: { a: "1" }, profile: "clients" }))).toBe("");
    expect(refusal(() => parsed(serving({ kind: "read" }), { query: { a: "1" } }))).toBe("");
  });
});

describe("a selection", () => {
  const names = (fields: unknown) => {
    const { projection } = parsed(node, { query: { fields } }) as Extract<Parsed, { kind: "node" }>;
    return projection.chosen.map(({ name }) => name).join();
  };

  test("D-161: is text with commas, or a list of such texts, as JSON or parsed", () => {
    for (const fields of ["a,b", ["a", "b"], '["a","b"]', ["a,b"], '["a,b"]'])
      expect({ fields, names: names(fields) }).toEqual({ fields, names: "a,b,id" });
    for (const fields of [undefined, null, ""]) expect(names(fields)).toBe("id,name");
    for (const fields of [7, {}, ["a", 7], [["a"]], "[7]"]) expect(refusal(() => names(fields))).toBe("fields must be a comma-separated string");
    expect(refusal(() => names("[a"))).toBe("fields is not valid JSON");
    expect(refusal(() => names("a]"))).toStartWith("fields ");
  });

  test("of many characters gives the same result each time", () => {
    const long = (count: number) => Array(count).fill("a").join();
    for (const count of [1, 128, 129, 130, 150, 1, 129]) expect(names(long(count))).toBe("a,id");
  });

  test("is absent if the operation has a parameter of that name", () => {
    const made = parsed(write({ readBack: { type: "page", set } }), { body: { fields: "{" }, paramNames: ["fields"] });
    expect(made).toMatchObject({ kind: "write", projection: undefined });
  });
});

test("a node is read with metadata if the request asks for it", () => {
  const hasMetadata = (metadata: unknown) => (parsed(node, { query: { metadata } }) as { hasMetadata?: boolean }).hasMetadata;
  expect([hasMetadata("1"), hasMetadata("true"), hasMetadata("0"), hasMetadata(undefined)]).toEqual([true, true, false, false]);
});

test("D-30: a list is read by page, and its cursor has as many columns as its key and belongs to the list of that node", () => {
  const page = (key: string[], more: object = {}, of = "doThings 7") => {
    const { request } = parsed(list(more), { query: { after: cursors.sign(of, key), limit: "3" } }) as Extract<Parsed, { kind: "list" }>;
    return request.page;
  };
  expect(page(["9"])).toEqual({ limit: 3, after: ["9"] });
  expect(page(["9", "8"], { keyColumns: 2 })).toEqual({ limit: 3, after: ["9", "8"] });
  expect(refusal(() => page(["9"], {}, "doThings 8"))).toStartWith("after is not a cursor");
  expect(parsed(list())).toMatchObject({ kind: "list", name: "doThings 7", request: { page: { limit: 25 } } });
});

describe("D-33: the read-back of a write", () => {
  const readBack = { type: "page", set };
  const chosen = (endpoint: object, given: Given = {}) => {
    const { projection } = parsed(endpoint, { body: { fields: "name" }, ...given }) as Extract<Parsed, { kind: "write" }>;
    return projection?.chosen.map(({ name }) => name).join();
  };

  test("has the selection, if the operation reads anything back, and is absent after an intake", () => {
    expect(chosen(write({ readBack }))).toBe("name,id");
    expect([chosen(write()), chosen(write({ readBack }, { submit: () => {} })), chosen(write({ readBack }), { body: {} })]).toEqual(
      Array(3).fill(undefined),
    );
    expect(refusal(() => chosen(write({ readBack }), { body: { fields: "colour" } }))).toBe("fields names a field that does not exist: colour");
  });

  test("D-11: is absent if one of the tokens may no longer read the person's data", () => {
    expect([chosen(write({ readBack }), { expiries: [NOW] }), chosen(write({ readBack }), { expiries: [0, 1] })]).toEqual([undefined, undefined]);
    expect([chosen(write({ readBack }), { expiries: [NOW + 1, 0] }), chosen(write({ readBack }), { expiries: [] })]).toEqual(["name,id", "name,id"]);
  });
});
