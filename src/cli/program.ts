/** All commands of `plaza`. Each command loads its modules when it runs, so that `start` is ready in a tenth of a second. */

import { Argument, Command, CommanderError, Option } from "commander";
import { forTests } from "#config/for-tests";
import type { Option as ConfigOption } from "#config/option";
import { flagOf, variableOf } from "#config/option";
import { optionsWith } from "#config/options";
import type { Setting } from "#graph/contract/feature";
import { version } from "#package.json";
import { collected, controlCommand, runs, serverCommand } from "./command-options.ts";
import { addContractCommands } from "./compare/commands.ts";
import { outputClosed } from "./process-end.ts";
import { addGroup, addWorldName, type Routes, routeGroups } from "./route-commands.ts";
import type { SchemaName } from "./server/init.ts";
import { addServerCommands } from "./server/server-commands.ts";
import { addWebhookCommands } from "./webhooks/webhook-commands.ts";

/** The commands that go on when their output is closed, because they have to restore settings or end a server after a signal. */
const ENDED_BY_SIGNALS = ["start", "intercept", "exec", "storm", "review", "worker", "listen", "record"];

function addOptions(command: Command, options: readonly ConfigOption[]): Command {
  for (const option of options) for (const flag of flagsOf(option)) command.addOption(flag);
  return command;
}

function flagsOf(option: ConfigOption): Option[] {
  if (option.isSecret === true) return [];
  const name = flagOf(option.name);
  const shown = option.default === undefined || option.value === undefined || Array.isArray(option.default) || typeof option.default === "object";
  const summary = `${option.summary}${shown ? "" : ` (default: ${option.default})`}`;
  const flag = new Option(option.value === undefined ? name : `${name} <${option.value}>`, summary);
  if (option.isRepeatable === true) flag.argParser(collected);
  return option.isNegatable === true ? [flag, new Option(name.replace("--", "--no-"), `the opposite of ${name}`)] : [flag];
}

/**
 * The declarations of the features: `settings` are options of `start`, and `routes` of the control API are commands. The declaration of a
 * feature is loaded only if a command needs it.
 */
export interface Declared {
  readonly settings?: readonly Setting[];
  readonly routes?: Routes;
  /** Whether only the command `start` has to be defined. */
  readonly isStart?: boolean;
}

export function program({ settings = [], routes, isStart = false }: Declared): Command {
  const options = optionsWith(settings);
  const plaza = new Command("plaza")
    .description("A large platform's HTTP graph interface as a real server")
    .version(version)
    .exitOverride()
    // `plaza exec` passes the arguments after its command on to that command.
    .enablePositionalOptions()
    .showHelpAfterError("(see plaza --help)")
    .hook("preAction", (_, command) => {
      if (!ENDED_BY_SIGNALS.includes(command.name())) void outputClosed().then(() => process.exit(0));
    });
  const secrets = options.filter(({ isSecret }) => isSecret === true).map(({ name, summary }) => `  ${variableOf(name)}  ${summary}`);
  addOptions(plaza.command("start").description("starts the server"), options)
    .addHelpText(
      "after",
      `
Each option is also an environment variable (--control-port: PLAZA_CONTROL_PORT) and a key of plaza.config.yaml (control_port).
A flag has precedence over the environment, and the environment over the file. Only in the environment or the file:
${secrets.join("\n")}
To read one of these values, or PLAZA_DATA, from a file, set the variable with _FILE at its end to the file's path (PLAZA_CONTROL_KEY_FILE).

SIGTERM and SIGINT end the server when the running requests have ended, after 10 s at most. An invalid option ends it with exit code 2.`,
    )
    .action(runs(async (given) => (await import("./start.ts")).start(given)));
  // For a start, the other commands are not defined, because defining them would delay the start by some milliseconds.
  if (isStart) return plaza;
  addExecCommand(plaza, options);
  addInterceptCommand(plaza, options);
  addStormCommand(plaza, options);
  addReviewCommand(plaza, options);
  plaza
    .command("trace")
    .description("prints the recording of plaza exec --trace: requests, webhooks, requests of the control API, and changes of nodes")
    .argument("<file>", "the page")
    .option("--failed", "print only events that went wrong, with the reasons")
    .option("--search <TEXT>", "print only events that contain this text")
    .action(runs(async (given, file) => (await import("./workbench/commands.ts")).trace(file, given)));
  plaza.command("worker", { hidden: true }).action(runs(async () => (await import("./worker.ts")).work()));
  addServerCommands(plaza);
  addContractCommands(plaza);
  plaza
    .command("schema")
    .description("prints the JSON Schema of a file, by which an editor checks it, or of the JSON that a command prints")
    .addArgument(new Argument("<name>", "world, config for plaza.config.yaml, or a command").choices(SCHEMAS))
    .action(async (name: SchemaName) => {
      const { schemaText } = await import("./server/init.ts");
      process.stdout.write(schemaText(name));
    });
  addWebhookCommands(plaza);
  const groups = new Map(Object.keys(routeGroups).map((name) => [name, addGroup(plaza, name as keyof typeof routeGroups, routes)]));
  addWorldCommands(groups.get("world") as Command);
  serverCommand(groups.get("clock") as Command, "next", "moves the time to the next deadline, and prints that deadline")
    .option("--json", "print JSON, also on a terminal")
    .action(runs(async (given) => (await import("./requests/clock-next.ts")).clockNext(given)));
  addFeedCommands(groups.get("feed") as Command);
  addLiveCommands(groups.get("live") as Command);
  return plaza;
}

