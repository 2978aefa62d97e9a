import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { deriveKey, masterKeyId, SealBroken, Sealer } from "#storage/sealing";

const master = fc.uint8Array({ minLength: 32, maxLength: 64 });
// The texts have no lone surrogates, because these have no UTF-8 form and never reach a database (D-21).
const text = fc.string({ unit: "binary" });

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("sealing", () => {
  test("a sealed value is opened by the same key", () => {
    fc.assert(
      fc.property(master, text, (given, secret) => {
        const key = deriveKey(given, "app secret");
        expect(new Sealer(deriveKey(given, "app secret")).open(new Sealer(key).seal(secret))).toBe(secret);
      }),
    );
  });

  test("a sealed value reveals nothing of the text, and differs each time", () => {
    const sealer = new Sealer(deriveKey(new Uint8Array(32), "app secret"));
    const sealed = new Set(Array.from({ length: 1_000 }, () => sealer.seal("the secret of the app")));
    expect(sealed.size).toBe(1_000);
    for (const each of sealed) {
      expect(each).toMatch(/^v1\.[0-9a-f]{16}\.[A-Za-z0-9_-]+$/);
      expect(Buffer.from(each.split(".")[2] ?? "", "base64url").includes("secret")).toBe(false);
    }
  });

  test("a key for another purpose, or of another master, cannot open it", () => {
    fc.assert(
      fc.property(master, master, text, (given, other, secret) => {
        const sealed = new Sealer(deriveKey(given, "app secret")).seal(secret);
        expect(() => new Sealer(deriveKey(given, "cursor")).open(sealed)).toThrow(SealBroken);
        fc.pre(hex(given) !== hex(other));
        expect(() => new Sealer(deriveKey(other, "app secret")).open(sealed)).toThrow(SealBroken);
      }),
    );
  });

  test("any change to a sealed value is noticed", () => {
    const sealer = new Sealer(deriveKey(new Uint8Array(32), "app secret"));
    const sealed = sealer.seal("s3cret");
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=. ";
    for (let at = 0; at < sealed.length; at++) {
      for (const unit of alphabet) {
        if (unit !== sealed[at]) expect(() => sealer.open(sealed.slice(0, at) + unit + sealed.slice(at + 1))).toThrow(SealBroken);
      }
      expect(() => sealer.open(sealed.slice(0, at))).toThrow(SealBroken);
    }
    expect(() => sealer.open(`${sealed}A`)).toThrow(SealBroken);
    expect(sealer.open(sealed)).toBe("s3cret");
  });

  test("D-171: previous keys open the values that they sealed, and only the current one seals", () => {
    fc.assert(
      fc.property(master, master, text, (one, other, secret) => {
        fc.pre(hex(one) !== hex(other));
        const [old, current] = [deriveKey(one, "app secret"), deriveKey(other, "app secret")];
        const sealer = new Sealer(old);
        const sealed = sealer.seal(secret);
        sealer.use(current, [old]);
        expect(sealer.open(sealed)).toBe(secret);
        const again = sealer.seal(secret);
        expect([sealed.startsWith(sealer.prefix), again.startsWith(sealer.prefix)]).toEqual([false, true]);
        sealer.use(current, []);
        expect(sealer.open(again)).toBe(secret);
        expect(() => sealer.open(sealed)).toThrow(SealBroken);
      }),
    );
  });

  test("stored values can always be opened: the form of a sealed value, and the ids of keys, do not change", () => {
    const master = new Uint8Array(32).fill(7);
    const sealer = new Sealer(deriveKey(master, "app secret"));
    expect(sealer.prefix).toBe("v1.104f6d08e34d7014.");
    expect(sealer.open("v1.104f6d08e34d7014.M-lsB2XN2AR5J37S4WZztw7Fyai2AR2yc8tB7IWREyiRcV3rqA")).toBe("s3cret é");
    expect(masterKeyId(master)).toBe("ef3984f2878e4d36");
  });

  test("keys are derived as in RFC 5869", () => {
    // Test case 3 of the RFC (without salt and info) gives these first 32 bytes.
    expect(hex(deriveKey(new Uint8Array(22).fill(0x0b), ""))).toBe("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
  });

  test("short keys are refused", () => {
    expect(() => deriveKey(new Uint8Array(15), "x")).toThrow(RangeError);
    expect(deriveKey(new Uint8Array(16), "x")).toHaveLength(32);
    expect(() => new Sealer(new Uint8Array(31))).toThrow(RangeError);
  });
});
