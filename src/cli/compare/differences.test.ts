import { expect, test } from "bun:test";
import type { WireResponse } from "#conformance/http/wire";
import { differencesOf } from "./differences.ts";
import { formText } from "./operations.ts";

const address = "GET /{id}";
const response = (body: unknown): WireResponse => ({ status: 200, headers: new Headers(), text: JSON.stringify(body) }) as unknown as WireResponse;

const shownOf = (value: unknown): string | undefined => {
  const compared = { form: { address, names: [] }, request: "GET /1", first: response({ value }), second: response({}) };
  return differencesOf(compared, [], { ids: new Map(), addresses: [] })[0]?.first;
};

test("a report shows 200 characters of a value, and an ellipsis where it had more", () => {
  // With the quotes of JSON.
  expect(shownOf("a".repeat(198))).toBe(`"${"a".repeat(198)}"`);
  expect(shownOf("a".repeat(199))).toBe(`"${"a".repeat(199)}…`);
  expect(shownOf("a".repeat(1_000))).toBe(`"${"a".repeat(199)}…`);
});

test("a request is named by up to three operations of its form, and by the form where there are none or more", () => {
  expect(formText({ address, names: [] })).toBe(address);
  expect(formText({ address, names: ["readPage"] })).toBe("readPage (GET /{id})");
  expect(formText({ address, names: ["readPage", "readUser", "readLabel"] })).toBe("readPage or readUser or readLabel (GET /{id})");
  expect(formText({ address, names: ["readPage", "readUser", "readLabel", "readApp"] })).toBe(address);
});
