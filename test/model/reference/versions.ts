/** The calendar of versions, and migrations (D-03, D-80, D-82). */
import { asObject, type GraphRequest, inBody, inQuery } from "./requests.ts";
import type { Calendar, MarketingRelease, Migration, VersionsEntry, World } from "./world.ts";

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 1000;

/** The releases of the general interface, the oldest first. */
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

/**
 * D-03: the version that serves requests whose path names this version. The profile `clients` serves a version before the first release as the first
 * release.
 */
export const countingVersion = ({ profile }: World, version: string | undefined): string | undefined =>
  profile === "clients" && version !== undefined && Number(version) < 20 ? "20.0" : version;

/** D-03: the default version of an app: the newest version at the time when the app was created. */
export function defaultVersion(world: World, app: string): string {
  const created = world.apps.get(app)?.created_time ?? world.now;
  return RELEASES.findLast(([, released]) => released <= created)?.[0] ?? "20.0";
}

const marketing = (version: string, released: string, until?: string): MarketingRelease => ({
  ...{ version, released: day(released), affects: [] },
  ...(until === undefined ? {} : { until: day(until) }),
});

/** The standard calendar (D-80), with the window of the built-in migration (D-122). */
const STANDARD: Calendar = {
  marketing: [
    marketing("20.0", "2024-05-21", "2025-05-06"),
    marketing("21.0", "2024-10-02", "2025-09-09"),
    marketing("22.0", "2025-01-21", "2026-02-10"),
    marketing("23.0", "2025-05-29", "2026-06-09"),
    marketing("24.0", "2025-10-08", "2026-10-06"),
    marketing("25.0", "2026-02-18"),
  ],
  migrations: [{ name: "label_names_case_insensitive", start: day("2026-10-01"), end: day("2027-10-01") }],
};

/**
 * The calendar that a world file's entry describes. D-122: the versions of an own calendar replace all standard ones; its migrations are added, or
 * replace standard ones of the same name.
 */
export const calendarOf = ({ marketing: versions = STANDARD.marketing, migrations = [] }: VersionsEntry): Calendar => ({
  marketing: versions,
  migrations: [...STANDARD.migrations.filter(({ name }) => !migrations.some((one) => one.name === name)), ...migrations],
});

const isOpen = ({ now }: World, { start, end }: Migration): boolean => now >= start && now < end;

/** A flag. D-34: a flag may be given as a text. */
const flagOf = (value: unknown): boolean | undefined => {
  if (typeof value === "boolean") return value;
  return value === "true" ? true : value === "false" ? false : undefined;
};

/** The switches of migrations in a request; undefined if the window of a migration is not open, or a value is not a boolean (D-82). */
export function readSwitches(world: World, value: unknown): Readonly<Record<string, boolean>> | undefined {
  const given = asObject(value);
  if (given === undefined) return undefined;
  const switches: Record<string, boolean> = {};
  for (const [name, on] of Object.entries(given)) {
    const migration = world.calendar.migrations.find((one) => one.name === name);
    const flag = flagOf(on);
    if (migration !== undefined && !isOpen(world, migration)) world.reach(world.now >= migration.end ? "migrationEnded" : "migrationNotBegun");
    if (migration === undefined || flag === undefined || !isOpen(world, migration)) return undefined;
    switches[name] = flag;
  }
  return switches;
}

const overrideOf = (request: GraphRequest): unknown => inQuery(request, "migrations_override") ?? inBody(request, "migrations_override");

export const isOverrideWrong = (world: World, request: GraphRequest): boolean =>
  overrideOf(request) !== undefined && readSwitches(world, overrideOf(request)) === undefined;

/**
 * D-82: whether a migration is on for an app. A migration is off before its window opens, and on after its window has closed. While the window is
 * open, the app decides; if the app has not decided, the migration is on for apps created after the window opened.
 */
function hasMigration(world: World, app: string, name: string): boolean {
  const migration = world.calendar.migrations.find((one) => one.name === name);
  if (migration === undefined || world.now < migration.start) return false;
  const { migrations = {}, created_time = 0 } = world.apps.get(app) ?? {};
  return world.now >= migration.end || (migrations[name] ?? created_time >= migration.start);
}

/** VER-7h: whether a migration is on for this request. */
export function isMigrated(world: World, app: string, name: string, request: GraphRequest): boolean {
  const override = overrideOf(request);
  if (override !== undefined) world.reach("migrationsOverride");
  return readSwitches(world, override)?.[name] ?? hasMigration(world, app, name);
}

const newestAt = ({ calendar }: World, moment: number) => calendar.marketing.findLast(({ released }) => released <= moment) ?? calendar.marketing[0];

/** The numbers that the interface document gives to the endpoints with marketing versions. */
const NUMBERS: Readonly<Record<string, string>> = { createCatalog: "G1", listArticlesAndPublications: "G2" };

export interface MarketingVersion {
  readonly served: string;
  /** The version that the path of the request names, if that version has ended. */
  readonly upgradedFrom?: string;
}

/** D-03, D-80, D-81: the marketing version that serves the request's operation; undefined if the request is refused. */
export function marketingVersion(world: World, id: string, asked: string | undefined, { name, edge }: Endpoint): MarketingVersion | undefined {
  const { now, calendar } = world;
  const { created_time = 0, marketing_first_used_time: used, auto_upgrade } = world.apps.get(id) ?? {};
  const place = calendar.marketing.findIndex(({ version }) => version === asked);
  const at = calendar.marketing[place];
  // VER-5: the version is not below the newest version at the time of the app's first use. D-80: if the clock was moved back, the version is not
  // above the newest version at the present time.
  const floor = newestAt(world, Math.min(now, Math.max(created_time, used ?? now)));
  if (at === undefined || floor === undefined || at.released > now || at.released < floor.released) return undefined;
  const isServed = ({ released, until = Number.POSITIVE_INFINITY }: MarketingRelease): boolean => released <= now && until > now;
  if (isServed(at)) return { served: at.version };
  if (auto_upgrade === false) return undefined;
  for (const next of calendar.marketing.slice(place + 1)) {
    if (next.affects.some((one) => one === name || one === edge || one === NUMBERS[name])) {
      world.reach("marketingAffected");
      return undefined;
    }
    if (isServed(next)) return { served: next.version, upgradedFrom: at.version };
  }
  return undefined;
}

interface Endpoint {
  readonly name: string;
  readonly edge: string;
}

/** The marketing version that serves requests whose path names no version. */
export const currentMarketingVersion = (world: World): string | undefined => newestAt(world, world.now)?.version;
