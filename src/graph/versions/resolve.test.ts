import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { secondsAround } from "#harness/time/seconds";
import { cafe } from "#harness/worlds";
import type { GraphError } from "#kernel/errors";
import { formatVersion, parseVersion } from "#kernel/versions";
import { buildRegistry } from "#main";
import { entryOf } from "../worlds/settings.ts";
import {
  calendarWith,
  checkCalendar,
  type MarketingVersion,
  requireEndpoints,
  requireMigrations,
  standardCalendar,
  type VersionCalendar,
  type VersionsEntry,
} from "./calendar.ts";
import { ChangeLog, type VersionChange } from "./changes.ts";
import { defaultVersion, isNamed, newestVersion, servedVersion, type VersionedApp } from "./resolve.ts";

const DAY = 86_400;
/** All dates of the test's versions are multiples of this time. */
const STEP = 20 * DAY;

/** Ten made-up versions, 120 days apart. Each version is supported until 100 days after the next release. */
const tenVersions = fc.array(fc.subarray(["readFeed", "createThing"]), { minLength: 10, maxLength: 10 }).map((affected): VersionCalendar => {
  const marketing = affected.map(
    (affects, i): MarketingVersion => ({
      version: i + 1,
      released: i * 120 * DAY,
      until: i === 9 ? undefined : (i + 1) * 120 * DAY + 100 * DAY,
      affects,
    }),
  );
  return { ...standardCalendar, marketing };
});

const anyApp = fc.record({
  created_time: secondsAround(0, STEP, [0, 1300 * DAY]),
  marketing_first_used_time: fc.oneof(fc.constant(0), secondsAround(0, STEP, [1, 1300 * DAY])),
  auto_upgrade: fc.boolean(),
});

/**
 * The rules are written a second time, for clarity: each version is judged by its own dates. This function shares no code with the tested function.
 */
function oracle(versions: readonly MarketingVersion[], requested: number, app: VersionedApp, now: number, operation: string): number | "refused" {
  const isOut = (v: MarketingVersion, moment: number) => v.released <= moment;
  const numbersOut = (moment: number) => versions.filter((v) => isOut(v, moment)).map((v) => v.version);
  const start = app.marketing_first_used_time || now;
  // The oldest version that the app may use is a released version, although the clock may have been moved back.
  const floor = Math.max(...numbersOut(Math.min(now, app.created_time)), ...numbersOut(Math.min(now, start)), 1);
  const alive = versions.filter((v) => isOut(v, now) && !(v.until !== undefined && now >= v.until)).map((v) => v.version);
  if (!numbersOut(now).includes(requested) || requested < floor) return "refused";
  if (alive.includes(requested)) return requested;
  if (!app.auto_upgrade) return "refused";
  const target = Math.min(...alive.filter((v) => v > requested));
  const onTheWay = versions.filter((v) => v.version > requested && v.version <= target);
  return target === Number.POSITIVE_INFINITY || onTheWay.some((v) => v.affects.includes(operation)) ? "refused" : target;
}