/** The options of `start` that `exec` lacks, because its server prints no ready line and because several processes could not share data in memory. */
const SCHEMAS = [
  "world",
  "config",
  "start",
  "status",
  "stop",
  "doctor",
  "migrate",
  "backup",
  "live play",
  "compare",
  "conform",
] satisfies SchemaName[];
const NOT_OF_EXEC = ["json", "workers"];

/** The options of `start` that also belong to commands with a server of their own. */
const ownServerOptions = (options: readonly ConfigOption[]): readonly ConfigOption[] =>
  options.filter(({ name }) => !NOT_OF_EXEC.includes(name)).map((option) => ({ ...option, default: forTests[option.name] ?? option.default }));

function addStormCommand(plaza: Command, options: readonly ConfigOption[]): void {
  const storm = plaza.command("storm").description("runs a scenario under every fault at every point, and reports what the app does wrong");
  storm
    .option("--schedule <TEXT>", "run only this schedule of faults, e.g. createLabel#1=lost-after")
    .option("--only <FAULT>", "try only this fault; repeatable", collected)
    .option("--without <FAULT>", "leave this fault out; repeatable", collected)
    .option("--pairs <N>", "the number of pairs of faults, which --seed chooses (default: 30)")
    .option("--invariant <COMMAND>", "a shell command that must end with 0 after each run, e.g. plaza expect; repeatable", collected)
    .option("--jobs <N>", "runs at a time (default: twice the number of processors)")
    .option("--timeout-ms <N>", "the time limit of a run (default: ten times the undisturbed run, and 10,000 at least)")
    .option("--keep-callbacks", "do not move callbacks to other ports, and make one run at a time")
    .option("--junit <FILE>", "also write the report as JUnit XML, a test for each schedule");
  addOptions(storm, ownServerOptions(options))
    .argument("<command...>", "the scenario, after --: it ends with 0 if the app worked correctly")
    .passThroughOptions()
    .addHelpText(
      "after",
      `
Each run has its own world, whose addresses are in the variables of plaza exec. STORM_CALLBACK_URL is the address at which the run receives webhooks,
STORM_CALLBACK_PORT its port. The exit code is 0 if all schedules passed, 1 if one failed, and 2 if the scenario fails without faults.`,
    )
    .action(runs(async (given, command: string[]) => (await import("./workbench/commands.ts")).storm(command, given)));
}

function addReviewCommand(plaza: Command, options: readonly ConfigOption[]): void {
  const review = plaza.command("review").description("finds the permissions that a test suite needs, by running it without each of them");
  review
    .option("--html <FILE>", "also write a page with the result, to hand in for the platform's review")
    .option("--timeout-ms <N>", "the time limit of a run of the suite (default: 600,000)");
  addOptions(review, ownServerOptions(options))
    .argument("<command...>", "the suite, after --: it ends with 0 if its tests passed")
    .passThroughOptions()
    .addHelpText("after", "\nThe exit code is 0 if the needed permissions were found and proved, and 2 if the suite fails with all permissions.")
    .action(runs(async (given, command: string[]) => (await import("./workbench/commands.ts")).review(command, given)));
}

function addExecCommand(plaza: Command, options: readonly ConfigOption[]): void {
  addHosts(addOptions(plaza.command("exec").description("runs a command, such as a test suite, with a server of its own"), ownServerOptions(options)))
    .option("--trace <FILE>", "write a page with everything that happened; it needs neither a server nor the network")
    .argument("<command...>", "the command, after --")
    .passThroughOptions()
    .addHelpText(
      "after",
      `
The command finds the server in PLAZA_BASE_URL, PLAZA_APP_BASE_URL, PLAZA_MICROBLOG_BASE_URL, PLAZA_ADS_BASE_URL, PLAZA_SOCIAL_LOGIN_HOST,
PLAZA_CONTROL_URL and PLAZA_CONTROL_KEY. exec passes signals on to the command. When the command ends, exec ends the server and returns the exit code of the command.
With --as, the usual variables for a proxy and for certificates also give the command a proxy for the named hosts and the certificate of this run.`,
    )
    .action(runs(async (given, command: string[]) => (await import("./exec.ts")).exec(command, given)));
}

