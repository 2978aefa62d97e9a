/** What is known of runs in memory: how long it stays, and which runs a search has to look at. */
import { expect, test } from "bun:test";
import { joined, NO_TIMES } from "./entries.store.ts";
import { Filter, fingerprintOf, Probe } from "./fingerprints.ts";
import { RequestTable } from "./pending-entries.ts";
import { type Cover, coverRun, forgetFilters, IN_USE_SECONDS, overlap, type Run, spanOf, uncovered } from "./runs.ts";

/** A filter of two entries has 64 bytes. */
const runOf = (last_request: number, first = 0, last = 0): Run => ({
  ...{ last_request, entries: 2, page_bits: 0, times: { first, last }, filter: Filter.of(2) },
});
const keysOf = (...texts: string[]): RequestTable => {
  const table = new RequestTable();
  for (const text of texts) table.add(fingerprintOf(text), 1);
  return table;
};
const holds = ({ filter }: Cover, text: string): boolean => filter.mayHold(new Probe().set(fingerprintOf(text)));

test("the oldest filters go until the others fit, and the one that is just read stays", () => {
  const left = (bytesMax: number, kept?: number, gone?: number): number[] => {
    const runs = [1, 2, 3, 4].map((request) => runOf(request));
    if (gone !== undefined) (runs[gone - 1] as Run).filter = undefined;
    forgetFilters(runs, bytesMax, kept === undefined ? undefined : runs[kept - 1]);
    return runs.filter(({ filter }) => filter !== undefined).map(({ last_request }) => last_request);
  };
  expect([left(256), left(255), left(128), left(127), left(0)]).toEqual([[1, 2, 3, 4], [2, 3, 4], [3, 4], [4], []]);
  expect([left(255, 1), left(64, 1), left(0, 2), left(128, undefined, 1), left(192, undefined, 1)]).toEqual([[1, 3, 4], [1], [2], [3, 4], [2, 3, 4]]);
});

test("a cover takes runs while its keys fit, and the next one has room for twice as many", () => {
  const first = runOf(1, 10, 20);
  const [one] = coverRun([], first, keysOf("a", "b")) as [Cover];
  expect({ ...one, filter: undefined }).toEqual({
    filter: undefined,
    keys: 2,
    keys_max: 262_144,
    times: { first: 10, last: 20 },
    runs: [first],
  } as never);
  const second = runOf(2, 5, 30);
  expect(coverRun([one], second, keysOf("c"))).toEqual([one]);
  expect({ keys: one.keys, times: one.times, runs: one.runs }).toEqual({ keys: 3, times: { first: 5, last: 30 }, runs: [first, second] });
  expect(["a", "b", "c", "d"].map((text) => holds(one, text))).toEqual([true, true, true, false]);
  one.keys = 262_142;
  expect(coverRun([one], runOf(3), keysOf("x", "y"))).toHaveLength(1);
  expect(one.keys).toBe(262_144);
  const third = runOf(4, 25, 26);
  const covers = coverRun([one], third, keysOf("z"));
  expect(covers.map(({ keys_max, keys }) => ({ keys_max, keys }))).toEqual([
    { keys_max: 262_144, keys: 262_144 },
    { keys_max: 524_288, keys: 1 },
  ]);
  expect([holds(one, "z"), holds(covers[1] as Cover, "z")]).toEqual([false, true]);
  const other = runOf(9);
  expect(uncovered([first, second, third, other], covers)).toEqual([other]);
});

test("the largest cover has room for 4,194,304 keys", () => {
  const full = (keys_max: number): Cover => ({ ...(coverRun([], runOf(1), keysOf("a"))[0] as Cover), keys_max, keys: keys_max });
  const nextOf = (one: Cover): number[] => coverRun([one], runOf(2), keysOf("b")).map(({ keys_max }) => keys_max);
  expect([nextOf(full(2_097_152)), nextOf(full(4_194_304))]).toEqual([
    [2_097_152, 4_194_304],
    [4_194_304, 4_194_304],
  ]);
});

test("a cover is dropped when all of its runs are older than is ever searched, to the second", () => {
  const [old] = coverRun([], runOf(1, 0, 1_000), keysOf("a")) as [Cover];
  const after = (last: number): number => coverRun([{ ...old }], runOf(2, 0, last), keysOf("b"))[0]?.runs.length ?? 0;
  expect([after(1_000 + IN_USE_SECONDS - 1), after(1_000 + IN_USE_SECONDS)]).toEqual([2, 1]);
});

test("times are open at both ends, and those of keys reach as far as the window", () => {
  const span = spanOf(
    [
      { fingerprint: 1, time: 50 },
      { fingerprint: 2, time: 40 },
      { fingerprint: 3, time: 60 },
      { fingerprint: 4, time: 45 },
    ],
    10,
  );
  expect(span).toEqual({ first: 30, last: 70 });
  const at = (first: number, last = first): boolean => overlap({ first, last }, span);
  expect([at(30), at(31), at(69), at(70), at(0, 30), at(0, 31), at(70, 99), at(69, 99), at(0, 99)]).toEqual([
    false,
    true,
    true,
    false,
    false,
    true,
    false,
    true,
    true,
  ]);
  expect(joined(NO_TIMES, { first: 5, last: 6 })).toEqual({ first: 5, last: 6 });
  expect(joined({ first: 1, last: 9 }, { first: 5, last: 6 })).toEqual({ first: 1, last: 9 });
});
