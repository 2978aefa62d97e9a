/** The version calendar as data (D-80), migration windows (D-82), and the rules that a calendar must keep. */
import { type Static, Type } from "typebox";
import { parseVersion, type Version } from "#kernel/versions";
import { secondsOf, WorldProblem, worldTime } from "../worlds/file/schema-words.ts";

export interface Release {
  readonly version: Version;
  /** Unix seconds. */
  readonly released: number;
}

export interface MarketingVersion extends Release {
  /** Unix seconds at which it stops working; undefined: not announced. */
  readonly until: number | undefined;
  /** The endpoints that this version's changes affect: an operation, an edge, or an endpoint's number (`G2`). */
  readonly affects: readonly string[];
}

export interface MigrationWindow {
  readonly name: string;
  /** Unix seconds. */
  readonly start: number;
  readonly end: number;
}

export interface VersionCalendar {
  /** Oldest first: the versions of {base_url} and {social_login_host} (VER-1b). */
  readonly platform: readonly Release[];
  /** VER-1c: the versions that migration intents take. */
  readonly migrationIntents: readonly Version[];
  /** Oldest first (VER-2a, VER-3a). */
  readonly marketing: readonly MarketingVersion[];
  readonly migrations: readonly MigrationWindow[];
}

const DAY_SECONDS = 86_400;
/** LIM-14, VER-7b. */
const GRACE_DAYS = 90;
const GRACE_SECONDS = GRACE_DAYS * DAY_SECONDS;

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 1000;

const marketing = (version: Version, released: string, until?: string): MarketingVersion => ({
  version,
  released: day(released),
  until: until === undefined ? undefined : day(until),
  affects: [],
});

/** D-82: the one migration with a visible effect. */
const labelNamesMigration = "label_names_case_insensitive";

/** D-80. */
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

/** What a world file or the configuration may say under `versions`. */
export const versionsEntry = Type.Object(
  {
    marketing: Type.Optional(
      Type.Array(
        Type.Object(
          { version: Type.String(), released: worldTime, until: Type.Optional(worldTime), affects: Type.Array(Type.String(), { default: [] }) },
          { additionalProperties: false },
        ),
      ),
    ),
    migrations: Type.Optional(
      Type.Array(Type.Object({ name: Type.String({ minLength: 1 }), start: worldTime, end: worldTime }, { additionalProperties: false })),
    ),
  },
  { additionalProperties: false },
);
export type VersionsEntry = Static<typeof versionsEntry>;

/**
 * The calendar `base` with an entry applied: the entry's marketing versions replace those of the base, its migrations are added.
 * Throws `WorldProblem` for a calendar that breaks D-80.
 */
export function calendarWith(base: VersionCalendar, entry: VersionsEntry): VersionCalendar {
  const versions = entry.marketing?.map((given, index) => {
    const place = `marketing[${index}]`;
    const version = parseVersion(given.version.startsWith("v") ? given.version : `v${given.version}`);
    if (version === undefined) throw new WorldProblem(`${place}.version`, "must be a version such as 25.0");
    return {
      version,
      released: secondsOf(given.released, `${place}.released`),
      until: given.until === undefined ? undefined : secondsOf(given.until, `${place}.until`),
      affects: given.affects,
    };
  });
  const migrations = (entry.migrations ?? []).map(({ name, start, end }, index) => ({
    name,
    start: secondsOf(start, `migrations[${index}].start`),
    end: secondsOf(end, `migrations[${index}].end`),
  }));
  const names = new Set(migrations.map(({ name }) => name));
  const calendar: VersionCalendar = {
    ...base,
    marketing: versions === undefined || versions.length === 0 ? base.marketing : versions.sort((a, b) => a.version - b.version),
    migrations: [...base.migrations.filter(({ name }) => !names.has(name)), ...migrations],
  };
  checkCalendar(calendar);
  return calendar;
}

/** D-80, VER-3a, VER-7b: the grace after a release and a migration's window are never under 90 days. */
export function checkCalendar({ marketing: versions, migrations }: VersionCalendar): void {
  for (const [index, next] of versions.entries()) {
    if (next.until !== undefined && next.until <= next.released) throw new WorldProblem(`marketing[${index}].until`, "is not after the release");
    const previous = versions[index - 1];
    if (previous === undefined) continue;
    const place = `marketing[${index}]`;
    if (next.version === previous.version) throw new WorldProblem(place, `repeats the version ${next.version}.0`);
    if (next.released < previous.released) throw new WorldProblem(`${place}.released`, "is before the release of the version before it");
    if (previous.until !== undefined && previous.until - next.released < GRACE_SECONDS) {
      throw new WorldProblem(`marketing[${index - 1}].until`, `leaves less than ${GRACE_DAYS} days after the release of ${next.version}.0`);
    }
  }
  for (const [index, { name, start, end }] of migrations.entries()) {
    if (end - start < GRACE_SECONDS) throw new WorldProblem(`migrations[${index}]`, `${name} has a window of less than ${GRACE_DAYS} days`);
  }
}
