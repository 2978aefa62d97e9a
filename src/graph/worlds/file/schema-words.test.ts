/** Tests of ids and times as world files write them, and of the paths that problems name. */
import { describe, expect, test } from "bun:test";
import { invalidParameter } from "#kernel/errors";
import { below, readId, secondsOf, TakenProblem, WorldProblem, worldTimeOr } from "./schema-words.ts";

/** The last second of the year 9999. */
const LAST = 253_402_300_799;

describe("a time", () => {
  test.each<[unknown, number]>([
    [0, 0],
    [LAST, LAST],
    ["1970-01-01", 0],
    ["2026-11-18T11:06:40Z", 1_795_000_000],
    ["2026-11-18T11:06:40", 1_795_000_000],
    ["2026-11-18 11:06:40", 1_795_000_000],
    ["2026-11-18t11:06:40z", 1_795_000_000],
    ["2026-11-18T11:06", 1_794_999_960],
    ["2026-11-18T12:36:40+01:30", 1_795_000_000],
    ["2026-11-18T12:36:40+0130", 1_795_000_000],
    ["2026-11-18T09:36:40-0130", 1_795_000_000],
    ["2026-11-18T11:06:40.999Z", 1_795_000_000],
    ["2028-02-29", 1_835_395_200],
    ["9999-12-31T23:59:59Z", LAST],
  ])("is %p", (given, seconds) => {
    expect(secondsOf(given, "at")).toBe(seconds);
  });

  test.each([
    ...[-1, 1.5, LAST + 1, 2 ** 60, Number.NaN, true, null, undefined, {}],
    ...["", "0", "2027-02-29", "2026-02-30", "2026-13-01", "2026-1-1", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-0001"],
    ...["2026-11-18T25:00", "2026-11-18T11:06:40+1", "2026-11-18T", "2026-11-18Z", " 2026-11-18"],
  ])("is not %p", (given) => {
    expect(() => secondsOf(given, "tokens[0].at")).toThrow(new WorldProblem("tokens[0].at", "must be Unix seconds or an ISO 8601 time"));
  });

  test("that is omitted is the second that the schema names", () => {
    expect([worldTimeOr(0), worldTimeOr(7)]).toMatchObject([{ default: 0 }, { default: 7 }]);
  });
});

describe("an id", () => {
  test("is a decimal number, as text or as a number with all its digits", () => {
    expect(["1", "9223372036854775807", 1, Number.MAX_SAFE_INTEGER].map((value) => String(readId(value, "id")))).toEqual([
      ...["1", "9223372036854775807", "1", "9007199254740991"],
    ]);
  });

  test("that has lost digits must be quoted", () => {
    for (const value of [Number.MAX_SAFE_INTEGER + 1, 1e18]) expect(() => readId(value, "pages[0].id")).toThrow("must be in quotes");
    // An id that the file writes as text is not changed.
    expect(String(readId("9007199254740993", "id"))).toBe("9007199254740993");
  });

  test.each([0, -1, 1.5, "0", "01", "9223372036854775808", "x", "", true, null, undefined, {}])("is not %p", (value) => {
    expect(() => readId(value, "id")).toThrow(new WorldProblem("id", "must be an id: a decimal number from 1 to 9223372036854775807"));
  });
});

describe("a problem", () => {
  test("has its path from the top of the file", () => {
    const placed = (path: string) => below(new WorldProblem(path, "is wrong"), "labels[3]") as WorldProblem;
    expect([placed(""), placed("name"), placed("users[0]"), placed("[1].name")].map(({ path }) => path)).toEqual([
      ...["labels[3]", "labels[3].name", "labels[3].users[0]", "labels[3][1].name"],
    ]);
    expect(placed("name")).toMatchObject({ name: "WorldProblem", problem: "is wrong" });
  });

  test("of a request says that it was refused; other errors do not belong to the file", () => {
    const refused = below(invalidParameter("place", "is no place"), "live_videos[0]") as WorldProblem;
    expect([refused instanceof WorldProblem, refused.path, refused.problem.startsWith("is refused: ")]).toEqual([true, "live_videos[0]", true]);
    const other = new TypeError("a mistake");
    expect(below(other, "labels[0]")).toBe(other);
    expect(below(new TakenProblem("id", "is taken"), "labels[0]")).toMatchObject({ path: "labels[0].id", problem: "is taken" });
  });
});
