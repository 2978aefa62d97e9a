/**
 * The version calendar as data (D-80), and the rules for it. The calendar also has the windows of migrations, which are the periods in which apps may
 * switch a migration on or off (D-82).
 */
import { type Static, Type } from "typebox";
import { suggestion } from "#kernel/suggestion";
import { formatVersion, parseVersion, type Version } from "#kernel/versions";
import { described, WorldProblem, worldTime } from "../worlds/file/schema-words.ts";

export interface Release {
  readonly version: Version;
  /** The time at which the version is released, in Unix seconds. */
  readonly released: number;
}

export interface MarketingVersion extends Release {
  /** The time from which the server no longer serves the version, in Unix seconds. Undefined if no end of the version has been announced. */
  readonly until: number | undefined;
  /**
   * The endpoints whose behaviour the version changes. The list names an endpoint by its operation, its edge, or its number in the interface (`G2`).
   */
  readonly affects: readonly string[];
}

/** The period in which each app decides when to switch on a migration. A migration is a named change of behaviour (D-82). */
export interface MigrationWindow {
  readonly name: string;
  /** The time at which the migration's window begins, in Unix seconds. */
  readonly start: number;
  readonly end: number;
}

export interface VersionCalendar {
  /** The versions of {base_url} and {social_login_host}, oldest first (VER-1b). */
  readonly platform: readonly Release[];
  /** VER-1c: the versions in which migration intents are served. */
  readonly migrationIntents: readonly Version[];
  /** The marketing versions, oldest first (VER-2a, VER-3a). */
  readonly marketing: readonly MarketingVersion[];
  readonly migrations: readonly MigrationWindow[];
}

const DAY_SECONDS = 86_400;
/**
 * The shortest time between the release of a version and the end of the previous version. The shortest window of a migration has the same length
 * (LIM-14, VER-7b).
 */
const GRACE_DAYS = 90;
const GRACE_SECONDS = GRACE_DAYS * DAY_SECONDS;

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 1000;

const marketing = (version: Version, released: string, until?: string): MarketingVersion => ({
  version,
  released: day(released),
  until: until === undefined ? undefined : day(until),
  affects: [],
});

/** D-82: the name of the only migration that has a visible effect. */
const labelNamesMigration = "label_names_case_insensitive";

/** D-80: the calendar of a world whose file has no `versions`. */
export const standardCalendar: VersionCalendar = {
  platform: [
    { version: 20, released: day("2024-05-21") },
    { version: 21, released: day("2024-10-02") },
    { version: 22, released: day("2025-01-21") },
    { version: 23, released: day("2025-05-29") },
    { version: 24, released: day("2025-10-08") },
    { version: 25, released: day("2026-02-18") },
    { version: 26, released: day("2026-07-29") },
  ],
  migrationIntents: [23, 24, 25],
  marketing: [
    marketing(20, "2024-05-21", "2025-05-06"),
    marketing(21, "2024-10-02", "2025-09-09"),
    marketing(22, "2025-01-21", "2026-02-10"),
    marketing(23, "2025-05-29", "2026-06-09"),
    marketing(24, "2025-10-08", "2026-10-06"),
    marketing(25, "2026-02-18"),
  ],
  migrations: [{ name: labelNamesMigration, start: day("2026-10-01"), end: day("2027-10-01") }],
};

const closed = { additionalProperties: false };
const versionName = Type.String({ description: "the version, such as 25.0" });

/** The schema of `versions` in a world file. */
export const versionsEntry = Type.Object(
  {
    marketing: Type.Optional(
      Type.Array(
        Type.Object(
          {
            version: versionName,
            released: described("the time from which the version is served", worldTime),
            until: Type.Optional(
              described("the time from which the version is no longer served; at least 90 days after the release of the next version", worldTime),
            ),
            affects: Type.Array(Type.String(), {
              default: [],
              description:
                "the endpoints that the version changed, as operations, edges or numbers such as G2; requests to them are not upgraded to this version",
            }),
          },
          closed,
        ),
        { minItems: 1, description: "the versions of catalogs and feeds, which replace all built-in ones" },
      ),
    ),
    platform: Type.Optional(
      Type.Array(Type.Object({ version: versionName, released: described("the time from which the version is served", worldTime) }, closed), {
        description: "versions of all other endpoints, beside v20.0 to v26.0; each is the default of apps that are created while it is the newest",
      }),
    ),
    migration_intents: Type.Optional(Type.Array(versionName, { description: "versions of migration intents, beside v23.0 to v25.0" })),
    migrations: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String({ minLength: 1, description: "the migration's name" }),
            start: described("the time from which an app can switch the migration on; for apps created later, the migration is on", worldTime),
            end: described("the time from which the migration is on for all apps; at least 90 days after the start", worldTime),
          },
          closed,
        ),
        { description: "migrations by name, beside the built-in migration; a migration of the same name replaces the built-in one" },
      ),
    ),
  },
  { additionalProperties: false, description: "the version calendar; a key that is left out does not change" },
);
export type VersionsEntry = Static<typeof versionsEntry>;

function readVersion(given: string, path: string): Version {
  const version = parseVersion(given.startsWith("v") ? given : `v${given}`);
  if (version === undefined) throw new WorldProblem(path, "must be a version such as 25.0");
  return version;
}

const byVersion = (one: Release, other: Release): number => one.version - other.version;

