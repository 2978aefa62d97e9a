import { describe, expect, test } from "bun:test";
import { parsePairs } from "../request-text/pairs.ts";
import type { MigrationWindow } from "./calendar.ts";
import { isMigrationOn, readMigrationsOverride } from "./migration-windows.ts";

const window: MigrationWindow = { name: "renaming", start: 1_000, end: 2_000 };
const app = (created_time: number, isSet?: boolean) => ({ created_time, migrations: isSet === undefined ? {} : { renaming: isSet } });

describe("D-82: a migration", () => {
  test("VER-7d: is off until the second in which its window opens, even for an app that switched it on", () => {
    expect(isMigrationOn(window, app(999, true), {}, 999)).toBe(false);
    expect(isMigrationOn(window, app(999, true), {}, 1_000)).toBe(true);
  });

  test("VER-7d: is on from the second in which its window ends, even for an app that switched it off", () => {
    expect(isMigrationOn(window, app(0, false), {}, 1_999)).toBe(false);
    expect(isMigrationOn(window, app(0, false), {}, 2_000)).toBe(true);
  });

  test("VER-7c: is on for an app that was created in the second in which the window opened, or later, and chose nothing", () => {
    expect(isMigrationOn(window, app(999), {}, 1_500)).toBe(false);
    expect(isMigrationOn(window, app(1_000), {}, 1_500)).toBe(true);
    expect(isMigrationOn(window, app(1_001, false), {}, 1_500)).toBe(false);
  });

  test("VER-7g: the request's override has precedence over the app", () => {
    expect(isMigrationOn(window, app(0, false), { renaming: true }, 1_500)).toBe(true);
    expect(isMigrationOn(window, app(1_001, true), { renaming: false }, 1_500)).toBe(false);
    expect(isMigrationOn(window, app(0, true), { other: false }, 1_500)).toBe(true);
  });
});

describe("VER-7g: an override", () => {
  const read = (value: unknown, now = 1_500) => ({ ...readMigrationsOverride(value, [window], now) });

  test("is an object of booleans, or its JSON text", () => {
    expect(read(undefined)).toEqual({});
    expect(read('{"renaming":true}')).toEqual({ renaming: true });
    expect(read({ renaming: false })).toEqual({ renaming: false });
  });

  test("D-82: can be true or false with brackets, if a value can only be text", () => {
    const inBrackets = (value: string) => read(parsePairs(`migrations_override[renaming]=${value}`, "The query").parameters.migrations_override);
    expect(inBrackets("true")).toEqual({ renaming: true });
    expect(inBrackets("false")).toEqual({ renaming: false });
    for (const value of ["", "1", "True", "yes"]) expect(() => inBrackets(value)).toThrow("must give true or false for renaming");
  });

  test.each([
    ["null", null],
    ["a list", []],
    ["a number", 1],
    ["JSON that is no object", "1"],
    ["an unknown name", { other: true }],
    ["a value that is no boolean", { renaming: 1 }],
    ["a word that is no boolean", { renaming: "yes" }],
    ["the word true in JSON", { renaming: "true" }],
    ["the word false in the text of JSON", '{"renaming":"false"}'],
  ])("is refused: %s", (_title, value) => {
    expect(() => read(value)).toThrow("migrations_override");
  });

  test("is refused before the window opens, and from the second in which it ends", () => {
    const at = (now: number) => () => readMigrationsOverride({ renaming: true }, [window], now);
    expect(at(999)).toThrow("is not open");
    expect(at(1_000)()).toEqual({ renaming: true });
    expect(at(1_999)()).toEqual({ renaming: true });
    expect(at(2_000)).toThrow("is not open");
  });
});
