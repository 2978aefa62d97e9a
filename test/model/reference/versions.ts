/** The calendar of versions, and migrations (D-03, D-80, D-82). */
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

/** D-82: on for apps created after the start, and for everybody after the end. */
export function hasMigration(world: World, app: string, name: string): boolean {
  if (name !== MIGRATION.name) return false;
  const { migrations = {}, created_time = 0 } = world.apps.get(app) ?? {};
  return world.now >= MIGRATION.end || (migrations[name] ?? created_time >= MIGRATION.start);
}
