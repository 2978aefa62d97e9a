/** Tests that a process remembers the ids of callbacks, so that it needs no query to find the queue of an event. */
import { expect, test } from "bun:test";
import type { IdMinter } from "#kernel/ids";
import type { Database, Transaction } from "#storage/database";
import { Callbacks } from "./callbacks.ts";

function newCallbacks(stored: Readonly<Record<string, string>> = {}) {
  let minted = 0;
  const ids = { mint: () => String(++minted) } as IdMinter;
  const callbacks = new Callbacks({ onInvalidate: () => () => {} } as unknown as Database, ids);
  const asked: string[] = [];
  /** Makes a transaction whose actions after the commit run at once, or are collected in the list `actions`. */
  const transaction = (actions?: (() => void)[]) =>
    ({
      async get({ values }: { values: readonly string[] }) {
        const [app, url] = values;
        asked.push(`${app} ${url}`);
        const id = stored[`${app} ${url}`];
        return id === undefined ? undefined : { id };
      },
      run: async () => 0,
      afterCommit: (action: () => void) => (actions === undefined ? action() : actions.push(action)),
    }) as unknown as Transaction;
  return { callbacks, asked, transaction, idFor: (app: string, url: string) => callbacks.idFor(transaction(), app, url) };
}

test("an address is looked up once and known from the commit on, for its own app; a new one gets an id", async () => {
  const { callbacks, asked, transaction, idFor } = newCallbacks({ "1001 https://a/": "77" });
  const actions: (() => void)[] = [];
  expect(await callbacks.idFor(transaction(actions), "1001", "https://a/")).toBe("77");
  expect([await callbacks.idFor(transaction([]), "1001", "https://a/"), asked.length]).toEqual(["77", 2]);
  for (const action of actions) action();
  expect([await idFor("1001", "https://a/"), asked.length]).toEqual(["77", 2]);
  expect([await idFor("1002", "https://a/"), await idFor("1001", "https://b/")]).toEqual(["1", "2"]);
  const before = asked.length;
  expect([await idFor("1002", "https://a/"), await idFor("1001", "https://b/"), await idFor("1001", "https://a/")]).toEqual(["1", "2", "77"]);
  expect(asked).toHaveLength(before);
});

test("twenty thousand addresses are remembered, each counted once; one more starts again from none", async () => {
  const { callbacks, asked, transaction, idFor } = newCallbacks();
  const addAll = async (from: number, to: number): Promise<void> => {
    for (let n = from; n <= to; n++) await idFor(String(n % 100), `https://a/${n}`);
  };
  /** Whether the process remembers the callback's id. The check itself does not add the id to the remembered ids. */
  const isKnown = async (n: number): Promise<boolean> => {
    const before = asked.length;
    await callbacks.idFor(transaction([]), String(n % 100), `https://a/${n}`);
    return asked.length === before;
  };
  // Two concurrent transactions both find that no callback has this address yet.
  const actions: (() => void)[] = [];
  for (let twice = 0; twice < 2; twice++) await callbacks.idFor(transaction(actions), "1", "https://a/1");
  for (const action of actions) action();
  await addAll(2, 20_000);
  expect([await isKnown(1), await isKnown(20_000)]).toEqual([true, true]);
  await addAll(20_001, 20_001);
  expect([await isKnown(1), await isKnown(20_000), await isKnown(20_001)]).toEqual([false, false, true]);
  await addAll(20_002, 40_000);
  expect([await isKnown(20_001), await isKnown(40_000)]).toEqual([true, true]);
  await addAll(40_001, 40_001);
  expect([await isKnown(20_001), await isKnown(40_000), await isKnown(40_001)]).toEqual([false, false, true]);
});
