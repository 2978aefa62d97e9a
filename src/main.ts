/** Puts the house together: the only file that knows every room. */
import type { Config } from "#config/config";
import { masterKeyOf } from "#config/secret-key";
import { type ControlServer, serveControl } from "#control/server";
import { apps } from "#features/apps";
import { businesses } from "#features/businesses";
import { customLabels } from "#features/custom-labels";
import { microblogAccounts } from "#features/microblog-accounts";
import { pages } from "#features/pages";
import { personas } from "#features/personas";
import { socialAccounts } from "#features/social-accounts";
import { tokenInspection } from "#features/token-inspection";
import { users } from "#features/users";
import { standardCalendar } from "#graph/calendar";
import { type OpenWorld, openWorld } from "#graph/open-world";
import { Registry } from "#graph/registry";
import type { Room } from "#graph/room";
import { findSetting, settingFact } from "#graph/settings.store";
import { newestVersion } from "#graph/versions";
import type { Profile } from "#graph/world";
import { profileSetting } from "#graph/world-file";
import { ReaderRegistry } from "#kernel/readers";
import { formatVersion } from "#kernel/versions";
import { surfaces } from "#surfaces/surfaces";
import { randomKey, randomSecret, realNowMs, SeededIds, TimeOrderedIds, tokenValue } from "#system";
import { errorFields, type Log } from "#telemetry/log";
import { beginWorld, type Demo } from "./first-world.ts";

/** In the order in which a world file's sections are loaded. */
export const rooms: readonly Room[] = [
  users,
  businesses,
  apps,
  pages,
  socialAccounts,
  microblogAccounts,
  customLabels,
  personas,
  tokenInspection,
];

export const buildRegistry = (): Registry => new Registry(rooms);

/** What is under way after this many ms is ended with the program (operating.md: Commands). */
const STOP_WITHIN_MS = 10_000;
/** 192 bits. */
const CONTROL_KEY_BYTES = 24;

/** The ready line of `plaza start --json`. */
export interface ReadyInfo {
  readonly ready: true;
  readonly base_url: string;
  readonly app_base_url: string;
  readonly microblog_base_url: string;
  readonly ads_base_url: string;
  readonly social_login_host: string;
  readonly control_url: string;
  /** Left out without the sandbox: nothing secret is printed there. */
  readonly control_key?: string;
  /** null: no live ingest runs. */
  readonly rtmp_url: string | null;
  readonly pid: number;
}

export interface RunningPlaza {
  readonly ready: ReadyInfo;
  /** While the demo world's tokens still work. */
  readonly demo: Demo | undefined;
  /** As it stands in a path, e.g. `v26.0`. */
  readonly newestVersion: string;
  /** No new calls; resolves when the running ones have ended, after 10 s at most. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Other processes listen on the graph's port too. */
  readonly isPortShared: boolean;
  /** The first process alone serves the control API and fills the world. */
  readonly isFirst: boolean;
}

const ALONE: StartOptions = { isPortShared: false, isFirst: true };

export async function startPlaza(config: Config, log: Log, options: StartOptions = ALONE): Promise<RunningPlaza> {
  const registry = buildRegistry();
  const world = await openDefaultWorld(config, registry, log);
  try {
    const demo = options.isFirst ? await beginWorld(world, registry, config, Bun.YAML.parse) : undefined;
    if (config.profile !== undefined) world.profile = config.profile;
  } catch (error) {
    await world.database.close();
    throw error;
  }
}
