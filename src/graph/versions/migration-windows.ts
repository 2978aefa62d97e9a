/**
 * D-82: decides whether a named migration is on for a request (VER-7a to VER-7h). The functions of this file are pure, so their results depend only
 * on their arguments.
 */
import { invalidParameter } from "#kernel/errors";
import { isNested } from "../request-text/parameter-tree.ts";
import { parseJsonParameter } from "../response/json.ts";
import type { MigrationWindow } from "./calendar.ts";

export interface MigratedApp {
  readonly created_time: number;
  readonly migrations: Readonly<Record<string, boolean>>;
}

/**
 * Whether the named migration is on. Before its window a migration is off, and after the window it is on. During the migration's window the request's
 * `migrations_override` decides. If the request has no override, the app's own setting decides whether the migration is on. If the app has no
 * setting, the migration is on if the app was created after the window began (VER-7c).
 */
export function isMigrationOn(window: MigrationWindow, app: MigratedApp, override: Readonly<Record<string, boolean>>, now: number): boolean {
  if (now < window.start) return false;
  if (now >= window.end) return true;
  return override[window.name] ?? app.migrations[window.name] ?? app.created_time >= window.start;
}

/** The names of the migrations that an app may switch at the moment. The windows of all other migrations have ended, or have not begun yet. */
export const openMigrations = (windows: readonly MigrationWindow[], now: number): string[] =>
  windows.filter(({ start, end }) => start <= now && now < end).map(({ name }) => name);

/**
 * VER-7g: reads the parameter `migrations_override`, a JSON object of names and booleans. Throws `invalidParameter` for an unknown name, for a
 * migration whose window is not open, and for a value that is not a boolean.
 */
export function readMigrationsOverride(value: unknown, windows: readonly MigrationWindow[], now: number): Readonly<Record<string, boolean>> {
  if (value === undefined) return {};
  const parameter = "migrations_override";
  const given = typeof value === "string" ? parseJsonParameter(value, parameter) : value;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalidParameter(parameter, "must be an object of migration names and booleans");
  // D-82: a client may write the parameter as `migrations_override[name]=true`. In this notation the values of the migrations are texts.
  const areTexts = isNested(given);
  const switches: Record<string, boolean> = Object.create(null);
  for (const [name, isOn] of Object.entries(given)) {
    const window = windows.find((known) => known.name === name);
    if (window === undefined) throw invalidParameter(parameter, `names an unknown migration: ${name}`);
    if (now < window.start || now >= window.end) throw invalidParameter(parameter, `names a migration whose window is not open: ${name}`);
    const isTrue = isOn === true || (areTexts && isOn === "true");
    if (!isTrue && isOn !== false && !(areTexts && isOn === "false")) throw invalidParameter(parameter, `must give true or false for ${name}`);
    switches[name] = isTrue;
  }
  return switches;
}
