/** The commands about a server and about the project that uses it. Each of these commands loads its modules only when it runs. */
import { Argument, type Command } from "commander";
import { collected, runs, serverCommand } from "../command-options.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

export function addServerCommands(plaza: Command): void {
  serverCommand(plaza, "status", "shows the running server; the exit code is 1 if it is not ready, and 2 if no server runs")
    .option("--json", "print one line of JSON")
    .action(runs(async (given) => (await import("./status.ts")).status(given)));
  serverCommand(plaza, "stop", "ends the running server, and waits until it has ended")
    .option("--json", "print the id of the ended process as JSON, or null if no server ran")
    .action(runs(async (given) => (await import("./stop.ts")).stop(given)));
  serverCommand(plaza, "logs", "shows the last requests that the graph served")
    .option("--follow", "print each new request too, until Ctrl-C")
    .option("--operation <NAME>", "only requests of this operation, e.g. listPersonas")
    .option("--status <N>", "only requests with this status")
    .option("--limit <N>", "the number of earlier requests to print (default: 20)")
    .option("--json", "print one JSON object per line, with bodies")
    .action(runs(async (given) => (await import("./logs.ts")).logs(given)));
  addGraphCommands(plaza);
  serverCommand(
    plaza,
    "mcp",
    "serves coding agents on standard input and output by the Model Context Protocol; the agents start this command themselves",
  ).action(runs(async (given) => (await import("../mcp.ts")).mcp(given)));
  serverCommand(plaza, "doctor", "finds problems that keep a server from starting or working, and says what to do")
    .option("--json", "print one JSON object per finding")
    .action(runs(async (given) => (await import("./doctor.ts")).doctor(given)));
  plaza
    .command("migrate")
    .description("migrates the data of an earlier version, also while servers of that version run; SIGTERM interrupts it, and the next run continues")
    .option("--data <WHERE>", "the data (default: the data of plaza start)")
    .option("--config <FILE>", "config file of the server (default: plaza.config.yaml, if there is one)")
    .option("--dry-run", "only lists the migrations")
    .option("--json", "print JSON: the migrations of each world, and how many were run")
    .action(runs(async (given) => (await import("./migrate.ts")).migrateData(given)));
  plaza
    .command("backup")
    .description("copies a data folder without its keys, also while a server uses it; use pg_dump for PostgreSQL")
    .argument("<folder>", "a new or empty folder")
    .option("--data <FOLDER>", "the data (default: the data of plaza start)")
    .option("--config <FILE>", "config file of the server (default: plaza.config.yaml, if there is one)")
    .option("--no-recordings", "leave out the recordings of live video")
    .option("--json", "print the two folders as JSON")
    .action(runs(async (given, folder) => (await import("./backup.ts")).backup(folder, given)));
  plaza
    .command("init")
    .description("creates plaza.config.yaml and a world file in this folder")
    .option("--agent", "also create a skill file, which tells coding agents how to use Plaza")
    .action(runs(async ({ agent }) => (await import("./init.ts")).init(process.cwd(), agent === true)));
  plaza
    .command("completion")
    .description("prints a completion script for a shell")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .addHelpText(
      "after",
      "\nIn ~/.bashrc: source <(plaza completion bash). In ~/.zshrc: source <(plaza completion zsh). For fish: plaza completion fish > ~/.config/fish/completions/plaza.fish",
    )
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { completionScript } = await import("../completion/shells.ts");
      process.stdout.write(completionScript(shell, plaza));
    });
}

/** Adds the commands that send requests to the graph, log in to an app, and explain responses. */
function addGraphCommands(plaza: Command): void {
  serverCommand(plaza, "call", "sends a request to the graph, and prints the response, or the reason of a refusal")
    .argument("<method>", "GET, POST or DELETE")
    .argument("<path>", "the path, with or without a version, e.g. 2001/custom_labels")
    .option("--as <WHO>", "send a token of the person, page, account or app with this name or id, or the token with this value")
    .option("-f, --field <NAME=VALUE>", "a parameter, which is sent in the form of a POST, or else in the query; repeatable", collected)
    .option("--body <JSON>", "a JSON body; @FILE reads a file, and @- standard input")
    .option("--include", "print the status and the headers first")
    .action(runs(async (given, method, path) => (await import("../requests/call.ts")).call(method, path, given)));
  serverCommand(plaza, "login", "logs in to an app as a person of the sandbox, and prints the token, for scripts")
    .requiredOption("--as <WHO>", "the person or the social account, by name or id")
    .option("--app <APP>", "the app, by name or id (default: the only app of the world)")
    .option("--scope <NAMES>", "the permissions to grant, separated by commas (default: all permissions that Plaza has)")
    .option("--json", "print JSON, with the permissions of the token")
    .action(runs(async (given) => (await import("../requests/login.ts")).login(given)));
  serverCommand(plaza, "explain", "says why a request got its response")
    .argument("<trace>", "pftrace_id of the response, or the trace of plaza logs")
    .option("--json", "print JSON")
    .action(runs(async (given, trace) => (await import("../requests/explain.ts")).explain(trace, given)));
}
