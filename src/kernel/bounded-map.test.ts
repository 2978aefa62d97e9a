/** Checks that a bounded map drops entries when it reaches its maximum size. */
import { expect, test } from "bun:test";
import { BoundedMap } from "./bounded-map.ts";

const filled = (max: number, count: number) => {
  const forgotten: number[] = [];
  const map = new BoundedMap<number, number>(max, (value) => forgotten.push(value));
  for (let key = 1; key <= count; key++) map.set(key, key);
  return { map, forgotten, kept: () => [...map.values()].sort((a, b) => a - b) };
};

test("its maximum number of entries is kept; the next one drops the older half at once", () => {
  expect(filled(4, 4)).toMatchObject({ forgotten: [] });
  const { map, forgotten, kept } = filled(4, 5);
  expect({ forgotten, kept: kept() }).toEqual({ forgotten: [1, 2], kept: [3, 4, 5] });
  expect([1, 2, 3, 4, 5].map((key) => map.get(key))).toEqual([undefined, undefined, 3, 4, 5]);
});

test("an entry that is read or set again counts as young, and outlives others", () => {
  const { map, forgotten, kept } = filled(4, 3);
  expect(map.get(1)).toBe(1);
  map.set(4, 4);
  // The old generation of the map now has the keys 3 and 1, each once.
  map.set(5, 5);
  expect({ forgotten, kept: kept() }).toEqual({ forgotten: [2], kept: [1, 3, 4, 5] });
  map.set(1, 10);
  expect(kept()).toEqual([4, 5, 10]);
  expect(forgotten).toEqual([2, 3]);
});

test("setting a young key again uses no additional place", () => {
  const { map, forgotten, kept } = filled(4, 4);
  map.set(4, 40);
  map.set(3, 30);
  expect({ forgotten, kept: kept() }).toEqual({ forgotten: [], kept: [1, 2, 30, 40] });
});

test("a deleted entry is gone, young or old, and is not reported as forgotten; nor are cleared ones", () => {
  const { map, forgotten, kept } = filled(4, 4);
  map.delete(1);
  map.delete(4);
  expect(kept()).toEqual([2, 3]);
  expect(map.get(1) ?? map.get(4)).toBeUndefined();
  map.clear();
  expect(kept()).toEqual([]);
  expect([1, 2, 3, 4].map((key) => map.get(key))).toEqual([undefined, undefined, undefined, undefined]);
  expect(forgotten).toEqual([]);
});

test("the maximum is never exceeded, and the smallest map holds an entry", () => {
  for (const max of [2, 3, 5, 6]) for (let count = 1; count <= 20; count++) expect(filled(max, count).kept().length).toBeLessThanOrEqual(max);
  expect(filled(1, 1).map.get(1)).toBe(1);
  // The callback for dropped entries is optional.
  const quiet = new BoundedMap<number, number>(2);
  for (let key = 1; key <= 5; key++) quiet.set(key, key);
  expect([...quiet.values()]).toEqual([5, 4]);
});
