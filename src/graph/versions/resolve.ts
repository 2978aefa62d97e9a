/**
 * The step `version`: chooses the version that serves a request (D-03, D-80, D-81, D-83; VER-1 to VER-6). The functions that choose a version are
 * pure: they depend only on a calendar, an app and a time.
 */
import { type GraphError, unknownPath, versionDeprecated } from "#kernel/errors";
import { formatVersion, type Version } from "#kernel/versions";
import type { SurfaceName } from "../pipeline/request.ts";
import { type MarketingVersion, type Release, standardCalendar, type VersionCalendar } from "./calendar.ts";

const isOf = (releases: readonly Release[], version: Version): boolean => releases.some((release) => release.version === version);

/**
 * Whether the server serves a version at a time. D-80: a version that only a calendar has is served from its release on. The versions of the
 * interface document are always served, even if the clock is moved back to a time before their release.
 */
export const isReleased = ({ version, released }: Release, now: number): boolean => released <= now || isOf(standardCalendar.platform, version);

/**
 * D-03: the version of a request without a version in its path. The default version of an app is the newest version at the time when the app was
 * created. An app that is older than the calendar gets the oldest version as its default.
 */
export function defaultVersion(calendar: VersionCalendar, appCreatedTime: number, now: number): Version {
  let chosen = calendar.platform[0] as Release;
  for (const release of calendar.platform) if (release.released <= appCreatedTime && isReleased(release, now)) chosen = release;
  return chosen.version;
}

/** The newest version at the time `now`, in Unix seconds. */
export const newestVersion = ({ platform }: VersionCalendar, now: number): Version =>
  (platform.findLast((release) => isReleased(release, now)) ?? (platform[0] as Release)).version;

/**
 * D-03: whether the calendar has the version for any endpoint. Future marketing versions count as versions, too, because a request with such a
 * version has an error of its own.
 */
export const isNamed = ({ platform, marketing, migrationIntents }: VersionCalendar, version: Version, now: number): boolean =>
  platform.some((release) => release.version === version && isReleased(release, now)) ||
  isOf(marketing, version) ||
  migrationIntents.includes(version);

/**
 * D-03 [clients]: the version that the profile `clients` uses instead of the version in the path. A client library often has an old version built in.
 * The real platform serves an expired version as its oldest one, and so does the profile `clients`.
 */
export const forClients = (calendar: VersionCalendar, version: Version, now: number): Version => {
  const [oldest] = calendar.platform as readonly [Release, ...Release[]];
  return version < oldest.version && !isNamed(calendar, version, now) ? oldest.version : version;
};

/** The error about a version in the path that is not served. `served` are the versions that the error names as available. */
const unknownVersion = (version: Version, served: readonly Version[]): GraphError =>
  unknownPath(`/${formatVersion(version)}`, [...new Set(served)].sort((one, other) => one - other).map(formatVersion));

const releasedOf = ({ platform }: VersionCalendar, now: number): Version[] =>
  platform.filter((release) => isReleased(release, now)).map(({ version }) => version);

/** D-03: the error about a version that the calendar does not have for any endpoint. */
export const unnamedVersion = (calendar: VersionCalendar, version: Version, now: number): GraphError =>
  unknownVersion(version, [...releasedOf(calendar, now), ...calendar.marketing.map((one) => one.version), ...calendar.migrationIntents]);

/** The facts about an app that decide its versions. */
export interface VersionedApp {
  readonly created_time: number;
  /** The time of the app's first marketing request in Unix seconds, or 0 if the current request is the first one. */
  readonly marketing_first_used_time: number;
  readonly auto_upgrade: boolean;
}

export interface ServedVersion {
  readonly version: Version;
  /** The version of the path, set if it is deprecated and the request was upgraded (VER-6f). */
  readonly upgradedFrom?: Version;
}

interface VersionInput {
  readonly rule: VersionRule;
  /** The version of the path, which the step `address` found in the calendar. Undefined if the request's path has no version. */
  readonly requested: Version | undefined;
  readonly app: VersionedApp;
  readonly calendar: VersionCalendar;
  /** The time of the request in Unix seconds. */
  readonly now: number;
  /** The names by which `affects` may refer to the endpoint: operation, edge and endpoint number. */
  readonly names: readonly string[];
  readonly path: string;
}

