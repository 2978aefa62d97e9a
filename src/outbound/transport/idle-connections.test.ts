/** Tests which idle connections a pool keeps for later requests, how many it keeps, and for how long. */
import { expect, spyOn, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { catchTimers } from "#harness/time/stopped-time";
import type { Connection } from "./connection.ts";
import { ConnectionPool } from "./socket-transport.ts";

const newPool = (): ConnectionPool => {
  const pool = new ConnectionPool();
  afterThisTest(() => pool.close());
  return pool;
};

/** Makes an idle connection, which waits for a request. */
function waiting() {
  const one = { isOpen: true, idleSinceMs: 0, closes: 0 };
  const connection = Object.assign(one, {
    close: () => {
      one.closes++;
      one.isOpen = false;
    },
  });
  return connection as unknown as Connection & { closes: number };
}

const ageBy = (connection: Connection, ms: number): void => {
  connection.idleSinceMs -= ms;
};

test("endpoints share connections only if address, port, server name and trusted certificates are equal", () => {
  const pool = newPool();
  const at = { address: "192.0.2.1", port: 443, tls: undefined };
  const tls = (serverName: string | undefined, ca?: string) => ({ ...at, tls: { serverName, ca } });
  const keys = [at, { ...at, port: 80 }, { ...at, address: "192.0.2.2" }, tls(undefined), tls("a"), tls("b"), tls("a", "one"), tls("a", "two")];
  expect(new Set(keys.map((endpoint) => pool.keyOf(endpoint))).size).toBe(keys.length);
  for (const endpoint of keys) expect(pool.keyOf({ ...endpoint })).toBe(pool.keyOf(endpoint));
});

test("the last used one is taken first, and none that is closed, of another endpoint, or older than four seconds", () => {
  const pool = newPool();
  const [first, second, third, other] = [waiting(), waiting(), waiting(), waiting()];
  for (const one of [first, second, third]) pool.give("a", one);
  pool.give("b", other);
  expect(pool.take("a")).toBe(third);
  ageBy(second, 4_000);
  ageBy(first, 3_000);
  expect(pool.take("a")).toBe(first);
  expect([second.closes, first.closes, pool.take("a"), pool.take("c")]).toEqual([1, 0, undefined, undefined]);
  other.isOpen = false;
  expect([pool.take("b"), other.closes]).toEqual([undefined, 1]);
  // The pool does not keep a closed connection.
  const gone = waiting();
  gone.isOpen = false;
  pool.give("a", gone);
  expect(pool.take("a")).toBeUndefined();
});

test("512 of one endpoint are kept, 2,048 in total, and a taken one makes room", () => {
  const pool = newPool();
  const closedOf = (key: string, count: number): number => {
    const given = Array.from({ length: count }, waiting);
    for (const one of given) pool.give(key, one);
    return given.filter(({ closes }) => closes === 1).length;
  };
  expect([closedOf("a", 512), closedOf("a", 1)]).toEqual([0, 1]);
  expect([closedOf("b", 512), closedOf("c", 512), closedOf("d", 512), closedOf("e", 3)]).toEqual([0, 0, 0, 3]);
  expect(pool.take("a")?.isOpen).toBe(true);
  expect([closedOf("e", 2), pool.take("e")?.isOpen]).toEqual([1, true]);
});

test("one timer serves all of them, and ends with the pool", () => {
  const begun = spyOn(globalThis, "setInterval");
  const ended = spyOn(globalThis, "clearInterval");
  afterThisTest(() => {
    begun.mockRestore();
    ended.mockRestore();
  });
  const pool = newPool();
  for (let count = 0; count < 3; count++) pool.give("a", waiting());
  expect(begun).toHaveBeenCalledTimes(1);
  pool.close();
  expect(ended).toHaveBeenCalledWith(begun.mock.results[0]?.value);
});

test("unused connections are closed after their time, and younger ones stay", async () => {
  const pool = newPool();
  const [old, shut, young] = [waiting(), waiting(), waiting()];
  for (const one of [old, shut]) pool.give("a", one);
  pool.give("b", young);
  ageBy(old, 4_000);
  shut.isOpen = false;
  // The pool keeps this connection for another minute.
  ageBy(young, -60_000);
  while (old.closes + shut.closes < 2) await Bun.sleep(10);
  expect([old.closes, shut.closes, pool.take("a")]).toEqual([1, 1, undefined]);
  expect([pool.take("b"), young.closes]).toEqual([young, 0] as never);
  // Closed connections no longer count towards the pool's limit, and the pool also checks connections that were added later.
  const later = waiting();
  pool.give("a", later);
  ageBy(later, 4_000);
  while (later.closes === 0) await Bun.sleep(10);
});

test("a closed pool closes waiting connections and keeps no new ones", () => {
  const pool = newPool();
  const [before, after] = [waiting(), waiting()];
  pool.give("a", before);
  pool.close();
  pool.give("a", after);
  expect([before.closes, after.closes, pool.take("a")]).toEqual([1, 1, undefined]);
});

test("waiting connections do not keep the program running", () => {
  const { intervals } = catchTimers();
  const pool = newPool();
  pool.give("key", waiting());
  expect(intervals).toMatchObject([{ ms: 1_000, isUnreffed: true, isCleared: false }]);
  pool.close();
  expect(intervals[0]?.isCleared).toBe(true);
});
