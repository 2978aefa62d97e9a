/** What a process hears of what others do with worlds. */
import { expect, test } from "bun:test";
import type { Database, Transaction } from "#storage/database";
import { announce, followChanges } from "./world-changes.ts";

/** Everything that is announced goes to everybody, as facts of one database do. */
function shared() {
  const listeners: ((kind: string | undefined, key: string | undefined) => void)[] = [];
  const invalidate = (kind: string | undefined, key?: string): void => {
    for (const listener of listeners) listener(kind, key);
  };
  const database = { onInvalidate: (listener: (typeof listeners)[number]) => void listeners.push(listener) } as unknown as Database;
  const heardBy = (process: string): string[] => {
    const heard: string[] = [];
    followChanges(database, process, (change, name) => heard.push(`${change} ${name}`));
    return heard;
  };
  return { tx: { invalidate } as unknown as Transaction, invalidate, heardBy };
}

test("every process but the one that does it hears which world was deleted or replaced", () => {
  const { tx, heardBy } = shared();
  const [one, other] = [heardBy("p1"), heardBy("p2")];
  announce(tx, "deleted", "p1", "a");
  announce(tx, "replaced", "p2", "b");
  expect({ one, other }).toEqual({ one: ["replaced b"], other: ["deleted a"] });
});

test("other facts, and that everything may have changed, are no change of a world", () => {
  const { invalidate, heardBy } = shared();
  const heard = heardBy("p1");
  invalidate(undefined);
  invalidate("token", "p2 a");
  invalidate("world", undefined);
  invalidate("world", "p2");
  expect(heard).toEqual([]);
});
