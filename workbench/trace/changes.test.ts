import { expect, test } from "bun:test";
import { applyChanges, changesBetween, type State } from "./changes.ts";

const entry = (id: string, name = "a") => ({ id, name });

test.each<[string, State, State]>([
  ["an added, a changed and a removed entry", { labels: [entry("1"), entry("2")] }, { labels: [entry("2", "b"), entry("3")] }],
  ["another order", { labels: [entry("1"), entry("2")] }, { labels: [entry("2"), entry("1")] }],
  ["an entry in the middle", { labels: [entry("1"), entry("3")] }, { labels: [entry("1"), entry("2"), entry("3")] }],
  ["entries without ids", { followers: [{ count: 1 }] }, { followers: [{ count: 1 }, { count: 1 }] }],
  ["entries with one id twice", { media: [entry("1"), entry("1", "b")] }, { media: [entry("1")] }],
  ["a new and a missing section", { labels: [entry("1")] }, { pages: [entry("2")] }],
  ["an empty section", { labels: [] }, { labels: [entry("1")] }],
  ["a value", { clock: { now: 1 }, profile: "strict" }, { clock: { now: 2 } }],
  ["nothing", { labels: [entry("1")] }, { labels: [entry("1")] }],
])("the changes of %s lead from one state to the other", (_title, before, after) => {
  const changes = changesBetween(before, after);
  expect(applyChanges(before, changes)).toEqual(after);
  if (before.labels !== undefined && JSON.stringify(before) === JSON.stringify(after)) expect(changes).toEqual([]);
});

test("a changed entry is one change, with both its values", () => {
  expect(changesBetween({ labels: [entry("1"), entry("2")] }, { labels: [entry("1"), entry("2", "b")] })).toEqual([
    { key: "labels", id: "2", before: entry("2"), after: entry("2", "b") },
  ]);
});
