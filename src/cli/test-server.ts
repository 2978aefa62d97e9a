/** A server for tests. The server runs in the test's process, with free ports, data in memory, a log of errors only, and without live video. */
import { forTests } from "#config/for-tests";
import { type ConfigFile, readConfig, type Values } from "#config/read-config";
import { settings } from "#features";
import type { UnservedNames } from "#graph/worlds/unserved";
import type { InterceptedHosts } from "#http/intercept/intercepted-hosts";
import { type RunningPlaza, startPlaza } from "#main";
import { Log, outliveStrayFailures } from "#telemetry/log";
import { report } from "./process-end.ts";

export interface TestServer {
  /** The values that `plaza start --json` prints. */
  readonly ready: Readonly<Record<string, unknown>>;
  readonly controlKey: string;
  readonly fetchControl: RunningPlaza["fetchControl"];
  /** The port at which the server responds in place of intercepted hosts; undefined if no host is intercepted. */
  readonly interceptedPort: number | undefined;
  /** Returns, for each world, the names that programs requested and that Plaza does not have. */
  unserved(): readonly UnservedNames[];
  stop(): Promise<void>;
}

/**
 * Starts a server. The options in `flags` override environment variables and the config file. Throws an error in each case in which
 * `plaza start` prints an error.
 */
export async function startTestServer(
  flags: Values = {},
  environment: Values = {},
  file?: ConfigFile,
  intercepted?: InterceptedHosts,
): Promise<TestServer> {
  const { data, ...others } = forTests;
  // If the caller gives an external database, it replaces the data in memory, because both options together would be an error.
  const place = flags.databases === undefined ? { data } : {};
  const config = readConfig({ ...others, ...place, ...flags }, environment, file, settings);
  const log = new Log({ level: config.log_level, isPretty: config.pretty });
  const { ready, stop, interceptedPort, worlds, fetchControl } = await startPlaza(config, log, { part: "all", intercepted });
  return {
    ready: { ...ready },
    interceptedPort,
    fetchControl,
    controlKey: ready.control_key ?? config.control_key ?? "",
    unserved: () => worlds.unserved(),
    stop,
  };
}

/** Starts a server or another program, passes it to `use`, and ends this process with the exit code of `use` or of the failed start. */
export async function runAndExit<T>(start: () => Promise<T>, use: (started: T) => Promise<number>): Promise<never> {
  const log = new Log({ level: "error", isPretty: false });
  let started: T;
  try {
    started = await start();
  } catch (error) {
    return process.exit(await report(error, log));
  }
  outliveStrayFailures(log);
  // The program exits without waiting for the server, because the server is not needed any more.
  return process.exit(await use(started));
}
