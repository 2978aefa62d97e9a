/** `plaza intercept`: starts a server like `plaza start`, and a proxy for programs that the user starts by hand. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigProblem } from "#config/config";
import { unservedReport } from "#control/client/unserved";
import { type RunningPlaza, startPlaza } from "#main";
import type { Log } from "#telemetry/log";
import { note, printable } from "../terminal/output.ts";
import { type Interception, intercept } from "./interception.ts";

export interface InterceptingPlaza extends RunningPlaza {
  /** The file with environment variables for the user's shell. */
  readonly variablesFile: string;
}

/** Starts the server and the proxy. Throws `ConfigProblem`. */
export async function startIntercepting(
  config: Config,
  log: Log,
  interception: Interception,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<InterceptingPlaza> {
  if (config.workers > 1) throw new ConfigProblem("--workers", "plaza intercept runs in one process; leave the option out");
  const plaza = await startPlaza(config, log, { part: "all", intercepted: interception.hosts });
  try {
    const running = await intercept(interception, Number(plaza.interceptedPort), variables);
    const variablesFile = join(running.folder, "variables.sh");
    const lines = Object.entries(running.variables).map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`);
    writeFileSync(variablesFile, lines.join(""));
    return {
      ...{ ...plaza, variablesFile },
      stop: async (others) => {
        process.stderr.write(running.report());
        for (const line of unservedReport(plaza.worlds.unserved())) note(printable(line));
        await running.stop();
        await plaza.stop(others);
      },
    };
  } catch (error) {
    await plaza.stop();
    throw error;
  }
}
