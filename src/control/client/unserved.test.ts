import { expect, test } from "bun:test";
import { type UnservedName, unservedReport } from "./unserved.ts";

const edge = (name: string, more: Partial<UnservedName> = {}): UnservedName => ({
  ...{ kind: "edge", name, method: "GET", count: 1, apps: ["1001"], trace_id: "T" },
  ...more,
});
const world = (others: number, ...names: readonly UnservedName[]) => ({ list: () => names, others });

test("D-394: the report has the names of all worlds, the most frequent first, and an edge that a file can answer", () => {
  const field: UnservedName = { kind: "field", name: "fans", of: "page", count: 3, apps: ["1001", "1002"], trace_id: "T" };
  const misspelt = edge("page/persona", { did_you_mean: "page/personas", count: 2 });
  expect(unservedReport([world(0, misspelt), world(0, field, edge("search", { apps: [] }), edge("page/feed", { method: "POST" }))])).toEqual([
    "plaza: the command asked for 4 things that Plaza does not have:",
    "  the field fans of page, 3 times, by the apps 1001, 1002",
    "  GET page/persona, 2 times, by app 1001; did you mean page/personas?",
    "  GET search, once",
    "  POST page/feed, once, by app 1001",
    "plaza: to answer requests to this edge from a file, use --stub POST:page/feed=FILE.json",
  ]);
});

test("D-394: a long report is cut, and a report about nothing has no lines", () => {
  expect(unservedReport([world(0)])).toEqual([]);
  const many = Array.from({ length: 22 }, (_, at) => edge(`{id}/e${at}`));
  expect(unservedReport([world(7, ...many)]).slice(20)).toEqual([
    "  GET {id}/e19, once, by app 1001",
    "  and 2 more",
    "  and other names, which did not fit into the list: 7 times",
  ]);
});
