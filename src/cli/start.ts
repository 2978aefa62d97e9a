/** `plaza start`. */
import { findConfigFile } from "#config/config-file";
import { environment } from "#config/environment";
import { readConfig, variableWarnings } from "#config/read-config";
import { settings } from "#features";
import { type RunningPlaza, startPlaza } from "#main";
import { Log } from "#telemetry/log";
import { outliveStrayFailures } from "#telemetry/stray-failures";
import { outputClosed } from "./closed-pipe.ts";
import { endWhenAsked, exitCodeOf, explain, nextSignal } from "./process-end.ts";

/** Resolves with the exit code when the server has ended. */
export async function start(flags: Readonly<Record<string, unknown>>): Promise<number> {
  const asked = nextSignal();
  // A script may read the first line and close the pipe; the server runs on.
  void outputClosed();
  // bin/plaza.mjs keeps a channel to the server, and ended without a word: nothing else would end the server.
  if (process.send !== undefined) process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  let log = new Log({ level: "info", isPretty: false });
  try {
    const config = readConfig(flags, environment(), await findConfigFile(flags), settings);
    log = new Log({ level: config.log_level, isPretty: config.pretty });
    outliveStrayFailures(log);
    for (const warning of variableWarnings(environment(), settings)) log.warn({}, warning);
    const plaza = config.workers > 1 ? await (await import("./workers.ts")).startWithWorkers(config, log) : await startPlaza(config, log);
    if (config.json) process.stdout.write(`${JSON.stringify(plaza.ready)}\n`);
    else if (config.sandbox) process.stdout.write((await import("./announce.ts")).announcement(plaza, config.callback));
    logReady(log, plaza);
    return await endWhenAsked(asked, plaza, log);
  } catch (error) {
    explain(error, log);
    await log.flush();
    // Exits at once: a running timeout would keep the program alive for seconds.
    return process.exit(exitCodeOf(error));
  }
}

function logReady(log: Log, { ready }: RunningPlaza): void {
  const { control_key: _, ready: __, ...addresses } = ready;
  log.info(addresses, "ready");
}
