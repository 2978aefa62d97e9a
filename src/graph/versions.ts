/**
 * The version calendar as data (D-80) and the rules by which a call gets its version (D-03, D-83).
 */
import { unknownPath } from "#kernel/errors";
import { formatVersion, type Version } from "#kernel/versions";
import type { VersionRule } from "./version-rules.ts";

export interface Release {
  readonly version: Version;
  /** Unix seconds. */
  readonly released: number;
}

export interface VersionCalendar {
  /** Oldest first: the versions of {base_url} and {social_login_host}. */
  readonly platform: readonly Release[];
  /** VER-1c: the versions that migration intents take. */
  readonly migrationIntents: readonly Version[];
}

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 1000;

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
};

/** D-03: the newest version when the app was created; the oldest for an app older than the calendar. */
export function defaultVersion(calendar: VersionCalendar, appCreatedTime: number): Version {
  let chosen = calendar.platform[0] as Release;
  for (const release of calendar.platform) if (release.released <= appCreatedTime) chosen = release;
  return chosen.version;
}

export const newestVersion = (calendar: VersionCalendar): Version => (calendar.platform[calendar.platform.length - 1] as Release).version;

export const isListed = (calendar: VersionCalendar, version: Version): boolean => calendar.platform.some((release) => release.version === version);

/** The version that serves a call; `asked` is listed already. Throws `unknownPath` where the rule does not take it. */
export function servedVersion(
  rule: VersionRule,
  asked: Version | undefined,
  calendar: VersionCalendar,
  appCreatedTime: number,
  path: string,
): Version {
  switch (rule) {
    case "platform":
      return asked ?? defaultVersion(calendar, appCreatedTime);
    case "migrationIntents":
      // VER-1c, D-03: only with a version, and only with one of these.
      if (asked === undefined) throw unknownPath(path);
      if (!calendar.migrationIntents.includes(asked)) throw unknownPath(`/${formatVersion(asked)}`);
      return asked;
    case "unversioned":
      return newestVersion(calendar);
  }
}
