/**
 * `plaza exec -- <command>`: runs a command together with a server of its own. The server ends when the command ends. With `--as` the server
 * also responds in place of hosts of the internet.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { findConfigFile } from "#config/config-file";
import { environment, variableOf } from "#config/option";
import { environmentWithSecrets } from "#config/secret-files";
import { unservedReport } from "#control/client/unserved";
import type { RunningInterception } from "./intercept/interception.ts";
import { withUmaskOfUser } from "./processes/private-files.ts";
import { environmentOfProgram } from "./proxies.ts";
import { note, printable } from "./terminal/output.ts";
import { runAndExit, startTestServer, type TestServer } from "./test-server.ts";

/** The exit codes by which a shell reports that a program is missing or not executable. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
/** The number to which a shell adds the number of the signal that ended a program. */
const SIGNALLED = 128;

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/**
 * The addresses that the command gets in environment variables. The address for encoders is left out, because a variable with its name would
 * also set an option of `plaza start`.
 */
const ADDRESSES = ["base_url", "app_base_url", "microblog_base_url", "ads_base_url", "social_login_host", "control_url"];

/** Runs the command. Resolves with the exit code of the command. */
export async function exec([program = "", ...args]: readonly string[], flags: Readonly<Record<string, unknown>>): Promise<number> {
  return runAndExit(
    async () => {
      const begun = await begin(flags);
      const traced = flags.trace === undefined ? undefined : await import("./workbench/commands.ts");
      return { ...begun, traced: await traced?.startTrace(String(flags.trace), begun.server) };
    },
    async ({ server, intercepted, traced }) => {
      const own = { ...variablesOf(server), ...intercepted?.variables, ...traced?.variables };
      const code = await run(program, args, { ...environmentOfProgram(), ...own });
      await traced?.finish([program, ...args], code);
      process.stderr.write(intercepted?.report() ?? "");
      for (const line of unservedReport(server.unserved())) note(printable(line));
      await Promise.all([server.stop(), intercepted?.stop()]);
      return code;
    },
  );
}

async function begin(flags: Readonly<Record<string, unknown>>): Promise<{ server: TestServer; intercepted?: RunningInterception | undefined }> {
  const file = await findConfigFile(flags);
  if (flags.as === undefined && flags.only === undefined) return { server: await startTestServer(flags, environmentWithSecrets(), file) };
  // The modules for interception, which use a package for certificates, are only needed for `--as`.
  const { intercept, readInterception, withProfile } = await import("./intercept/interception.ts");
  const interception = readInterception(flags, environment());
  const server = await startTestServer(withProfile(flags, file, environment()), environmentWithSecrets(), file, interception?.hosts);
  const port = server.interceptedPort;
  return { server, intercepted: interception === undefined || port === undefined ? undefined : await intercept(interception, port, environment()) };
}

const variablesOf = ({ ready, controlKey }: TestServer): Record<string, string> => ({
  ...Object.fromEntries(ADDRESSES.map((name) => [variableOf(name), String(ready[name])])),
  [variableOf("control_key")]: controlKey,
});

function run(program: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const running = withUmaskOfUser(() => spawn(program, args, { env: { ...env }, stdio: "inherit" }));
  if (process.send !== undefined) process.once("disconnect", () => running.kill("SIGTERM"));
  for (const signal of PASSED_ON) {
    process.on(signal, () => {
      // On a terminal, the command gets the signal of Ctrl-C directly.
      if (signal !== "SIGINT" || !process.stdin.isTTY) running.kill(signal);
    });
  }
  return new Promise((resolve) => {
    running.on("error", (error: NodeJS.ErrnoException) => {
      process.stderr.write(`plaza: ${program} cannot be run: ${error.message}\n`);
      resolve(error.code === "ENOENT" ? NOT_FOUND : NOT_EXECUTABLE);
    });
    running.on("exit", (code, signal) => resolve(code ?? SIGNALLED + (signal === null ? 0 : constants.signals[signal])));
  });
}
