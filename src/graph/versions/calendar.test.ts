import { describe, expect, test } from "bun:test";
import { entryReader } from "../worlds/file/entry-reader.ts";
import {
  calendarWith,
  checkCalendar,
  type MigrationWindow,
  requireEndpoints,
  requireMigrations,
  standardCalendar,
  type VersionCalendar,
  type VersionsEntry,
  versionsEntry,
} from "./calendar.ts";
import { ChangeLog } from "./changes.ts";
import { isMarketing } from "./resolve.ts";

const DAY = 86_400;
const on = (seconds: number | undefined) => (seconds === undefined ? undefined : new Date(seconds * 1000).toISOString());
const midnight = (day: string) => `${day}T00:00:00.000Z`;

describe("D-80: the standard calendar", () => {
  const { platform, marketing, migrationIntents, migrations } = standardCalendar;

  test("has one release of the platform after another", () => {
    expect(platform.map(({ version, released }) => [version, on(released)])).toEqual([
      ...["2024-05-21", "2024-10-02", "2025-01-21", "2025-05-29", "2025-10-08", "2026-02-18", "2026-07-29"].map((day, at) => [
        20 + at,
        midnight(day),
      ]),
    ]);
    expect(migrationIntents).toEqual([23, 24, 25]);
  });

  test("VER-2a, VER-3a: has marketing versions that end, except for the newest", () => {
    expect(marketing.map(({ version, released, until, affects }) => ({ version, released: on(released), until: on(until), affects }))).toEqual([
      ...[
        ["2024-05-21", "2025-05-06"],
        ["2024-10-02", "2025-09-09"],
        ["2025-01-21", "2026-02-10"],
        ["2025-05-29", "2026-06-09"],
        ["2025-10-08", "2026-10-06"],
        ["2026-02-18"],
      ].map(([released, until], at) => ({
        ...{ version: 20 + at, released: midnight(released as string) },
        ...{ until: until === undefined ? undefined : midnight(until), affects: [] },
      })),
    ]);
  });

  test("D-82: has one migration, of a year", () => {
    expect(migrations.map(({ name, start, end }) => [name, on(start), on(end)])).toEqual([
      ["label_names_case_insensitive", midnight("2026-10-01"), midnight("2027-10-01")],
    ]);
  });
});

describe("the versions in a world file", () => {
  const read = entryReader(versionsEntry);
  const version = { version: "27.0", released: "2026-11-01" };

  test("has no other keys, at any depth", () => {
    for (const entry of [
      { more: 1 },
      { marketing: [{ ...version, more: 1 }] },
      { platform: [{ ...version, more: 1 }] },
      { migrations: [{ name: "m", start: 0, end: 0, more: 1 }] },
    ])
      expect(() => read(entry)).toThrow("more is not known here");
    expect(read({ marketing: [version] })).toEqual({ marketing: [{ version: "27.0", released: 1_793_491_200, affects: [] }] });
    expect(read({ migrations: [{ name: "m", start: 0, end: 1 }] })).toEqual({ migrations: [{ name: "m", start: 0, end: 1 }] });
    expect(() => read({ migrations: [{ name: "", start: 0, end: 1 }] })).toThrow("migrations[0].name");
    expect(() => read({ marketing: [] })).toThrow("marketing must not be empty");
  });

  const base: VersionCalendar = { platform: [], migrationIntents: [], marketing: [], migrations: [] };
  const release = (text: string, released: number) => ({ version: text, released });
  const marketing = (text: string, released: number, until?: number) => ({
    ...release(text, released),
    ...(until === undefined ? {} : { until }),
    affects: ["G2"],
  });

  test("is sorted, and added to the known ones or replaces them", () => {
    const calendar = calendarWith(
      {
        ...base,
        platform: [{ version: 5, released: 50 }],
        migrationIntents: [9],
        marketing: [{ version: 1, released: 0, until: undefined, affects: [] }],
        migrations: [
          { name: "a", start: 0, end: 90 * DAY },
          { name: "b", start: 0, end: 90 * DAY },
        ],
      },
      {
        platform: [release("v7.0", 70), release("6.0", 60), release("5.0", 55)],
        migration_intents: ["v7.0", "9.0", "2.0"],
        marketing: [marketing("3.0", 30), marketing("2.0", 20, 30 + 90 * DAY)],
        migrations: [{ name: "b", start: 1, end: 1 + 90 * DAY }],
      },
    );
    expect(calendar).toEqual({
      platform: [
        { version: 5, released: 55 },
        { version: 6, released: 60 },
        { version: 7, released: 70 },
      ],
      migrationIntents: [2, 7, 9],
      marketing: [
        { version: 2, released: 20, until: 30 + 90 * DAY, affects: ["G2"] },
        { version: 3, released: 30, until: undefined, affects: ["G2"] },
      ],
      migrations: [
        { name: "a", start: 0, end: 90 * DAY },
        { name: "b", start: 1, end: 1 + 90 * DAY },
      ],
    });
    expect(calendarWith(standardCalendar, {})).toEqual(standardCalendar);
  });

  test("is refused with its place", () => {
    const refused = (entry: object) => () => calendarWith(base, read(entry) as VersionsEntry);
    expect(refused({ marketing: [marketing("x", 0)] })).toThrow("marketing[0].version must be a version such as 25.0");
    expect(refused({ marketing: [{ ...marketing("1.0", 0), until: "x" }] })).toThrow("marketing[0].until");
    expect(refused({ marketing: [{ ...marketing("1.0", 0), released: "x" }] })).toThrow("marketing[0].released");
    expect(refused({ platform: [release("1.0", 0), { version: "2.0", released: "x" }] })).toThrow("platform[1].released");
    expect(refused({ migrations: [{ name: "m", start: "x", end: 0 }] })).toThrow("migrations[0].start");
    expect(refused({ migrations: [{ name: "m", start: 0, end: "x" }] })).toThrow("migrations[0].end");
  });
});

