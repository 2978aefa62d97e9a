/** The option `--watch`: while the server runs, changes of the file of `--world` are applied to the world (D-195). */
import { readFile, stat } from "node:fs/promises";
import type { Config } from "#config/config";
import type { Registry } from "#graph/contract/registry";
import { reloadWorld } from "#graph/worlds/file/reload";
import { WorldFileProblem } from "#graph/worlds/file/text";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import { errorFields, type Log } from "#telemetry/log";

/**
 * The interval at which the server checks the file. The interval is so short that a person who saves the file notices no delay, and each check takes
 * only one `stat`.
 */
const LOOK_EVERY_MS = 250;

export interface WatchedWorld {
  /** Stops watching the file. Resolves when no change of the file is being applied any more. */
  stop(): Promise<void>;
}

/** Watches the file of `--world`. The parameter `loaded` is the text of the file from which the first world was filled. */
export function watchWorld(worlds: Worlds, registry: Registry, config: Config, loaded: string, log: Log): WatchedWorld {
  const file = config.world as string;
  let applied = loaded;
  let seen: string | undefined;
  let read: string | undefined;
  let looking = Promise.resolve();

  const look = async (): Promise<void> => {
    const signature = await signatureOf(file);
    const isStill = signature === seen;
    seen = signature;
    // If the file is still changing, an editor may be writing it. If the file is missing, an editor may be replacing it with a new file. If the file
    // is changing or missing, the server waits for a later check.
    if (!isStill || signature === undefined || signature === read) return;
    read = signature;
    const text = await readFile(file, "utf8");
    if (text === applied) return;
    // `worlds.default` is read for each change, because the first world is a new object after it is reset or restored.
    const world = worlds.default;
    const { warnings, ...counts } = await reloadWorld(world, registry, applied, requireText(text));
    applied = text;
    // The option overrides the value in the world file, as it does when the server starts.
    if (config.profile !== undefined) world.profile = config.profile;
    for (const warning of warnings) log.warn({ world: file }, warning);
    log.info({ world: file, ...counts }, "the world file has changed and was applied");
  };
  const report = (error: unknown): void => {
    if (error instanceof WorldFileProblem)
      log.warn({ world: file, problem: error.message }, "the world file has an error and is not applied; the world does not change");
    else log.error({ world: file, ...errorFields(error) }, "the world file could not be applied");
  };
  let isBusy = false;
  // A timer checks the file, because no other method works on every file system and through links when a file is written or replaced.
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    looking = look()
      .catch(report)
      .finally(() => {
        isBusy = false;
      });
  }, LOOK_EVERY_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}

/** Returns a text that changes whenever the file changes, or undefined while the file does not exist. */
export async function signatureOf(file: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return undefined;
  }
}

/** Refuses an empty world file. Applying an empty file would remove everything, and an editor is most likely writing the file at this moment. */
function requireText(text: string): string {
  if (text.trim() === "") throw new WorldFileProblem("the file is empty", "", undefined);
  return text;
}
