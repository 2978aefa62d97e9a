import { expect, test } from "bun:test";
import { catchTimers } from "#harness/time/stopped-time";
import { fewAtOnce, nextPartsTurn, nextTurn, Turns, within } from "./turns.ts";

test("pieces of work run one after another, in order, and other work runs in between", async () => {
  const turns = new Turns(() => performance.now());
  const done: string[] = [];
  const pieces = ["one", "two", "three"].map(async (name) => {
    await turns.next();
    done.push(name);
  });
  let isOver = false;
  const between = (async () => {
    while (!isOver) {
      await nextTurn();
      if (done.at(-1) !== "others") done.push("others");
    }
  })();
  await Promise.all(pieces);
  isOver = true;
  await between;
  expect(done.filter((name) => name !== "others")).toEqual(["one", "two", "three"]);
  expect(done.slice(done.indexOf("one"), done.indexOf("three") + 1)).toEqual(["one", "others", "two", "others", "three"]);
  await turns.next();
});

test("other work has as long as the previous piece took, however long the program has run", async () => {
  // The test stops the clock at a value of ten days, so no time passes during a piece of work.
  const turns = new Turns(() => 864_000_000);
  const done: number[] = [];
  await Promise.all([1, 2, 3].map((piece) => turns.next().then(() => done.push(piece))));
  expect(done).toEqual([1, 2, 3]);
});

test("few items are used at once, all in order, and other work runs in between", async () => {
  const done: (number | string)[] = [];
  let isOver = false;
  const between = (async () => {
    while (!isOver) {
      if (done.at(-1) !== "others") done.push("others");
      await nextTurn();
    }
  })();
  await fewAtOnce([1, 2, 3, 4, 5], 2, (item) => done.push(item));
  isOver = true;
  await between;
  const first = done.indexOf(1);
  expect(done.slice(first - 1, done.indexOf(5) + 1)).toEqual(["others", 1, 2, "others", 3, 4, "others", 5]);
});

test.each([3, Number.POSITIVE_INFINITY])("three items of at most %p are used at once", (count) => {
  const done: number[] = [];
  void fewAtOnce([1, 2, 3], count, (item) => done.push(item));
  expect(done).toEqual([1, 2, 3]);
});

test("a wait ends with its event, which may fail, or with its time, and leaves no timer", async () => {
  const { timeouts } = catchTimers();
  await within(Promise.resolve(), 10);
  await expect(within(Promise.reject(new Error("failed")), 20)).rejects.toThrow("failed");
  const waiting = within(new Promise(() => {}), 30);
  timeouts[2]?.fire();
  await waiting;
  expect(timeouts).toMatchObject([10, 20, 30].map((ms) => ({ ms, isCleared: true })));
});

test("many requests for many responses share each turn of the event loop, and each of them gets on", async () => {
  const [requests, parts] = [50, 3];
  let ranInTurn = 0;
  const most = { inTurn: 0 };
  let isOver = false;
  const everyTurn = (async () => {
    while (!isOver) {
      await nextTurn();
      most.inTurn = Math.max(most.inTurn, ranInTurn);
      ranInTurn = 0;
    }
  })();
  const ended: number[] = [];
  const all = Array.from({ length: requests }, async (_, request) => {
    for (let part = 0; part < parts; part++) {
      await nextPartsTurn();
      ranInTurn++;
    }
    ended.push(request);
  });
  await Promise.all(all);
  isOver = true;
  await everyTurn;
  expect(ended).toEqual(Array.from({ length: requests }, (_, request) => request));
  expect(most.inTurn).toBeGreaterThan(0);
  expect(most.inTurn).toBeLessThanOrEqual(4);
});
