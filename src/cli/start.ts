/** `plaza start`: runs a server. */

import type { Config } from "#config/config";
import { findConfigFile } from "#config/config-file";
import { environment } from "#config/option";
import { readConfig, variableWarnings } from "#config/read-config";
import { environmentWithSecrets } from "#config/secret-files";
import { findServer } from "#config/server-files";
import { settings } from "#features";
import { type RunningPlaza, startPlaza } from "#main";
import { isRunning } from "#storage/temporary-folder";
import { Log, outliveStrayFailures } from "#telemetry/log";
import { endWhenAsked, nextSignal, outputClosed, report } from "./process-end.ts";
import { note } from "./terminal/output.ts";

/** Runs the server. Resolves with the exit code when the server has ended. */
export async function start(flags: Readonly<Record<string, unknown>>): Promise<number> {
  const asked = nextSignal();
  // If a script reads only the first line and closes the pipe, the server goes on.
  void outputClosed();
  // The channel to bin/plaza.mjs closes if bin/plaza.mjs is killed. Without this listener the server would go on running
  // after bin/plaza.mjs was killed.
  if (process.send !== undefined) process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  let log = new Log({ level: "info", isPretty: false });
  try {
    const file = await findConfigFile(flags);
    const named = flags.as === undefined && flags.only === undefined ? undefined : await import("./intercept/interception.ts");
    const interception = named?.readInterception(flags, environment());
    const config = readConfig(named?.withProfile(flags, file, environment()) ?? flags, environmentWithSecrets(), file, settings);
    // People read the logs on a terminal, so a terminal gets text, unless a program asked for JSON.
    const isPretty = config.pretty || (process.stderr.isTTY && !config.json);
    log = new Log({ level: config.log_level, isPretty });
    outliveStrayFailures(log);
    for (const warning of variableWarnings(environment(), settings)) log.warn({}, warning);
    const starting =
      interception !== undefined
        ? (await import("./intercept/start-intercepting.ts")).startIntercepting(config, log, interception, environment())
        : config.workers > 1
          ? (await import("./workers.ts")).startWithWorkers(config, log)
          : startPlaza(config, log);
    // A signal also ends a start that is still migrating data, because a migration may take long. When the process ends, the database rolls back the
    // transaction of the migration.
    const plaza = await Promise.race([starting, asked]);
    if (typeof plaza === "string") {
      log.info({ signal: plaza }, "ending before the server is ready");
      await log.flush();
      return process.exit(0);
    }
    const variables = "variablesFile" in plaza ? String(plaza.variablesFile) : undefined;
    if (config.json)
      process.stdout.write(`${JSON.stringify(variables === undefined ? plaza.ready : { ...plaza.ready, variables_file: variables })}\n`);
    else if (config.sandbox) process.stdout.write(announcement(plaza, config) + interceptedText(variables));
    logReady(log, plaza);
    return await endWhenAsked(Promise.race([asked, plaza.stopAsked]), plaza, log);
  } catch (error) {
    const code = await report(error, log);
    await noteServerOn(error);
    // The program exits explicitly, because a running timer would keep it alive for seconds.
    return process.exit(code);
  }
}

/** The longest time for which a refused start waits for the address of the server that uses the folder, because that server may have ended. */
const ADDRESS_MS_MAX = 30_000;
const UNKNOWN_MS_MAX = 5_000;
/** The interval at which a refused start looks for the address of the server that uses the folder. */
const LOOK_MS = 50;

/** Names the server that uses the data folder, after a second start on the folder was refused. */
async function noteServerOn(error: unknown): Promise<void> {
  if (!(error instanceof Error && error.name === "FolderInUse" && "folder" in error)) return;
  let { info } = findServer(String(error.folder));
  const pid = "pid" in error && typeof error.pid === "number" ? error.pid : undefined;
  const mayCome = (waitedMs: number): boolean => (pid === undefined ? waitedMs < UNKNOWN_MS_MAX : waitedMs < ADDRESS_MS_MAX && isRunning(pid));
  // If two servers start at the same moment, the other server has locked the folder already, but has not written its address yet.
  for (let waitedMs = 0; info === undefined && mayCome(waitedMs); waitedMs += LOOK_MS) {
    // A timer is needed, because this process gets no event when the other server writes the file with its address.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    info = findServer(String(error.folder)).info;
  }
  if (info !== undefined) note(`plaza: the other server is at ${info.base_url}; plaza stop ends that server`);
}

function logReady(log: Log, { ready }: RunningPlaza): void {
  const { control_key: _, ready: __, ...addresses } = ready;
  log.info(addresses, "ready");
}

const variablesOf = (url: string, key: string): string => `export PLAZA_CONTROL_URL=${url} PLAZA_CONTROL_KEY=${key}`;

/** Writes the output of a sandbox at its start: addresses, the control key, the demo tokens, and requests to paste. */
export function announcement({ ready, demo, newestVersion }: RunningPlaza, { callback, data }: Pick<Config, "callback" | "data">): string {
  const lines = ["", "Plaza is ready.", ""];
  const addresses: [string, string | undefined][] = [
    ["graph", ready.base_url],
    ["app", ready.app_base_url],
    ["microblog", ready.microblog_base_url],
    ["ads", ready.ads_base_url],
    ["social login", ready.social_login_host],
    ["live video", ready.rtmp_url ?? undefined],
    ["console", ready.control_key === undefined ? ready.control_url : `${ready.control_url}/#key=${encodeURIComponent(ready.control_key)}`],
    ["control API", `${ready.control_url}/v1`],
    ["control key", ready.control_key],
    ["webhooks to", callback],
    // The secret of the demo world is public and is printed below, so this line does not mention it.
    ["signed with", callback === undefined || demo !== undefined ? undefined : "the app's secret, which plaza listen --print-secret prints"],
  ];
  for (const [name, address] of addresses) if (address !== undefined) lines.push(`  ${name.padEnd(14)}${address}`);
  // A server with data in memory has no folder in which other commands could find it.
  if (data === ":memory:" && ready.control_key !== undefined)
    lines.push("", "Run this line, so that other commands find this server:", "", `  ${variablesOf(ready.control_url, ready.control_key)}`);
  if (demo !== undefined) {
    lines.push("", "Tokens of the demo world:", "");
    for (const { token, type } of demo.tokens) lines.push(`  ${type.padEnd(16)}${token}`);
    lines.push("", `The demo app's secret, which signs its webhooks: ${demo.secret}`);
    lines.push("", "Try these requests:", "");
    for (const request of requests(`${ready.base_url}/${newestVersion}/${demo.page}`, demo.page_token)) lines.push(`  ${request}`);
  }
  return `${lines.join("\n")}\n\n`;
}

/** Prints how a program that the user starts by hand finds the proxy. */
const interceptedText = (variablesFile: string | undefined): string =>
  variablesFile === undefined ? "" : `Before you start your program, run this in its shell:\n\n  . ${variablesFile}\n\n`;

/** Writes the requests to paste. A request for page messages needs the token in three parameters (D-10). */
function requests(page: string, token: string): string[] {
  const credentials = `access_token=${token}&oauth_token=${token}`;
  const bearer = `-H 'Authorization: Bearer ${token}'`;
  return [
    `curl ${bearer} '${page}/custom_labels?fields=id,name&${credentials}'`,
    `curl ${bearer} '${page}/custom_labels?${credentials}' -d page_label_name=regular`,
    `curl ${bearer} '${page}/personas?${credentials}'`,
  ];
}