describe("an impossible calendar is refused with the place in the file", () => {
  const day = (text: string) => Date.parse(text) / 1_000;
  const refusal = (entry: Parameters<typeof calendarWith>[1]) => () => calendarWith(standardCalendar, entry);

  test("of its only migration, beside the built-in one, and of a repeated one", () => {
    expect(refusal({ migrations: [{ name: "m", start: 0, end: 1 }] })).toThrow(/^migrations\[0\] m has a window of less than 90 days$/);
    const [m, other] = ["m", "other"].map((name) => ({ name, start: 0, end: 90 * DAY })) as [MigrationWindow, MigrationWindow];
    expect(refusal({ migrations: [m, other, m] })).toThrow(/^migrations\[2\]\.name repeats the migration m$/);
  });

  test("of versions that are listed in another order", () => {
    const marketing = (version: string, released: string, until?: string) => ({
      ...{ version, released: day(released), affects: [] },
      ...(until === undefined ? {} : { until: day(until) }),
    });
    const [newer, older] = [marketing("31.0", "2027-06-01"), marketing("30.0", "2027-01-01", "2027-06-02")];
    expect(refusal({ marketing: [newer, older] })).toThrow(/^marketing\[1\]\.until leaves less than 90 days after the release of v31\.0$/);
    expect(refusal({ marketing: [newer, marketing("30.0", "2027-07-01")] })).toThrow(/^marketing\[0\]\.released is before the release/);
    expect(refusal({ marketing: [newer, marketing("30.0", "2027-01-01", "2026-01-01")] })).toThrow(/^marketing\[1\]\.until is not after/);
    expect(refusal({ marketing: [newer, newer] })).toThrow(/^marketing\[1\] repeats the version v31\.0$/);
  });

  test("of general versions, besides the document's own", () => {
    const platform = (version: string, released: string) => ({ version, released: day(released) });
    expect(refusal({ platform: [platform("27.0", "2026-07-28")] })).toThrow(
      /^platform\[0\]\.released is before the release of the previous version$/,
    );
    expect(refusal({ platform: [platform("28.0", "2027-07-28"), platform("25.5", "2026-07-30")] })).toThrow(
      /^platform\[1\]\.released is after the release of v26\.0$/,
    );
  });
});

