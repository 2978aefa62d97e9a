/** The calendar of versions, and migrations (D-03, D-80, D-82). */
import { asObject, type GraphRequest, inQuery } from "./requests.ts";
import type { World } from "./world.ts";

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 1000;

/** Of the general interface, the oldest first. */
const RELEASES: readonly (readonly [string, number])[] = [
  ["20.0", day("2024-05-21")],
  ["21.0", day("2024-10-02")],
  ["22.0", day("2025-01-21")],
  ["23.0", day("2025-05-29")],
  ["24.0", day("2025-10-08")],
  ["25.0", day("2026-02-18")],
  ["26.0", day("2026-07-29")],
];

export const NEWEST = "26.0";

export const isPlatformVersion = (version: string): boolean => RELEASES.some(([name]) => name === version);

/** D-03: the newest version at the time when the app was created. */
export function defaultVersion(world: World, app: string): string {
  const created = world.apps.get(app)?.created_time ?? world.now;
  return RELEASES.findLast(([, released]) => released <= created)?.[0] ?? "20.0";
}

/** D-122: the built-in migration's window. */
const MIGRATION = { name: "label_names_case_insensitive", start: day("2026-10-01"), end: day("2027-10-01") };

export const MIGRATIONS: readonly string[] = [MIGRATION.name];

/** Switches of migrations, or undefined where a name is none or a value no boolean (D-82). */
export function readSwitches(value: unknown): Readonly<Record<string, boolean>> | undefined {
  const given = asObject(value);
  const isRight = given !== undefined && Object.entries(given).every(([name, on]) => MIGRATIONS.includes(name) && typeof on === "boolean");
  return isRight ? (given as Record<string, boolean>) : undefined;
}

const overrideOf = (request: GraphRequest): string | undefined => inQuery(request, "migrations_override");

export const isOverrideWrong = (request: GraphRequest): boolean =>
  overrideOf(request) !== undefined && readSwitches(overrideOf(request)) === undefined;

/** D-82: on for apps created after the start, and for everybody after the end. */
function hasMigration(world: World, app: string, name: string): boolean {
  if (name !== MIGRATION.name) return false;
  const { migrations = {}, created_time = 0 } = world.apps.get(app) ?? {};
  return world.now >= MIGRATION.end || (migrations[name] ?? created_time >= MIGRATION.start);
}

/** VER-7h: for one request. */
export function isMigrated(world: World, app: string, name: string, request: GraphRequest): boolean {
  const override = overrideOf(request);
  if (override !== undefined) world.reach("migrationsOverride");
  return readSwitches(override)?.[name] ?? hasMigration(world, app, name);
}

/** D-80: of the marketing interface, the oldest first, with the end. */
const MARKETING: readonly { readonly name: string; readonly released: number; readonly until: number }[] = [
  { name: "20.0", released: day("2024-05-21"), until: day("2025-05-06") },
  { name: "21.0", released: day("2024-10-02"), until: day("2025-09-09") },
  { name: "22.0", released: day("2025-01-21"), until: day("2026-02-10") },
  { name: "23.0", released: day("2025-05-29"), until: day("2026-06-09") },
  { name: "24.0", released: day("2025-10-08"), until: day("2026-10-06") },
  { name: "25.0", released: day("2026-02-18"), until: Number.POSITIVE_INFINITY },
];

const newestAt = (moment: number) => MARKETING.findLast(({ released }) => released <= moment) ?? MARKETING[0];

export interface MarketingVersion {
  readonly served: string;
  /** The one that was asked for, where it has ended. */
  readonly upgradedFrom?: string;
}

/** D-03, D-80, D-81: which version serves; undefined: it is refused. */
export function marketingVersion(world: World, id: string, asked: string | undefined): MarketingVersion | undefined {
  const { created_time = 0, marketing_first_used_time: used, auto_upgrade } = world.apps.get(id) ?? {};
  const at = MARKETING.find(({ name }) => name === asked);
  // VER-5: not below what was the newest at its first use.
  const floor = newestAt(Math.max(created_time, used ?? world.now));
  if (at === undefined || floor === undefined || at.released > world.now || at.released < floor.released) return undefined;
  if (at.until > world.now) return { served: at.name };
  const next = MARKETING.find(({ released, until }) => released > at.released && released <= world.now && until > world.now);
  return next === undefined || auto_upgrade === false ? undefined : { served: next.name, upgradedFrom: at.name };
}

/** The marketing version that serves where none is named. */
export const currentMarketingVersion = (world: World): string | undefined => newestAt(world.now)?.name;
