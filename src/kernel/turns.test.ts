import { expect, test } from "bun:test";
import { nextTurn, Turns } from "./turns.ts";

test("pieces of work are done one after the other, in their order, and others come in between", async () => {
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
