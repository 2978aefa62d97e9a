/** What an operator may set for one feature: by flag, environment variable or config file, as the server's own options. */
import type { World } from "../worlds/world.ts";

export interface Setting {
  /** Unique in the server, with the unit last, e.g. `labels_per_page_max`. */
  readonly name: string;
  /** What stands behind the flag, e.g. `N`. */
  readonly value: string;
  /** Any safe integer from here on. */
  readonly minimum: number;
  readonly default: number;
  /** For `--help` and the configuration page. */
  readonly summary: string;
}

export const defineSetting = (setting: Setting): Setting => setting;

/** What the operator set for the world, else the default. */
export const readSetting = ({ settings }: Pick<World, "settings">, { name, default: otherwise }: Setting): number => settings[name] ?? otherwise;
