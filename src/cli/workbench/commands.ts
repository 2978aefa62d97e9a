/**
 * The commands `plaza storm`, `plaza review` and `plaza trace`. The commands of this file run a user's program against a server that is
 * started for it, and test the program or record its requests.
 */
import { findConfigFile } from "#config/config-file";
import { forTests } from "#config/for-tests";
import { variableOf } from "#config/option";
import { environmentWithSecrets } from "#config/secret-files";
import { hideDatabasePasswords } from "#kernel/redaction/addresses";
import { Connection } from "#testing/connection";
import { type Ready, type Server, serverAt } from "#testing/server";
import type { Given } from "../control-client.ts";
import { environmentOfProgram } from "../proxies.ts";
import { fail, note, say, WRONG_USE } from "../terminal/output.ts";
import { runAndExit, startTestServer, type TestServer } from "../test-server.ts";

/** The default data of a server for tests. */
const IN_MEMORY = forTests.data;

/** Starts a server, passes it to `use`, and ends this process with the exit code of `use` or of the failed start. */
async function withServerOfItsOwn(given: Given, use: (server: Server) => Promise<number>): Promise<number> {
  return runAndExit(
    async () => {
      const { ready, controlKey, stop, fetchControl } = await startTestServer(given, environmentWithSecrets(), await findConfigFile(given));
      return serverAt(ready as unknown as Ready, controlKey, stop, fetchControl);
    },
    (server) => use(server).finally(() => server.stop()),
  );
}

/** Runs `plaza storm -- <command>`. */
export async function storm(command: readonly string[], given: Given): Promise<number> {
  const [{ stormCommand }, numbers] = [await import("#workbench/storm/command"), numbersIn(given, ["pairs", "jobs", "timeout_ms", "seed"])];
  if (typeof numbers === "string") return fail(numbers, WRONG_USE);
  const { pairs, jobs, timeout_ms, seed } = numbers;
  return withServerOfItsOwn(given, (server) =>
    stormCommand({
      ...{ server, command, env: environmentOfProgram(), redacted: hideDatabasePasswords, say, note, pairs, jobs, timeoutMs: timeout_ms, seed },
      schedule: textOf(given.schedule),
      only: given.only as readonly string[] | undefined,
      without: given.without as readonly string[] | undefined,
      invariants: (given.invariant ?? []) as readonly string[],
      keepsCallbacks: given.keep_callbacks === true,
      junit: textOf(given.junit),
      words: [...optionWords(process.argv.slice(3)), ...wordsForNextRun(given)],
    }),
  );
}

/** Runs `plaza review -- <command>`. */
export async function review(command: readonly string[], given: Given): Promise<number> {
  const [{ reviewCommand }, numbers] = [await import("#workbench/review/command"), numbersIn(given, ["timeout_ms"])];
  if (typeof numbers === "string") return fail(numbers, WRONG_USE);
  return withServerOfItsOwn(given, (server) =>
    reviewCommand({ server, command, env: environmentOfProgram(), html: textOf(given.html), timeoutMs: numbers.timeout_ms, say, note }),
  );
}

/** The recording of `plaza exec --trace`. */
export interface RunningTrace {
  /** The environment variables for the command, by which its requests to the control API are recorded as well. */
  readonly variables: Readonly<Record<string, string>>;
  finish(command: readonly string[], exitCode: number): Promise<void>;
}

/** Begins the recording. The promise rejects if the file of the recording cannot be written. */
export async function startTrace(file: string, { ready, controlKey, fetchControl }: TestServer): Promise<RunningTrace> {
  const { startTracing } = await import("#workbench/trace/commands");
  const { controlUrl, finish } = await startTracing(file, new Connection(String(ready.control_url), controlKey, fetchControl));
  return { variables: { [variableOf("control_url")]: controlUrl }, finish };
}

/** Runs `plaza trace <file>`. */
export async function trace(file: string, given: Given): Promise<number> {
  const { printTrace } = await import("#workbench/trace/commands");
  try {
    say(await printTrace(file, { failed: given.failed === true, search: textOf(given.search) }));
    return 0;
  } catch (error) {
    return fail(`${file}: ${error instanceof Error ? error.message : error}`, WRONG_USE);
  }
}

const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value));

/** Reads options that must be positive numbers (`pairs` may be 0). Returns the problem of the first wrong option as a text. */
function numbersIn(given: Given, names: readonly string[]): Readonly<Record<string, number | undefined>> | string {
  const found: Record<string, number | undefined> = {};
  for (const name of names) {
    const value = given[name];
    if (value === undefined) continue;
    const least = name === "pairs" || name === "seed" ? 0 : 1;
    if (!/^\d{1,9}$/.test(String(value)) || Number(value) < least)
      return `--${name.replaceAll("_", "-")}: "${value}" is not a whole number of at least ${least}`;
    found[name] = Number(value);
  }
  return found;
}

/**
 * Returns the option to add for another run on the same data: `--world` alone needs empty data, and with `--import`, merging the
 * same file again changes nothing.
 */
function wordsForNextRun({ world, import: isMerged, data = IN_MEMORY, databases }: Given): readonly string[] {
  const staysFilled = data !== IN_MEMORY || databases !== undefined;
  return staysFilled && world !== undefined && isMerged !== true ? ["--import"] : [];
}

/** Returns the words of the command line before `--`, without the options that choose a schedule. */
function optionWords(words: readonly string[]): readonly string[] {
  const before = words.slice(0, words.indexOf("--") === -1 ? 0 : words.indexOf("--"));
  return before.filter((word, at) => word !== "--schedule" && before[at - 1] !== "--schedule" && !word.startsWith("--schedule="));
}