describe("D-80: a calendar", () => {
  const version = (number: number, released: number, until?: number) => ({ version: number, released, until, affects: [] });
  const check =
    (marketing: ReturnType<typeof version>[], more: Partial<VersionCalendar> = {}) =>
    () =>
      checkCalendar({ platform: [], migrationIntents: [], migrations: [], marketing, ...more });

  test("has versions that end after they begin, at least 90 days after the next one began", () => {
    expect(check([version(1, 10, 11)])).not.toThrow();
    expect(check([version(1, 10, 10)])).toThrow("marketing[0].until is not after the release");
    expect(check([version(1, 0), version(2, 10, 9)])).toThrow("marketing[1].until is not after the release");
    expect(check([version(1, 0, 10 + 90 * DAY), version(2, 10)])).not.toThrow();
    expect(check([version(1, 0, 9 + 90 * DAY), version(2, 10)])).toThrow("marketing[0].until leaves less than 90 days after the release of v2.0");
    expect(check([version(1, 0, 500 * DAY), version(2, 10, 99 + 90 * DAY), version(3, 100)])).toThrow("marketing[1].until leaves less than 90 days");
    expect(check([version(1, 0), version(2, 10), version(3, 20)])).not.toThrow();
  });

  test("has versions in the order of their releases, each once; two can have the same time", () => {
    expect(check([version(1, 10), version(2, 10)])).not.toThrow();
    expect(check([version(1, 10), version(2, 9)])).toThrow("marketing[1].released is before the release of the previous version");
    expect(check([version(1, 10), version(1, 11)])).toThrow("marketing[1] repeats the version v1.0");
    expect(check([], { platform: [version(1, 0), version(2, 10), version(3, 9)] })).toThrow("platform[2].released is before");
  });

  test("VER-7b: has migrations of 90 days or more", () => {
    const migrations = (days: number) => [
      { name: "first", start: 0, end: 100 * DAY },
      { name: "second", start: 5, end: 5 + days * DAY },
    ];
    expect(check([], { migrations: migrations(90) })).not.toThrow();
    expect(check([], { migrations: migrations(90 - 1 / DAY) })).toThrow("migrations[1] second has a window of less than 90 days");
  });

  test("names only existing endpoints and migrations", () => {
    const affecting = (...affects: string[]) => ({
      marketing: [
        { version: "1.0", released: 0, affects: [] },
        { version: "2.0", released: 0, affects },
      ],
    });
    const endpoints =
      (...affects: string[]) =>
      () =>
        requireEndpoints(affecting(...affects), new Set(["readFeed", "G2"]));
    expect(endpoints("readFeed", "G2")).not.toThrow();
    expect(() => requireEndpoints({}, new Set())).not.toThrow();
    expect(endpoints("G2", "G3")).toThrow("marketing[1].affects[1] is not an operation, an edge or a number of an endpoint: G3");
    const required =
      (...names: string[]) =>
      () =>
        requireMigrations(names, "apps[0].migrations", standardCalendar);
    expect(required("label_names_case_insensitive")).not.toThrow();
    expect(required("label_names_case_insensitive", "zzz")).toThrow(/^apps\[0\]\.migrations\.zzz is not a migration of the calendar$/);
  });
});

test("VER-5c: both rules of the marketing calendar count as its use, and no other", () => {
  expect((["marketing", "marketingOrCurrent", "platform", "migrationIntents", "unversioned"] as const).map(isMarketing)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("a change with one direction leaves the other unchanged, and each operation has its own", () => {
  const change = (introduced: number, operations: string[], more: object = {}) => ({ introduced, summary: "", operations, ...more });
  const log = new ChangeLog([
    change(3, ["a"], { upParams: (params: object) => ({ ...params, up: 3 }) }),
    change(5, ["a", "b"], { downResponse: (response: unknown) => [response, 5] }),
    change(4, ["b"], { upParams: (params: object) => ({ ...params, up: 4 }), downResponse: (response: unknown) => [response, 4] }),
  ]);
  expect([log.upParams("a", 2, { x: 1 }), log.upParams("a", 3, { x: 1 }), log.upParams("b", 3, {}), log.upParams("c", 1, { x: 1 })]).toEqual([
    { x: 1, up: 3 },
    { x: 1 },
    { up: 4 },
    { x: 1 },
  ]);
  expect([log.downResponse("a", 2, "r"), log.downResponse("b", 2, "r"), log.downResponse("b", 4, "r"), log.downResponse("b", 5, "r")]).toEqual([
    ["r", 5],
    [["r", 5], 4],
    ["r", 5],
    "r",
  ]);
});
