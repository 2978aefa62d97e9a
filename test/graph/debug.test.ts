/** D-34: checks the messages that `debug` adds to a response. */
import { expect, test } from "bun:test";
import type { Parsed } from "#graph/pipeline/parse";
import { withDebug } from "#graph/pipeline/respond";
import type { Incoming, Versioned } from "#graph/pipeline/stages";

const response = { id: "7" };
const parsed = { kind: "node", projection: { leftOut: [] } } as unknown as Parsed;
const written = (notes?: (request: unknown) => string[]) => ({ kind: "write", served: { notes }, request: "asked" }) as unknown as Parsed;

interface Given {
  readonly query?: object;
  readonly body?: object;
  readonly version?: number;
  readonly upgradedFrom?: number;
  readonly parsed?: Parsed;
}

function messagesOf({ query = {}, body = {}, version, upgradedFrom, parsed: done = parsed }: Given): unknown {
  const versioned = { endpoint: { paramNames: ["name"] }, address: { version }, served: { version: 25, upgradedFrom } };
  const shown = withDebug({ request: { query, body }, upgrades: [] } as unknown as Incoming, versioned as unknown as Versioned, done, response);
  return (shown as { __debug__?: { messages: unknown } }).__debug__?.messages;
}

const ignored = (name: string) => ({ type: "warning", message: `The parameter ${name} is not known here and was ignored.` });
const unversioned = { type: "info", message: "The request named no version; v25.0 served it." };

test("nothing, unless the query or body of the request asks for it", () => {
  const plain = withDebug({ request: { query: {}, body: {} }, upgrades: [] } as unknown as Incoming, {} as Versioned, parsed, response);
  expect(plain).toBe(response);
  expect(messagesOf({ query: { debug: "all" }, version: 25 })).toEqual([]);
  expect(messagesOf({ body: { debug: "all" }, version: 25 })).toEqual([]);
  expect(messagesOf({ query: { debug: "warning" }, body: { debug: "all" } })).toEqual([]);
});

test("the ignored parameters of query and body, except those that the operation or every request has", () => {
  const query = { debug: "all", colour: "red", name: "a", fields: "id", limit: "1" };
  expect(messagesOf({ query, body: { size: 5, access_token: "t" }, version: 25 })).toEqual([ignored("colour"), ignored("size")]);
});

test("D-163: the omitted fields of a node, a list and a read-back", () => {
  const leftOut = { type: "warning", message: "The field cover is not known here and was left out." };
  for (const kind of ["node", "list", "write"]) {
    const parsed = { kind, projection: { leftOut: ["cover"] }, served: {} } as unknown as Parsed;
    expect(messagesOf({ query: { debug: "all" }, version: 25, parsed })).toEqual([leftOut]);
  }
  expect(messagesOf({ query: { debug: "all" }, version: 25, parsed: { kind: "read" } as unknown as Parsed })).toEqual([]);
});

test("the messages of a write, after the ignored parameters and before the version", () => {
  const notes = (request: unknown) => [`first of ${request}`, "second"];
  const said = ["first of asked", "second"].map((message) => ({ type: "warning", message }));
  expect(messagesOf({ query: { debug: "all", colour: "red" }, parsed: written(notes) })).toEqual([ignored("colour"), ...said, unversioned]);
  expect(messagesOf({ query: { debug: "all" }, version: 25, parsed: written() })).toEqual([]);
});

test("the version that served, if the request named none or an ended one; `warning` omits information", () => {
  const upgraded = { type: "warning", message: "The call has been auto-upgraded to v25.0 as v22.0 has been deprecated" };
  for (const debug of ["all", "info"]) {
    expect(messagesOf({ query: { debug } })).toEqual([unversioned]);
    expect(messagesOf({ query: { debug }, upgradedFrom: 22 })).toEqual([unversioned, upgraded]);
  }
  expect(messagesOf({ query: { debug: "warning" }, upgradedFrom: 22 })).toEqual([upgraded]);
});

test("no other level than these three", () => {
  for (const debug of ["loud", "", "toString", 1, ["all"]]) {
    expect(() => messagesOf({ query: { debug } })).toThrow("debug must be one of all, info, warning");
  }
});
