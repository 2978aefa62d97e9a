/** The profile and the version calendar of a world, as a world file sets them. The clock of a world stores its own settings. */
import { Type } from "typebox";
import { formatVersion, type Version } from "#kernel/versions";
import type { Reader, Transaction } from "#storage/database";
import { calendarWith, type Release, standardCalendar, type VersionCalendar, type VersionsEntry, versionsEntry } from "../versions/calendar.ts";
import { described, worldTime } from "./file/schema-words.ts";
import { findSetting, saveSetting, settingFact } from "./settings.store.ts";
import type { Profile, World } from "./world.ts";

const clockEntry = Type.Object(
  {
    now: Type.Optional(described("the time, in Unix seconds or ISO 8601 (default: the real time)", worldTime)),
    frozen: Type.Boolean({ default: false, description: "whether the clock stands still until it is set or advanced" }),
  },
  { additionalProperties: false, description: "the world's time, and whether it is frozen" },
);

/** The schemas of the keys of a world file that do not belong to a feature. */
export const ownSchemas = {
  clock: clockEntry,
  profile: Type.Union([Type.Literal("strict"), Type.Literal("clients")], { description: "how strictly requests are read" }),
  versions: versionsEntry,
};

export interface WorldSettings {
  readonly profile: Profile | undefined;
  readonly calendar: VersionCalendar | undefined;
}

const PROFILE = "profile";
const VERSIONS = "versions";

/** Stores the world's settings without changing the world in memory. */
export async function saveSettings(tx: Transaction, { profile, calendar }: WorldSettings): Promise<void> {
  if (profile !== undefined) await saveSetting(tx, PROFILE, profile);
  if (calendar !== undefined) await saveSetting(tx, VERSIONS, JSON.stringify(entryOf(calendar)));
}

function useSettings(world: World, { profile, calendar }: WorldSettings): void {
  if (profile !== undefined) world.profile = profile;
  if (calendar !== undefined) world.calendar = calendar;
}

/**
 * Stores the world's settings by running `store`. While `store` runs, the world already has the new profile. If `store` rejects, the world in memory
 * gets its old settings back.
 */
export async function withSettings(world: World, settings: WorldSettings, store: () => Promise<void>): Promise<void> {
  const { profile } = world;
  world.profile = settings.profile ?? profile;
  try {
    await store();
  } catch (error) {
    world.profile = profile;
    throw error;
  }
  useSettings(world, settings);
}

/** Applies the stored settings to a world that has just opened, and again whenever another process changes them. */
export async function followSettings(world: World, onFailure: (error: unknown) => void): Promise<void> {
  useSettings(world, await readSettings(world.database.reader, world.calendar));
  world.database.onInvalidate((kind, key) => {
    if (kind !== undefined && (kind !== settingFact || (key !== PROFILE && key !== VERSIONS))) return;
    readSettings(world.database.reader, world.calendar).then((settings) => useSettings(world, settings), onFailure);
  });
}

/** The profile that is stored in a world. Undefined if the world uses the server's profile. */
export const storedProfile = async (reader: Reader): Promise<Profile | undefined> => (await findSetting(reader, PROFILE)) as Profile | undefined;

async function readSettings(reader: Reader, base: VersionCalendar): Promise<WorldSettings> {
  const versions = await findSetting(reader, VERSIONS);
  return {
    profile: await storedProfile(reader),
    calendar: versions === undefined ? undefined : calendarWith(base, JSON.parse(versions) as VersionsEntry),
  };
}

/** The version calendar as an entry of a world file. From the calendar's entry, `calendarWith` makes the same calendar again on any base. */
export const entryOf = ({ platform, migrationIntents, marketing, migrations }: VersionCalendar): VersionsEntry => ({
  ...addedBy(
    "platform",
    platform.filter(isAdded).map(({ version, released }) => ({ version: written(version), released })),
  ),
  ...addedBy("migration_intents", migrationIntents.filter((version) => !standardCalendar.migrationIntents.includes(version)).map(written)),
  marketing: marketing.map(({ version, released, until, affects }) => ({
    version: written(version),
    released,
    ...(until === undefined ? {} : { until }),
    affects: [...affects],
  })),
  migrations: [...migrations],
});

const written = (version: Version): string => formatVersion(version).slice(1);

/**
 * Whether a world file added the version to the calendar. The versions of the interface document are in every calendar, so they do not count as
 * added.
 */
const isAdded = ({ version, released }: Release): boolean =>
  !standardCalendar.platform.some((known) => known.version === version && known.released === released);

const addedBy = <K extends string, T>(key: K, values: readonly T[]): { [key in K]?: T[] } =>
  (values.length === 0 ? {} : { [key]: [...values] }) as { [key in K]?: T[] };