describe("marketing versions", () => {
  test("VER-5, VER-6: an upgrade is never backwards, never across a change, and never for an app that switched it off", () => {
    const moments = secondsAround(0, STEP, [0, 1400 * DAY]);
    fc.assert(
      fc.property(
        tenVersions,
        fc.integer({ min: 1, max: 12 }),
        anyApp,
        moments,
        fc.constantFrom("readFeed", "createThing"),
        (calendar, requested, app, now, operation) => {
          let served: number | "refused";
          try {
            const response = servedVersion({ rule: "marketing", requested, app, calendar, now, names: [operation], path: "/" });
            served = response.version;
            expect(response.upgradedFrom).toBe(response.version === requested ? undefined : requested);
          } catch (error) {
            expect((error as GraphError).entry.code).toBe(2635);
            served = "refused";
          }
          expect(served).toBe(oracle(calendar.marketing, requested, app, now, operation));
          if (served !== "refused") expect(served).toBeGreaterThanOrEqual(requested);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("D-80: if the clock is before an app's creation, the version of that time is served, and no header names a future one", () => {
    const [feb2025, now] = [1_738_400_000, 1_790_000_000];
    const app: VersionedApp = { created_time: now, marketing_first_used_time: 0, auto_upgrade: true };
    const at = (requested: number, time: number, calendar = standardCalendar) =>
      servedVersion({ rule: "marketing", requested, app, calendar, now: time, names: [], path: "/" });
    expect(at(22, feb2025)).toEqual({ version: 22 });
    expect(() => at(20, feb2025)).toThrow("v20.0 is not available to this app; use v22.0");
    const ended = { ...standardCalendar, marketing: standardCalendar.marketing.map((one) => ({ ...one, until: one.until ?? now })) };
    expect(() => at(23, now + 1, ended)).toThrow(/v23\.0 is not available to this app$/);
  });

  test("VER-6: an unreleased version is no reason for a refusal, and no target of an upgrade", () => {
    const app: VersionedApp = { created_time: 0, marketing_first_used_time: 1, auto_upgrade: true };
    const marketing: MarketingVersion[] = [
      { version: 1, released: 0, until: 100 * DAY, affects: [] },
      { version: 2, released: 200 * DAY, until: undefined, affects: ["readFeed"] },
    ];
    const at = (now: number) =>
      servedVersion({ rule: "marketing", requested: 1, app, calendar: { ...standardCalendar, marketing }, now, names: ["readFeed"], path: "/" });
    expect(() => at(150 * DAY)).toThrow(/v1\.0 is deprecated and no later version is available$/);
    expect(() => at(200 * DAY)).toThrow("v1.0 is deprecated and v2.0 changed this endpoint; use v2.0");
  });

  test("VER-4a, D-03: a marketing request names a version, except for G1", () => {
    const app: VersionedApp = { created_time: 0, marketing_first_used_time: 1, auto_upgrade: true };
    const ask = (rule: "marketing" | "marketingOrCurrent") =>
      servedVersion({ rule, requested: undefined, app, calendar: standardCalendar, now: 1_795_000_000, names: [], path: "/" });
    expect(() => ask("marketing")).toThrow("must name a version");
    expect(ask("marketingOrCurrent").version).toBe(25);
  });

  test("D-03: without a version an app gets the newest one at its creation", () => {
    expect([0, Date.parse("2025-06-01") / 1000, 1_795_000_000].map((time) => defaultVersion(standardCalendar, time, 1_795_000_000))).toEqual([
      20, 23, 26,
    ]);
  });
});

describe("calendars", () => {
  test("VER-3a, D-80: a grace period of less than 90 days is refused", () => {
    const versions = (until: string) => ({
      marketing: [
        { version: "1.0", released: 0, until: Date.parse(until) / 1000, affects: [] },
        { version: "2.0", released: 100 * DAY, affects: [] },
      ],
    });
    expect(() => calendarWith(standardCalendar, versions("1970-07-09"))).toThrow("90 days");
    expect(calendarWith(standardCalendar, versions("1970-07-10")).marketing.map(({ version }) => version)).toEqual([1, 2]);
    expect(() => checkCalendar(standardCalendar)).not.toThrow();
  });

  test("D-80: a calendar adds to the document's versions, and can have minor ones", () => {
    const entry: VersionsEntry = {
      marketing: [{ version: "v27.1", released: 0, affects: [] }],
      platform: [
        { version: "26.2", released: Date.parse("2026-09-01") / 1000 },
        { version: "26.0", released: Date.parse("2026-08-01") / 1000 },
      ],
      migration_intents: ["27.0", "23.0"],
    };
    const calendar = calendarWith(standardCalendar, entry);
    expect(calendar.platform.map(({ version }) => formatVersion(version)).slice(-3)).toEqual(["v25.0", "v26.0", "v26.2"]);
    expect(calendar.migrationIntents.map(formatVersion)).toEqual(["v23.0", "v24.0", "v25.0", "v27.0"]);
    expect(defaultVersion(calendar, Date.parse("2026-08-15") / 1000, 1_795_000_000)).toBe(26);
    expect(newestVersion(calendar, 1_795_000_000)).toBe(parseVersion("v26.2") as number);
    expect(["v27.1", "v26.2", "v27.0", "v20.0"].map((text) => isNamed(calendar, parseVersion(text) as number, 1_795_000_000))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(isNamed(calendar, parseVersion("v26.1") as number, 1_795_000_000)).toBe(false);
    // A calendar in its stored and exported form is read as the same calendar.
    expect(calendarWith(standardCalendar, entryOf(calendar))).toEqual(calendar);
    expect(entryOf(standardCalendar)).not.toHaveProperty("platform");
  });

  test("D-80: a version that only the marketing calendar has is unknown elsewhere", () => {
    const calendar = calendarWith(standardCalendar, { marketing: [{ version: "27.0", released: 0, affects: [] }] });
    const app: VersionedApp = { created_time: 0, marketing_first_used_time: 0, auto_upgrade: true };
    const served = (rule: "marketing" | "platform" | "migrationIntents") =>
      servedVersion({ rule, requested: 27, app, calendar, now: 1_795_000_000, names: [], path: "/v27.0/1" });
    expect(served("marketing")).toEqual({ version: 27 });
    for (const rule of ["platform", "migrationIntents"] as const) expect(() => served(rule)).toThrow("/v27.0");
  });

  test("D-80: versions out of order, and unknown names, are refused with their place", () => {
    const release = (version: string, released: number) => ({ version, released, affects: [] as string[] });
    const refused = (entry: VersionsEntry) => () => calendarWith(standardCalendar, entry);
    expect(refused({ platform: [release("27.0", 0)] })).toThrow("platform[0].released");
    expect(refused({ marketing: [release("2.1", 5), release("2.1", 9)] })).toThrow("repeats the version v2.1");
    expect(refused({ platform: [release("x", 0)] })).toThrow("platform[0].version");
    expect(refused({ migration_intents: ["v1.2.3"] })).toThrow("migration_intents[0]");
    const affecting = (name: string): VersionsEntry => ({ marketing: [{ ...release("1.0", 0), affects: ["G2", name] }] });
    const names = buildRegistry().endpointNames;
    for (const name of ["listArticlesAndPublications", "owned_product_catalogs", "A1"])
      expect(() => requireEndpoints(affecting(name), names)).not.toThrow();
    expect(() => requireEndpoints(affecting("listArticlesAndPublication"), names)).toThrow(
      "marketing[0].affects[1] is not an operation, an edge or a number of an endpoint: listArticlesAndPublication; did you mean listArticlesAndPublications?",
    );
    expect(() => requireMigrations(["label_names_case_insensitive"], "migrations", standardCalendar)).not.toThrow();
    expect(() => requireMigrations(["label_names"], "migrations", standardCalendar)).toThrow("migrations.label_names is not a migration");
  });

  test("D-80: a version that ends before it is released is refused", () => {
    const marketing = [{ version: 25, released: 10 * DAY, until: 10 * DAY, affects: [] }];
    expect(() => checkCalendar({ ...standardCalendar, marketing })).toThrow("is not after the release");
  });

  test("VER-7b, D-82: a migration's window is at least 90 days", () => {
    const window = (days: number) => ({ migrations: [{ name: "m", start: 0, end: days * DAY }] });
    expect(() => calendarWith(standardCalendar, window(89))).toThrow("90 days");
    expect(calendarWith(standardCalendar, window(90)).migrations.map(({ name }) => name)).toEqual(["label_names_case_insensitive", "m"]);
  });
});

describe("changes back from the newest version", () => {
  const changes: VersionChange[] = [3, 5, 8].map((introduced) => ({
    introduced,
    summary: `renames a key in ${introduced}`,
    operations: ["thing"],
    upParams: ({ [`k${introduced - 1}`]: value, ...rest }) => ({ ...rest, [`k${introduced}`]: value }),
    downResponse: (response) => [...(response as number[]), introduced],
  }));

  test("a response is converted newest first, parameters oldest first", () => {
    const log = new ChangeLog([...changes].reverse());
    expect(log.downResponse("thing", 4, [])).toEqual([8, 5]);
    expect(log.downResponse("thing", 8, [])).toEqual([]);
    expect(log.downResponse("other", 1, [])).toEqual([]);
  });

  test("converting up then down changes nothing", () => {
    const renames = [2, 3, 4].map(
      (introduced): VersionChange => ({
        introduced,
        summary: "renames a key",
        operations: ["thing"],
        upParams: (params) => rename(params, `k${introduced - 1}`, `k${introduced}`),
        downResponse: (response) => rename(response as Record<string, unknown>, `k${introduced}`, `k${introduced - 1}`),
      }),
    );
    const log = new ChangeLog(renames);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.string({ unit: "binary" }), (version, value) => {
        const sent = { [`k${Math.min(version, 4)}`]: value };
        expect(log.downResponse("thing", version, log.upParams("thing", version, sent))).toEqual(sent);
      }),
    );
  });

  const rename = (from: Readonly<Record<string, unknown>>, old: string, name: string): Record<string, unknown> =>
    Object.fromEntries(Object.entries(from).map(([key, value]) => [key === old ? name : key, value]));
});

onEachDatabase("migrations", (database) => {
  const world = {
    ...cafe,
    apps: [
      { id: "1001", name: "Shop", secret: "s3cret", created_time: "2026-01-01" },
      { id: "1002", created_time: "2026-11-01" },
    ],
  };
  const onPage = "/v26.0/2001/custom_labels";
  const name = "label_names_case_insensitive";
  const vip = (token: string, query: Record<string, unknown> = {}) => ({
    query: { access_token: token, oauth_token: token, ...query },
    headers: { authorization: `Bearer ${token}` },
    body: { page_label_name: "VIP" },
  });

  test("D-82: a switch of the app, an override of a request, and a default by age", async () => {
    const plaza = await openPlaza({ database, world });
    const bearer = "1001|s3cret";
    expect((await plaza.get("/v26.0/1001", { bearer, query: { fields: "migrations" } })).body).toEqual({ migrations: { [name]: false }, id: "1001" });
    // VER-7c: the migration is on for an app that was created after the start of its window.
    expect((await plaza.post(onPage, vip("other-app"))).status).toBe(400);
    // VER-7g, VER-7h: the request's `migrations_override` decides whether the migration is on.
    expect((await plaza.post(onPage, vip("page", { migrations_override: `{"${name}":true}` }))).status).toBe(400);
    expect((await plaza.post("/v26.0/1001", { bearer, body: { migrations: { [name]: true } } })).body).toEqual({ success: true });
    expect((await plaza.post(onPage, vip("page"))).body.error_data).toEqual({ parameter: "page_label_name", label_id: "5001" });
    expect((await plaza.post(onPage, vip("page", { migrations_override: `{"${name}":false}` }))).status).toBe(200);
  });

  test("D-82: unknown names, non-booleans and closed windows are refused", async () => {
    const plaza = await openPlaza({ database, world });
    const refused = async (text: string) => (await plaza.get(onPage, vip("page", { migrations_override: text }))).body.error_data?.parameter;
    for (const text of ['{"unknown":true}', `{"${name}":1}`, "[]", "x", '{"__proto__":true}'])
      expect({ text, parameter: await refused(text) }).toEqual({ text, parameter: "migrations_override" });
    plaza.time.realMs = Date.parse("2027-10-01");
    expect(await refused(`{"${name}":false}`)).toBe("migrations_override");
    // VER-7d: after the window the old behaviour does not exist any more.
    expect((await plaza.post(onPage, vip("page"))).status).toBe(400);
  });
});
