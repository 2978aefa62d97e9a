import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Account, Shares } from "./shares.ts";

/**
 * Adds requests of one size to an account as long as the account accepts them, but at most `max` requests. Returns the number of accepted requests.
 */
function taken(shares: Shares, account: Account, size = 0, max = 10_000): number {
  let count = 0;
  while (count < max && shares.lacks(account, size) === undefined) {
    shares.hold(account, size);
    count++;
  }
  return count;
}

const capacity = { count: 100, size: 1_000 };

describe("shares of a capacity", () => {
  test("a caller alone can hold all of it", () => {
    const shares = new Shares(capacity);
    expect(taken(shares, shares.accountOf("1001", "a"))).toBe(100);
    expect(shares.lacks(shares.accountOf("1001", "a"), 0)).toBe("count");
  });

  test("when it is full, another app still gets its equal share, and the first one nothing until it holds less than its own", () => {
    const shares = new Shares(capacity);
    const [one, other] = [shares.accountOf("1001", "a"), shares.accountOf("1002", "a")];
    taken(shares, one);
    expect(taken(shares, other)).toBe(50);
    for (let ended = 0; ended < 50; ended++) shares.release(one, 0);
    expect(shares.lacks(one, 0)).toBe("count");
    shares.release(one, 0);
    expect(shares.lacks(one, 0)).toBeUndefined();
  });

  test("the addresses of one app share its part, and so do those without a token", () => {
    for (const app of ["1001", undefined]) {
      const shares = new Shares(capacity);
      taken(shares, shares.accountOf(app, "a"));
      expect(taken(shares, shares.accountOf(app, "b"))).toBe(50);
      expect(shares.lacks(shares.accountOf(app, "a"), 0)).toBe("count");
    }
  });

  test("an app gets its share however many addresses come without a token", () => {
    const shares = new Shares(capacity);
    for (let address = 0; address < 1_000; address++) taken(shares, shares.accountOf(undefined, `address ${address}`));
    expect(taken(shares, shares.accountOf("1001", "a"))).toBe(50);
  });

  test("the request that exceeds the size is the last one; a caller without any gets one that is larger than a share", () => {
    const shares = new Shares(capacity);
    const one = shares.accountOf("1001", "a");
    shares.hold(one, 999);
    expect(shares.lacks(one, 900)).toBeUndefined();
    shares.hold(one, 900);
    expect(shares.lacks(one, 1)).toBe("size");
    const other = shares.accountOf("1002", "a");
    expect(shares.lacks(other, 900)).toBeUndefined();
    shares.hold(other, 900);
    expect(shares.lacks(other, 1)).toBe("size");
    expect(shares.lacks(shares.accountOf("1003", "a"), 900)).toBe("size");
    expect(shares.lacks(shares.accountOf("1003", "a"), 300)).toBeUndefined();
  });

  test("a limit for each app also applies if it is alone", () => {
    const shares = new Shares(capacity, { count: 10, size: 100 });
    expect(taken(shares, shares.accountOf("1001", "a"))).toBe(10);
    expect(taken(shares, shares.accountOf("1002", "a"), 60)).toBe(2);
  });

  test("amounts that grow and shrink are held once", () => {
    const shares = new Shares(capacity);
    const one = shares.accountOf("1001", "a");
    shares.hold(one, 0);
    shares.grow(one, 30);
    expect({ count: shares.count, size: shares.size }).toEqual({ count: 1, size: 30 });
    shares.release(one, 30);
    expect({ count: shares.count, size: shares.size }).toEqual({ count: 0, size: 0 });
  });

  test("a caller who ends a request may hold the same amount again, any number of times, and so may its app", () => {
    const shares = new Shares({ count: 100, size: 100 }, { count: 100, size: 60 });
    const [one, other] = [shares.accountOf("1001", "a"), shares.accountOf("1001", "b")];
    for (let round = 0; round < 10; round++) {
      expect(shares.lacks(one, 40)).toBeUndefined();
      shares.hold(one, 40);
      expect(shares.lacks(other, 20)).toBeUndefined();
      shares.hold(other, 20);
      expect(shares.lacks(one, 1)).toBe("size");
      shares.release(one, 40);
      shares.release(other, 20);
    }
    // When the second app comes, the first app may still use as much as before, and when the whole capacity is full, each of the app's addresses may
    // use an equal part of the app's share.
    shares.hold(undefined, 100);
    shares.hold(one, 20);
    expect([shares.lacks(one, 1), shares.lacks(other, 1)]).toEqual([undefined, undefined]);
  });

  test("accounts without any are forgotten, and others are not", () => {
    const shares = new Shares(capacity);
    const held = shares.accountOf("1001", "a");
    shares.hold(held, 5);
    const unused = shares.accountOf("1002", "b");
    for (let address = 0; address < 20_000; address++) shares.accountOf(undefined, `address ${address}`);
    expect(shares.accountOf("1001", "a")).toBe(held);
    expect(shares.accountOf("1002", "b")).not.toBe(unused);
  });

  test("in any sequence nothing is lost, the total stays within its limit, and a new caller gets its share", () => {
    const app = fc.constantFrom("1001", "1002", "ä𝄞", undefined);
    const address = fc.constantFrom("a", "b", "c");
    const step = fc.tuple(app, address, fc.integer({ min: 0, max: 400 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const shares = new Shares({ count: 20, size: 1_000 });
        const held: { account: Account; size: number }[] = [];
        for (const [ofApp, from, size, isEnd] of steps) {
          const ended = isEnd ? held.shift() : undefined;
          if (ended !== undefined) shares.release(ended.account, ended.size);
          const account = shares.accountOf(ofApp, from);
          if (shares.lacks(account, size) !== undefined) continue;
          shares.hold(account, size);
          held.push({ account, size });
        }
        expect({ count: shares.count, size: shares.size }).toEqual({ count: held.length, size: held.reduce((sum, one) => sum + one.size, 0) });
        expect(shares.count).toBeLessThanOrEqual(20 * (1 + Math.log(12)) + 12);
        expect(shares.lacks(shares.accountOf("newcomer", "a"), 200)).toBeUndefined();
        for (const { account, size } of held) shares.release(account, size);
        expect({ count: shares.count, size: shares.size }).toEqual({ count: 0, size: 0 });
      }),
    );
  });

  test("it is full from its last request on, and from its last byte on", () => {
    const shares = new Shares({ count: 2, size: 10 });
    const one = shares.accountOf("1001", "a");
    shares.hold(one, 9);
    expect(shares.isFull).toBe(false);
    shares.grow(one, 1);
    expect(shares.isFull).toBe(true);
    shares.release(one, 10);
    shares.hold(one, 0);
    expect(shares.isFull).toBe(false);
    shares.hold(undefined, 0);
    expect(shares.isFull).toBe(true);
  });

  test("an address that ends one of several requests keeps its part, and so does an app", () => {
    const shares = new Shares({ count: 12, size: 1_000 });
    const of = (app: string, address: string) => shares.accountOf(app, address);
    for (const [app, address, count] of [
      ["1001", "a", 4],
      ["1001", "b", 4],
      ["1002", "a", 5],
    ] as const)
      for (let n = 0; n < count; n++) shares.hold(of(app, address), 0);
    shares.release(of("1001", "a"), 0);
    // The capacity is full: two apps run 6 requests each, and two addresses of one app run 3 requests each. With equal shares a third app gets 4
    // requests, and a third address of the app gets 2.
    expect(taken(shares, of("1003", "a"))).toBe(4);
    expect(taken(shares, of("1001", "c"))).toBe(1);
    // A caller without running requests has no share of the capacity.
    for (let n = 0; n < 4; n++) shares.release(of("1003", "a"), 0);
    for (let n = 0; n < 3; n++) shares.release(of("1001", "a"), 0);
    expect(taken(shares, of("1001", "c"))).toBe(2);
  });

  test("10,000 accounts are kept, held or not; of more, twice as many as hold something", () => {
    const addressOf = (shares: Shares, at: number) => shares.accountOf("1001", `unused ${at}`);
    /** Returns whether the first of `unused` accounts is still in memory while `held` other accounts have running requests. */
    const isKnown = (unused: number, held: number): boolean => {
      const shares = new Shares(capacity);
      for (let at = 0; at < held; at++) shares.hold(shares.accountOf("1001", `held ${at}`), 0);
      const first = addressOf(shares, 0);
      for (let at = 1; at < unused; at++) addressOf(shares, at);
      return addressOf(shares, 0) === first;
    };
    // The app has its own account, which is counted too. In the second case 10,000 accounts had running requests when the accounts were counted.
    expect([isKnown(9_998, 0), isKnown(9_999, 0)]).toEqual([true, false]);
    expect([isKnown(9_998, 10_000), isKnown(9_999, 10_000)]).toEqual([true, false]);
  });
});
