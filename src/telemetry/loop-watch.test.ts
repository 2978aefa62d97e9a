import { beforeEach, expect, test } from "bun:test";
import { type Hold, LoopWatch } from "./loop-watch.ts";

let now = 0;
let cpu = 0;
let turnEnds: (() => void)[] = [];
let told: Hold[] = [];

const newWatch = (): LoopWatch =>
  new LoopWatch({ nowMs: () => now, cpuMs: () => cpu, afterTurn: (run) => turnEnds.push(run), onHold: (hold) => told.push(hold) });

/** Lets time pass in which this process uses the CPU. */
function compute(ms: number): void {
  now += ms;
  cpu += ms;
}

function endTurn(): void {
  for (const run of turnEnds.splice(0)) run();
}

beforeEach(() => {
  now = 1_000;
  cpu = 0;
  turnEnds = [];
  told = [];
});

test("if several parts run in one turn, the one that took long is named", () => {
  const watch = newWatch();
  watch.begin("listLabels");
  compute(3);
  watch.begin("reportEvents", "4711");
  compute(120);
  watch.begin("createLabel");
  compute(49);
  endTurn();
  expect(told).toEqual([{ work: "reportEvents", id: "4711", ms: 120 }]);
});

test("a part ends with its turn: time in which nothing runs belongs to nobody", () => {
  const watch = newWatch();
  watch.begin("listLabels");
  compute(1);
  endTurn();
  compute(5_000);
  watch.begin("createLabel");
  compute(60);
  endTurn();
  expect(told).toEqual([{ work: "createLabel", id: undefined, ms: 60 }]);
  expect(turnEnds).toEqual([]);
});

test("time in which the machine gave the process no CPU does not count", () => {
  const watch = newWatch();
  watch.begin("listLabels");
  now += 400;
  cpu += 20;
  endTurn();
  expect(told).toEqual([]);
});

test("holds are counted by work, with the longest; beyond 500 names together", () => {
  const watch = newWatch();
  const hold = (work: string, ms: number): void => {
    watch.begin(work);
    compute(ms);
    endTurn();
  };
  for (let n = 0; n < 500; n++) hold(`job ${n}`, 50);
  hold("job 7", 80);
  hold("job 7", 70);
  hold("one more", 90);
  hold("another", 60);
  expect(watch.report().holds.length).toBe(501);
  expect(watch.report().holds.find(({ work }) => work === "job 7")).toEqual({ work: "job 7", count: 3, longestMs: 80 });
  expect(watch.report().holds.at(-1)).toEqual({ work: "other work", count: 2, longestMs: 90 });
});

test("the lag is that of the last 1,200 samples: 99 of 100 were not later", () => {
  const watch = newWatch();
  expect(watch.report().lagP99Ms).toBe(0);
  watch.start();
  const sample = (lateMs: number): void => {
    now += 250 + lateMs;
    watch.sample();
  };
  for (let n = 0; n < 990; n++) sample(2);
  for (let n = 0; n < 10; n++) sample(100);
  expect(watch.report().lagP99Ms).toBe(2);
  sample(100);
  expect(watch.report().lagP99Ms).toBe(100);
  for (let n = 0; n < 1_200; n++) sample(1);
  expect(watch.report().lagP99Ms).toBe(1);
  watch.stop();
});
