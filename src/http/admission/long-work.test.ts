/** Checks when the server collects the memory of parsed request bodies at once, and how bodies wait for each other. */
import { expect, test } from "bun:test";
import { LongWork } from "./long-work.ts";

const MIB = 2 ** 20;

test("garbage is collected after more than four megabytes were parsed, and the count starts again", async () => {
  let collected = 0;
  const work = new LongWork(() => collected++);
  const after = async (...sizes: readonly (number | undefined)[]): Promise<number> => {
    for (const size of sizes) await work.next(size);
    return collected;
  };
  expect([await after(3 * MIB, MIB), await after(undefined, 0), await after(1)]).toEqual([0, 0, 1]);
  expect([await after(4 * MIB), await after(1), await after(5 * MIB), await after(4 * MIB)]).toEqual([1, 2, 3, 3]);
});

test("several pieces are processed one after another, in order", async () => {
  const work = new LongWork(() => {});
  const done: number[] = [];
  await Promise.all([1, 2, 3].map((piece) => work.next(1).then(() => done.push(piece))));
  expect(done).toEqual([1, 2, 3]);
});