const addHosts = (command: Command, isNeeded = false): Command =>
  command
    .addOption(
      new Option(
        "--as <HOST[=SURFACE[/WORLD]]>",
        "serve requests to this internet host in place of the host, with the given surface (default: base); repeatable",
      )
        .argParser(collected)
        .makeOptionMandatory(isNeeded),
    )
    .option("--only", "refuse requests to all other hosts, except those of this machine, and list the refused hosts at the end");

function addInterceptCommand(plaza: Command, options: readonly ConfigOption[]): void {
  const own = options.filter(({ name }) => name !== "workers");
  addHosts(addOptions(plaza.command("intercept").description("starts the server for unchanged programs that call the hosts of --as"), own), true)
    .addHelpText(
      "after",
      `
The options are those of start. The server prints the path of a file with variables. Read that file in the shell of your program: . FILE`,
    )
    .action(runs(async (given) => (await import("./start.ts")).start(given)));
}

function addWorldCommands(world: Command): void {
  controlCommand(world, "new", "creates a world, empty or from a world file")
    .argument("<name>", "lower-case letters, digits, - and _")
    .argument("[file]", "YAML or JSON; - reads standard input")
    .option("--database <name>", "the database of --databases for the world (default: the database with the fewest worlds)")
    .option("--json", "print JSON, also on a terminal")
    .action(runs(async (given, name, file) => (await import("./world.ts")).newWorld(name, file, given)));
  addWorldName(controlCommand(world, "import", "merges a world file into a world, completely or not at all"))
    .argument("<file>", "YAML or JSON; - reads standard input")
    .option("--json", "print JSON, also on a terminal")
    .action(runs(async (given, file) => (await import("./world.ts")).importWorld(file, given)));
}

function addFeedCommands(feed: Command): void {
  serverCommand(feed, "upload", "sends a file to a product feed, and waits until the file is read")
    .argument("<file>", "CSV, TSV, XML or JSON lines; also compressed with gzip")
    .requiredOption("--feed <ID>", "the product feed")
    .option("--format <NAME>", "csv, tsv, xml or jsonl (default: Plaza detects the format from the beginning of the file)")
    .option("--json", "print JSON, also on a terminal")
    .action(runs(async (given, file) => (await import("./feed.ts")).uploadFeed(file, given)));
}

function addLiveCommands(live: Command): void {
  serverCommand(
    live,
    "play",
    "starts an encoder in the server, which sends a short clip with sound again and again; publishes the video if necessary",
  )
    .argument("<video>", "id of the live video")
    .option("--preview", "do not publish the video")
    .option("--json", "print JSON")
    .action(runs(async (given, video) => (await import("./requests/live.ts")).playTestClip(video, given)));
  serverCommand(live, "stop", "stops the encoder of plaza live play; the broadcast waits for another encoder, and ends if none connects")
    .argument("<video>", "id of the live video")
    .option("--json", "print JSON")
    .action(runs(async (given, video) => (await import("./requests/live.ts")).stopTestClip(video, given)));
}

/** The exit code for an invalid option or unusable data. A command with this exit code has started nothing (docs/operating/start.md). */
const WRONG_USE = 2;

/**
 * Loads the features if the command needs their declarations. The features are loaded for `start` and `exec`, which need them anyway, and for
 * completion, which needs all options.
 */
async function declaredFor(words: readonly string[]): Promise<Declared> {
  const isAsked = (...names: readonly string[]): boolean => words.some((word) => names.includes(word));
  return {
    isStart: words[0] === "start",
    ...(isAsked("start", "exec", "intercept", "storm", "review", "completion") ? { settings: (await import("#features")).settings } : {}),
    ...(isAsked("completion", ...Object.keys(routeGroups)) ? { routes: await readRoutes() } : {}),
  };
}

export async function readRoutes(): Promise<Routes> {
  const [{ controlRoutes }, { buildRegistry }] = await Promise.all([import("#control/routes"), import("#main")]);
  return new Map(controlRoutes(buildRegistry()).map((route) => [route.operation, route]));
}

/** Runs the command that the user typed. */
export async function runCommand(): Promise<void> {
  const words = process.argv.slice(2, 4);
  // The reader of the help may close the output early, as `head -1` does.
  void outputClosed();
  try {
    await program(await declaredFor(words)).parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USE;
  }
}
