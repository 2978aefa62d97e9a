import { expect, test } from "bun:test";
import type { WireResponse } from "#conformance/http/wire";
import { differencesOf } from "./differences.ts";
import { formText } from "./operations.ts";
import { ownRules } from "./rules.ts";

const address = "GET /{id}";
const response = (body: unknown): WireResponse => ({ status: 200, headers: new Headers(), text: JSON.stringify(body) }) as unknown as WireResponse;

const shownOf = (value: unknown): string | undefined => {
  const compared = { form: { address, names: [] }, request: "GET /1", first: response({ value }), second: response({}) };
  return differencesOf(compared, [], { ids: new Map(), addresses: [] })[0]?.first;
};

test("a report shows 200 characters of a value, and an ellipsis if there are more", () => {
  // The length of a value includes the quotes of JSON.
  expect(shownOf("a".repeat(198))).toBe(`"${"a".repeat(198)}"`);
  expect(shownOf("a".repeat(199))).toBe(`"${"a".repeat(199)}…`);
  expect(shownOf("a".repeat(1_000))).toBe(`"${"a".repeat(199)}…`);
});

test("a request is named by up to three operations of its form, or by the form if there are none or more", () => {
  expect(formText({ address, names: [] })).toBe(address);
  expect(formText({ address, names: ["readPage"] })).toBe("readPage (GET /{id})");
  expect(formText({ address, names: ["readPage", "readUser", "readLabel"] })).toBe("readPage or readUser or readLabel (GET /{id})");
  expect(formText({ address, names: ["readPage", "readUser", "readLabel", "readApp"] })).toBe(address);
});

test("tokens that each server issued in its own second are equal; a token that one server did not issue is not", () => {
  const inspected = (data: object) => response({ data: { app_id: "1", ...data } });
  const pathsOf = (first: object, second: object): string[] => {
    const compared = { form: { address: "GET /debug_token", names: ["inspectToken"] }, request: "GET /debug_token" };
    const differences = differencesOf({ ...compared, first: inspected(first), second: inspected(second) }, ownRules, {
      ids: new Map(),
      addresses: [],
    });
    return differences.map(({ path }) => path);
  };
  expect(pathsOf({ issued_at: 5 }, { issued_at: 6 })).toEqual([]);
  expect(pathsOf({ issued_at: 5 }, {})).toEqual(["body.data.issued_at"]);
  expect(pathsOf({ expires_at: 5 }, { expires_at: 6 })).toEqual(["body.data.expires_at"]);
});