/** The path in the world file of each version or migration that was read from the file. */
type Places = Map<object, string>;

/**
 * The calendar `base`, changed by the `versions` of a world file. The marketing versions of the world file replace those of `base`; its other
 * versions and migrations are added to `base`. Throws `WorldProblem` if the calendar violates D-80.
 */
export function calendarWith(base: VersionCalendar, entry: VersionsEntry): VersionCalendar {
  const places: Places = new Map();
  const itemsOf = <T, R extends object>(list: string, given: readonly T[] | undefined, read: (item: T, place: string) => R): R[] =>
    (given ?? []).map((item, index) => {
      const place = `${list}[${index}]`;
      const result = read(item, place);
      places.set(result, place);
      return result;
    });
  const versionAt = ({ version }: { readonly version: string }, place: string): Version => readVersion(version, `${place}.version`);
  const platform = itemsOf("platform", entry.platform, (given, place): Release => ({ ...given, version: versionAt(given, place) }));
  const versions = itemsOf(
    "marketing",
    entry.marketing,
    (given, place): MarketingVersion => ({
      ...{ until: undefined, ...given },
      version: versionAt(given, place),
    }),
  );
  const migrations = itemsOf("migrations", entry.migrations, (given) => ({ ...given }));
  const intents = (entry.migration_intents ?? []).map((version, index) => readVersion(version, `migration_intents[${index}]`));
  const added = new Set(platform.map(({ version }) => version));
  const names = new Set(migrations.map(({ name }) => name));
  const calendar: VersionCalendar = {
    platform: [...base.platform.filter(({ version }) => !added.has(version)), ...platform].sort(byVersion),
    migrationIntents: [...new Set([...base.migrationIntents, ...intents])].sort((one, other) => one - other),
    marketing: entry.marketing === undefined ? base.marketing : versions.sort(byVersion),
    migrations: [...base.migrations.filter(({ name }) => !names.has(name)), ...migrations],
  };
  checkCalendar(calendar, places);
  return calendar;
}

/**
 * D-80, VER-3a, VER-7b: checks that the older version is served for at least 90 days after a release, and that the window of a migration has at least
 * 90 days.
 */
export function checkCalendar({ platform, marketing: versions, migrations }: VersionCalendar, places: Places = new Map()): void {
  requireOrder(platform, "platform", places);
  requireOrder(versions, "marketing", places);
  for (const [index, next] of versions.entries()) {
    const place = places.get(next) ?? `marketing[${index}]`;
    if (next.until !== undefined && next.until <= next.released) throw new WorldProblem(`${place}.until`, "is not after the release");
    const previous = versions[index - 1];
    if (previous?.until !== undefined && previous.until - next.released < GRACE_SECONDS) {
      throw new WorldProblem(
        `${places.get(previous) ?? `marketing[${index - 1}]`}.until`,
        `leaves less than ${GRACE_DAYS} days after the release of ${formatVersion(next.version)}`,
      );
    }
  }
  for (const [index, migration] of migrations.entries()) {
    const { name, start, end } = migration;
    const place = places.get(migration) ?? `migrations[${index}]`;
    if (end - start < GRACE_SECONDS) throw new WorldProblem(place, `${name} has a window of less than ${GRACE_DAYS} days`);
    if (migrations.findIndex((other) => other.name === name) < index) throw new WorldProblem(`${place}.name`, `repeats the migration ${name}`);
  }
}

function requireOrder(versions: readonly Release[], list: string, places: Places): void {
  for (const [index, next] of versions.entries()) {
    const previous = versions[index - 1];
    if (previous === undefined) continue;
    const place = places.get(next);
    if (next.version === previous.version) throw new WorldProblem(place ?? `${list}[${index}]`, `repeats the version ${formatVersion(next.version)}`);
    if (next.released >= previous.released) continue;
    // If only the earlier of two versions comes from the world file, the error names the path of the earlier version.
    const placeBefore = place === undefined ? places.get(previous) : undefined;
    throw placeBefore === undefined
      ? new WorldProblem(`${place ?? `${list}[${index}]`}.released`, "is before the release of the previous version")
      : new WorldProblem(`${placeBefore}.released`, `is after the release of ${formatVersion(next.version)}`);
  }
}

/**
 * D-81: throws `WorldProblem` for a name in `affects` that no endpoint has. If a misspelt name in `affects` were accepted, requests would be upgraded
 * although the version changes their endpoint. `names` are the names of all endpoints of the server.
 */
export function requireEndpoints({ marketing: versions = [] }: VersionsEntry, names: ReadonlySet<string>): void {
  for (const [index, { affects }] of versions.entries()) {
    const at = affects.findIndex((name) => !names.has(name));
    const unknown = affects[at];
    if (unknown !== undefined)
      throw new WorldProblem(
        `marketing[${index}].affects[${at}]`,
        `is not an operation, an edge or a number of an endpoint: ${unknown}${suggestion(unknown, [...names])}`,
      );
  }
}

/**
 * D-82: throws `WorldProblem` for a migration that the calendar does not have. `names` are the names of migrations under `path` in the world file.
 */
export function requireMigrations(names: readonly string[], path: string, { migrations }: VersionCalendar): void {
  const known = migrations.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new WorldProblem(`${path}.${unknown}`, `is not a migration of the calendar${suggestion(unknown, known)}`);
}
