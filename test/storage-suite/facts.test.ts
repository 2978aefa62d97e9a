import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Database } from "#storage/database";
import { FactCache } from "#storage/facts";
import { sql } from "#storage/sql";
import { becomesTrue, describeDrivers, openNew } from "./stores.ts";

/**
 * The names of the announced changes, in the order in which the process hears them. If the database did not respond for a moment, the notice that
 * everything may have changed can arrive at any time.
 */
function listen(database: Database): string[] {
  const heard: string[] = [];
  database.onInvalidate((kind, key) => kind !== undefined && heard.push(`${kind} ${key}`));
  return heard;
}

describeDrivers("facts", (driver) => {
  test("a changed fact is announced by name when the write returns", async () => {
    const database = await openNew(driver);
    const heard = listen(database);
    await database.write(async (tx) => {
      tx.invalidate("token", "näme 1 €\n\u{1f600}");
      tx.invalidate("role", "2");
      expect(heard).toEqual([]);
    });
    expect(heard.slice(0, 2)).toEqual(["token näme 1 €\n\u{1f600}", "role 2"]);
  });

  test("a write that is rolled back changes no fact", async () => {
    const database = await openNew(driver);
    const heard = listen(database);
    await database
      .write(async (tx) => {
        tx.invalidate("token", "1");
        throw new Error("refused");
      })
      .catch(() => {});
    await database.write(async (tx) => tx.invalidate("token", "2"));
    await becomesTrue(() => false, 50);
    expect(new Set(heard)).toEqual(new Set(["token 2"]));
  });

  test("a cache never returns a value from before a write that has returned", async () => {
    const database = await openNew(driver);
    const cache = new FactCache<number>(database, "note");
    const read = () =>
      cache.get("1", async () => (await database.reader.get<{ amount: number }>(sql`SELECT amount FROM notes WHERE id = ${1}`))?.amount);
    await database.write((tx) => tx.run(sql`INSERT INTO notes (id, list, amount) VALUES (${1}, ${"a"}, ${0})`));
    for (let amount = 1; amount <= 40; amount++) {
      const before = [read(), read()];
      const writing = database.write(async (tx) => {
        await tx.run(sql`UPDATE notes SET amount = ${amount} WHERE id = ${1}`);
        tx.invalidate("note", "1");
      });
      const during = read();
      await writing;
      expect(await read()).toBe(amount);
      for (const each of await Promise.all([...before, during])) expect([amount - 1, amount]).toContain(each as number);
      expect(await read()).toBe(amount);
    }
  });
});

/** A database that does nothing but announce changes. */
function announcer() {
  const listeners: ((kind: string | undefined, key: string | undefined) => void)[] = [];
  return {
    database: { onInvalidate: (listener: (typeof listeners)[0]) => listeners.push(listener) } as unknown as Database,
    announce: (kind?: string, key?: string) => {
      for (const listener of listeners) listener(kind, key);
    },
  };
}

describe("fact cache", () => {
  test("absence is not cached, presence is", async () => {
    const cache = new FactCache<string>(announcer().database, "token");
    let loads = 0;
    expect(await cache.get("a", async () => void loads++)).toBeUndefined();
    expect(await cache.get("a", async () => `load ${++loads}`)).toBe("load 2");
    expect(await cache.get("a", async () => `load ${++loads}`)).toBe("load 2");
    expect(cache.peek("a")).toBe("load 2");
    expect(cache.peek("b")).toBeUndefined();
  });

  test("only the named fact of the named kind is dropped, or everything", async () => {
    const { database, announce } = announcer();
    const cache = new FactCache<string>(database, "token");
    const fill = async () => {
      for (const key of ["a", "b"]) await cache.get(key, async () => key);
    };
    await fill();
    announce("role", "a");
    expect({ a: cache.peek("a"), b: cache.peek("b") }).toEqual({ a: "a", b: "b" });
    announce("token", "a");
    expect({ a: cache.peek("a"), b: cache.peek("b") }).toEqual({ a: undefined, b: "b" });
    await fill();
    announce();
    expect({ a: cache.peek("a"), b: cache.peek("b") }).toEqual({ a: undefined, b: undefined });
  });

  test("it is bounded", async () => {
    const cache = new FactCache<number>(announcer().database, "token");
    for (let i = 0; i < 10_050; i++) await cache.get(String(i), async () => i);
    expect(cache.peek("10049")).toBe(10_049);
    expect(cache.peek("0")).toBeUndefined();
  });

  test("after any interleaving of reads and changes, the cached values are right", async () => {
    const step = fc.oneof(fc.record({ read: fc.constantFrom("a", "b") }), fc.record({ change: fc.constantFrom("a", "b", "everything") }));
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 12 }), async (scheduler, steps) => {
        const { database, announce } = announcer();
        const cache = new FactCache<number>(database, "token");
        const truth = new Map([
          ["a", 0],
          ["b", 0],
        ]);
        const load = async (key: string) => {
          await scheduler.schedule(Promise.resolve(), "query arrives");
          const value = truth.get(key);
          await scheduler.schedule(Promise.resolve(), "result arrives");
          return value;
        };
        const change = async (key: string) => {
          await scheduler.schedule(Promise.resolve(), "commit");
          for (const each of key === "everything" ? [...truth.keys()] : [key]) truth.set(each, (truth.get(each) ?? 0) + 1);
          await scheduler.schedule(Promise.resolve(), "announcement");
          if (key === "everything") announce();
          else announce("token", key);
        };
        for (const each of steps) void ("read" in each ? cache.get(each.read, () => load(each.read)) : change(each.change));
        await scheduler.waitAll();
        for (const [key, value] of truth) expect([undefined, value]).toContain(cache.peek(key));
      }),
      { numRuns: 500 },
    );
  });
});
