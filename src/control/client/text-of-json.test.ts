import { expect, test } from "bun:test";
import { linesOf } from "./text-of-json.ts";

test("each value has a line, named by its path; lists of plain values are one", () => {
  expect(
    linesOf({ id: "1", scopes: ["a", "b"], none: null, empty: {}, nothing: [], page: { name: "Café", roles: [{ user: "3" }, { user: "4" }] } }),
  ).toEqual([
    ...["id: 1", "scopes: a, b", "none: null", "empty: {}", "nothing: []", "page.name: Café", "page.roles[0].user: 3", "page.roles[1].user: 4"],
  ]);
  expect([linesOf({}), linesOf(7), linesOf(["a", "b"])]).toEqual([[], ["7"], ["a, b"]]);
});
