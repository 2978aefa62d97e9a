/** `plaza storm -- <command>`: runs a storm whose scenario is a command (docs/guides/storm.md). */
import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { type Server, variablesOf } from "#testing/server";
import { reportText } from "#testing/storm/report";
import type { Slot } from "#testing/storm/runs";
import { runStorm, type StormOptions, type StormReport, StormUnusable } from "#testing/storm/storm";
import { ofWorld, openWorld } from "#testing/with-plaza";
import type { World } from "#testing/world";
import { freePort, moveCallbacks } from "./callbacks.ts";
import { stormJunit } from "./junit.ts";
import { endProcesses, runProcess } from "./scenario-process.ts";

export interface StormCommand extends Pick<StormOptions, "seed" | "pairs" | "jobs" | "timeoutMs" | "schedule" | "only" | "without"> {
  readonly server: Server;
  readonly command: readonly string[];
  /** The environment of the command, without the addresses of its world. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Commands that must exit with 0 after each run. */
  readonly invariants: readonly string[];
  /** Whether the callbacks stay unchanged, so that only one run at a time can receive webhooks. */
  readonly keepsCallbacks: boolean;
  /** The path of the report in JUnit XML. */
  readonly junit: string | undefined;
  /** The options of this command. The options are repeated in the printed command that runs a schedule again. */
  readonly words: readonly string[];
  /** Returns the report without secrets: printed commands may contain some. */
  redacted(text: string): string;
  say(text: string): void;
  note(text: string): void;
}

const FAILED = 1;
const UNUSABLE = 2;

/** Runs the storm. Resolves with the exit code: 0 if all schedules passed, 1 if one failed, 2 if the scenario cannot be used. */
export async function stormCommand(given: StormCommand): Promise<number> {
  const { command, env, keepsCallbacks, junit, redacted, say, note } = given;
  const [program = "", ...args] = command;
  const again = againLine(given);
  const variables = new WeakMap<World, Readonly<Record<string, string>>>();
  const newSlot = async (): Promise<Slot> => {
    const plaza = await openWorld(given.server, {});
    variables.set(plaza, { ...variablesOf(ofWorld(given.server, plaza)), ...(await stormVariables(plaza, keepsCallbacks)) });
    return { world: plaza, delete: () => plaza.close() };
  };
  const runIn = (world: World, program_: string, args_: readonly string[], signal: AbortSignal, schedule = "") =>
    runProcess({ program: program_, args: args_, env: { ...env, ...variables.get(world), STORM_SCHEDULE: schedule } }, signal);
  const invariants = given.invariants.map((text) => [text, (world: World) => runIn(world, "sh", ["-c", text], NEVER)] as const);
  let report: StormReport;
  try {
    const scenario: Parameters<typeof runStorm>[0]["scenario"] = (world, { signal, schedule }) => runIn(world, program, args, signal, schedule);
    const jobs = keepsCallbacks ? 1 : (given.jobs ?? 2 * availableParallelism());
    report = await runStorm({ newSlot, scenario }, { ...given, jobs, invariants: Object.fromEntries(invariants) });
  } catch (error) {
    if (!(error instanceof StormUnusable || error instanceof RangeError)) throw error;
    note(`plaza: ${error.message}`);
    return UNUSABLE;
  } finally {
    endProcesses();
  }
  if (junit !== undefined) await writeFile(junit, redacted(stormJunit(report, again)));
  say(redacted(reportText(report, again)));
  return report.failures.length === 0 ? 0 : FAILED;
}

const NEVER = new AbortController().signal;

/** Returns the environment variables of a run, except the addresses of its world. */
async function stormVariables(world: World, keepsCallbacks: boolean): Promise<Readonly<Record<string, string>>> {
  if (keepsCallbacks) return { STORM_WORLD: world.name };
  const port = await freePort();
  return { STORM_WORLD: world.name, STORM_CALLBACK_PORT: String(port), STORM_CALLBACK_URL: await moveCallbacks(world, port) };
}

const againLine =
  ({ words, command }: StormCommand) =>
  (schedule: string): string =>
    ["plaza", "storm", ...words, "--schedule", schedule, "--", ...command].map(quoted).join(" ");

/** Quotes a word for a shell. */
const quoted = (word: string): string => (/^[\w@%+=:,./#-]+$/.test(word) && !word.startsWith("#") ? word : `'${word.replaceAll("'", "'\\''")}'`);
