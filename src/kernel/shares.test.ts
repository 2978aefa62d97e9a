import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Account, Shares } from "./shares.ts";

/** Takes requests of one size for an account as long as it gets them, `max` at most. */
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
  test("a caller alone holds all of it", () => {
    const shares = new Shares(capacity);
    expect(taken(shares, shares.accountOf("1001", "a"))).toBe(100);
    expect(shares.lacks(shares.accountOf("1001", "a"), 0)).toBe("count");
  });

  test("once it is full, another app still gets its equal share, and the first one nothing until it holds less than its own", () => {
    const shares = new Shares(capacity);
    const [one, other] = [shares.accountOf("1001", "a"), shares.accountOf("1002", "a")];
    taken(shares, one);
    expect(taken(shares, other)).toBe(50);
    for (let ended = 0; ended < 50; ended++) shares.release(one, 0);
    expect(shares.lacks(one, 0)).toBe("count");
    shares.release(one, 0);
    expect(shares.lacks(one, 0)).toBeUndefined();
  });

  test("the addresses of one app share what it has, and so do those without a token", () => {
    for (const app of ["1001", undefined]) {
      const shares = new Shares(capacity);
      taken(shares, shares.accountOf(app, "a"));
      expect(taken(shares, shares.accountOf(app, "b"))).toBe(50);
      expect(shares.lacks(shares.accountOf(app, "a"), 0)).toBe("count");
    }
  });

  test("however many addresses come without a token, an app gets its share", () => {
    const shares = new Shares(capacity);
    for (let address = 0; address < 1_000; address++) taken(shares, shares.accountOf(undefined, `address ${address}`));
    expect(taken(shares, shares.accountOf("1001", "a"))).toBe(50);
  });

  test("the request that goes beyond the size is the last one; a caller who holds nothing gets one that is larger than a share", () => {
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

  test("a limit for each app holds even where it is alone", () => {
    const shares = new Shares(capacity, { count: 10, size: 100 });
    expect(taken(shares, shares.accountOf("1001", "a"))).toBe(10);
    expect(taken(shares, shares.accountOf("1002", "a"), 60)).toBe(2);
  });

  test("what grows and shrinks is held once", () => {
    const shares = new Shares(capacity);
    const one = shares.accountOf("1001", "a");
    shares.hold(one, 0);
    shares.grow(one, 30);
    expect({ count: shares.count, size: shares.size }).toEqual({ count: 1, size: 30 });
    shares.release(one, 30);
    expect({ count: shares.count, size: shares.size }).toEqual({ count: 0, size: 0 });
  });

  test("accounts that hold nothing are forgotten, and those that hold something are not", () => {
    const shares = new Shares(capacity);
    const held = shares.accountOf("1001", "a");
    shares.hold(held, 5);
    const unused = shares.accountOf("1002", "b");
    for (let address = 0; address < 20_000; address++) shares.accountOf(undefined, `address ${address}`);
    expect(shares.accountOf("1001", "a")).toBe(held);
    expect(shares.accountOf("1002", "b")).not.toBe(unused);
  });

  test("whatever happens, nothing is lost, all together stays within its bound, and a newcomer gets its share", () => {
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
});
