/** VER-5c, VER-7, D-82: the step `version`. */
import { expect, test } from "bun:test";
import { chooseVersion, isFirstMarketingRequest, migrationsOf } from "#graph/pipeline/route";
import type { Incoming, Versioned } from "#graph/pipeline/stages";
import { standardCalendar } from "#graph/versions/calendar";

const NOW = 1_800_000_000;
const window = (name: string, start: number, end: number) => ({ name, start, end });
const calendar = { ...standardCalendar, migrations: [window("open", 1, NOW + 1), window("coming", NOW + 1, NOW + 2), window("other", 1, NOW + 1)] };

test("VER-5c: an app's first marketing request is one without a defect in its text, to an endpoint of that calendar, by an app that has made none", () => {
  const isFirst = (versions: string, marketing_first_used_time: number, defect?: Error) =>
    isFirstMarketingRequest(
      { request: { defect } } as unknown as Incoming,
      { endpoint: { access: { versions } }, caller: { app: { marketing_first_used_time } } } as unknown as Versioned,
    );
  expect([isFirst("marketing", 0), isFirst("marketingOrCurrent", 0)]).toEqual([true, true]);
  expect([isFirst("platform", 0), isFirst("migrationIntents", 0), isFirst("unversioned", 0)]).toEqual([false, false, false]);
  expect([isFirst("marketing", 1), isFirst("marketing", 0, new Error("defect"))]).toEqual([false, false]);
});

test("D-82: the app and the request decide whether a migration is on, with an override in the query or else the body", () => {
  const isMigrated = (query: object, body: object = {}, migrations: object = {}) =>
    migrationsOf(
      { request: { query, body }, world: { calendar }, now: NOW } as unknown as Incoming,
      { caller: { app: { created_time: 0, migrations } } } as unknown as Versioned,
    );
  const on = { migrations_override: '{"open":true}' };
  const off = { migrations_override: '{"open":false}' };
  expect([isMigrated({})("open"), isMigrated(on)("open"), isMigrated({}, on)("open"), isMigrated(off, on)("open")]).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect([isMigrated(on)("other"), isMigrated(on)("coming"), isMigrated(on)("unheard")]).toEqual([false, false, false]);
  expect(isMigrated({}, {}, { open: true })("open")).toBe(true);
  // The state that the app has at present counts, not an earlier one.
  expect(isMigrated({})("open", { created_time: 0, migrations: { open: true } })).toBe(true);
  expect(() => isMigrated({ migrations_override: '{"coming":true}' })).toThrow("migrations_override");
});

test("D-81: the endpoint's rule, the requested version, the calling app and the time decide which version serves", () => {
  const serve = (versions: string, version: number | undefined, app: object = {}, names: string[] = []) => {
    const caller = { app: { created_time: 0, marketing_first_used_time: 1, auto_upgrade: true, ...app } };
    const visible = { endpoint: { access: { versions }, names }, address: { version }, caller, method: "GET" };
    const incoming = { request: { path: "/the/path" }, world: { calendar }, now: NOW };
    return chooseVersion(incoming as unknown as Incoming, visible as unknown as Versioned).served;
  };
  expect(serve("platform", 22)).toEqual({ version: 22 });
  expect(serve("marketing", 24)).toEqual({ version: 25, upgradedFrom: 24 });
  expect(() => serve("marketing", 24, { auto_upgrade: false })).toThrow("switched the automatic upgrade off");
  expect(() => serve("migrationIntents", undefined)).toThrow("/the/path");
});
