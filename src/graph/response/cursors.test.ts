import { describe, expect, test } from "bun:test";
import { Cursors } from "./cursors.ts";

const key = (byte: number) => new Uint8Array(32).fill(byte);

describe("D-30: a cursor", () => {
  const cursors = new Cursors(key(1));

  test("opens for the list and the columns for which it was signed", () => {
    expect(cursors.open("personas 1", cursors.sign("personas 1", ["7"]), 1)).toEqual(["7"]);
    expect(cursors.open("labels 1", cursors.sign("labels 1", ["a", "b"]), 2)).toEqual(["a", "b"]);
  });

  test.each([1, 2, 3, 4, 18, 19])("holds a number of %i digits, in characters that need no escape in a URL", (digits) => {
    const id = "7".repeat(digits);
    const cursor = cursors.sign("personas 1", [id]);
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(cursors.open("personas 1", cursor, 1)).toEqual([id]);
  });

  test("does not open for another list, with another key, or with an added, missing or changed character", () => {
    const cursor = cursors.sign("personas 1", ["7"]);
    expect(cursors.open("personas 2", cursor, 1)).toBeUndefined();
    expect(new Cursors(key(2)).open("personas 1", cursor, 1)).toBeUndefined();
    for (let at = 0; at < cursor.length; at++) {
      const other = cursor[at] === "A" ? "B" : "A";
      expect(cursors.open("personas 1", cursor.slice(0, at) + other + cursor.slice(at + 1), 1)).toBeUndefined();
      expect(cursors.open("personas 1", cursor.slice(0, at), 1)).toBeUndefined();
    }
    expect(cursors.open("personas 1", `${cursor}A`, 1)).toBeUndefined();
  });

  test("the empty key has no cursor", () => {
    expect(cursors.open("personas 1", cursors.sign("personas 1", [""]), 1)).toBeUndefined();
  });

  test("of a replaced key opens while that key is configured, and the new key signs", () => {
    const running = new Cursors(key(1));
    const cursor = running.sign("personas 1", ["7"]);
    running.use(key(2), [key(3), key(1)]);
    expect(running.open("personas 1", cursor, 1)).toEqual(["7"]);
    expect(running.sign("personas 1", ["7"])).toBe(new Cursors(key(2)).sign("personas 1", ["7"]));
    running.use(key(2), []);
    expect(running.open("personas 1", cursor, 1)).toBeUndefined();
    expect(new Cursors(key(2), [key(1)]).open("personas 1", cursor, 1)).toEqual(["7"]);
  });

  test("has 1,000 characters at most", () => {
    // The cursor has 12 characters of signature, and four characters for each three bytes of its text.
    const longest = cursors.sign("personas 1", ["x".repeat(741)]);
    expect(longest).toHaveLength(1_000);
    expect(cursors.open("personas 1", longest, 1)).toEqual(["x".repeat(741)]);
    expect(cursors.open("personas 1", cursors.sign("personas 1", ["x".repeat(742)]), 1)).toBeUndefined();
  });
});