/** Chooses the version that serves a request. Throws `unknownPath` or `versionDeprecated` if the endpoint does not serve the requested version. */
export function servedVersion(input: VersionInput): ServedVersion {
  const { rule, requested, app, calendar, now, path } = input;
  switch (rule) {
    case "platform":
      if (requested === undefined) return { version: defaultVersion(calendar, app.created_time, now) };
      // The calendar may have the version for other endpoints only, or may serve it only from a later time on.
      if (!calendar.platform.some((release) => release.version === requested && isReleased(release, now)))
        throw unknownVersion(requested, releasedOf(calendar, now));
      return { version: requested };
    case "migrationIntents":
      // VER-1c, D-03: the path of a migration intent must have a version, and the server serves only these versions.
      if (requested === undefined) throw unknownPath(path);
      if (!calendar.migrationIntents.includes(requested)) throw unknownVersion(requested, calendar.migrationIntents);
      return { version: requested };
    case "unversioned":
      return { version: newestVersion(calendar, now) };
    case "marketing":
      // VER-4a: a marketing request without a version is refused.
      if (requested === undefined) throw versionDeprecated("A request to the marketing interface must name a version in its path");
      return marketingVersion(input, requested);
    case "marketingOrCurrent":
      return marketingVersion(input, requested ?? newestAt(calendar.marketing, now).version);
  }
}

/** VER-2a: the newest marketing version at a moment. Returns the oldest version for a moment before the calendar begins. */
function newestAt(versions: readonly MarketingVersion[], moment: number): MarketingVersion {
  let chosen = versions[0] as MarketingVersion;
  for (const version of versions) if (version.released <= moment) chosen = version;
  return chosen;
}

/**
 * The oldest marketing version that the app may use. VER-5, D-81: marketing requests in an older version fail and are not upgraded. VER-5c: the
 * oldest allowed version is the newest one at the time of the app's first marketing request, which may be the current request. The oldest allowed
 * version is never older than the newest version at the time when the app was created. If the clock was moved back to a time before both events, the
 * newest version at the new time is used, because later versions do not exist yet.
 */
function floorOf({ calendar, app, now }: Pick<VersionInput, "calendar" | "app" | "now">): Version {
  const firstUse = app.marketing_first_used_time === 0 ? now : app.marketing_first_used_time;
  return newestAt(calendar.marketing, Math.min(now, Math.max(app.created_time, firstUse))).version;
}

function marketingVersion(input: VersionInput, requested: Version): ServedVersion {
  const { calendar, app, now, names } = input;
  const versions = calendar.marketing;
  const at = versions.findIndex(({ version }) => version === requested);
  const found = versions[at];
  if (found === undefined || found.released > now) throw versionDeprecated(`${formatVersion(requested)} is not a version of the marketing interface`);
  const floor = floorOf(input);
  const isAvailable = ({ released, until }: MarketingVersion) => released <= now && (until === undefined || until > now);
  // D-80: the error message advises only a version that the app can request now.
  const useful = versions.findLast((version) => version.version >= floor && isAvailable(version));
  const advice = useful === undefined ? "" : `; use ${formatVersion(useful.version)}`;
  if (requested < floor) throw versionDeprecated(`${formatVersion(requested)} is not available to this app${advice}`);
  if (isAvailable(found)) return { version: requested };

  const refused = (why: string) => versionDeprecated(`${formatVersion(requested)} is deprecated and ${why}${advice}`);
  // VER-6e: an app can switch off the automatic upgrade to a later version.
  if (!app.auto_upgrade) throw refused("the app has switched the automatic upgrade off");
  // VER-6a, VER-6c: the request is upgraded to the next available version. The upgrade is refused if one of the versions up to the new one changes
  // this endpoint.
  for (const next of versions.slice(at + 1)) {
    if (next.released > now) break;
    if (next.affects.some((name) => names.includes(name))) throw refused(`${formatVersion(next.version)} changed this endpoint`);
    if (isAvailable(next)) return { version: next.version, upgradedFrom: requested };
  }
  throw refused("no later version is available");
}

/** VER-6f, D-81: the text of the warning about an upgrade. */
export const upgradeWarning = ({ version, upgradedFrom = version }: ServedVersion): string =>
  `The call has been auto-upgraded to ${formatVersion(version)} as ${formatVersion(upgradedFrom)} has been deprecated`;

/** The rule that decides which versions an operation serves. */
export type VersionRule =
  /** VER-1b: this rule serves versions 20.0 to 26.0, or the app's default version if the path has no version. */
  | "platform"
  /** VER-1c: versions v23.0 to v25.0. The path must have a version. */
  | "migrationIntents"
  /** VER-1d, VER-1e: the surface's address or a header has the version. */
  | "unversioned"
  /** VER-2 to VER-6: the versions of the marketing calendar. The path must have a version (VER-4a). */
  | "marketing"
  /**
   * D-03: the versions of the marketing calendar. The path of the operation G1 has no version; a request without a version uses the current marketing
   * version.
   */
  | "marketingOrCurrent";

/** Whether a request counts as a use of the marketing interface (VER-5c). */
export const isMarketing = (rule: VersionRule): boolean => rule === "marketing" || rule === "marketingOrCurrent";

/** The version of each surface whose paths have no version. The version is undefined if the paths of the surface begin with the version. */
export const fixedVersions: Readonly<Record<SurfaceName, string | undefined>> = {
  base: undefined,
  app: "1.0.0",
  microblog: "v1.0",
  ads: undefined,
  social_login: undefined,
};
