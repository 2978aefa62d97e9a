/** `bin/plaza`. What a command needs is loaded when it is asked for: `start` is ready in a tenth of a second. */
import { Command, CommanderError, Option } from "commander";
import type { Option as ConfigOption } from "#config/options";
import { flagOf, optionsWith, variableOf } from "#config/options";
import { version } from "#package.json";

/** A wrong option, or data that cannot be used so: nothing was started (operating.md: Commands). */
const WRONG_USE = 2;

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
  if (option.isRepeatable === true) flag.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  return option.isNegatable === true ? [flag, new Option(name.replace("--", "--no-"), `the opposite of ${name}`)] : [flag];
}

/** Commander's names → the options' own. */
const flagsGiven = (given: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]));

/** The settings of features are options of `start` alone, which loads the features anyway. */
const optionsOfStart = async () => optionsWith(process.argv.slice(2, 4).includes("start") ? (await import("#features")).settings : []);

async function program(): Promise<Command> {
  const options = await optionsOfStart();
  const plaza = new Command("plaza")
    .description("A large platform's HTTP graph interface as a real server")
    .version(version)
    .exitOverride()
    .showHelpAfterError("(plaza --help says more)");
  const secrets = options.filter(({ isSecret }) => isSecret === true).map(({ name, summary }) => `  ${variableOf(name)}  ${summary}`);
  addOptions(plaza.command("start").description("starts the server"), options)
    .addHelpText(
      "after",
      `
Each option is also an environment variable (--control-port: PLAZA_CONTROL_PORT) and a key of plaza.config.yaml (control_port).
A flag wins over the environment, that over the file. From the environment or the file alone:
${secrets.join("\n")}

SIGTERM and SIGINT end it when the running calls have ended, after 10 s at most. A wrong option: exit code 2.`,
    )
    .action(async (given) => {
      const { start } = await import("./start.ts");
      process.exitCode = await start(flagsGiven(given));
    });
  plaza.command("worker", { hidden: true }).action(async () => {
    const { work } = await import("./worker.ts");
    process.exitCode = await work();
  });
  addWebhookCommands(plaza);
  addTokenCommands(plaza.command("token").description("mints, lists and revokes tokens, and makes apps to mint them for"));
  return plaza;
}

function addWebhookCommands(plaza: Command): void {
  const add = (name: string, description: string) =>
    plaza
      .command(name)
      .description(description)
      .option("--control-url <URL>", "of the running server (PLAZA_CONTROL_URL; http://127.0.0.1:4001)")
      .option("--control-key <KEY>", "of the running server (PLAZA_CONTROL_KEY)")
      .option("--world-name <NAME>", "the world", "default");
  add("listen", "receives an app's webhooks, prints a line for each, and hands them on, signed as they came")
    .option("--forward-to <URL>", "hands each on to this address; what it answers is what the world hears")
    .option("--app <ID>", "whose webhooks; the world's only app when left out")
    .option("--port <N>", "to receive them on; a free one when left out")
    .option("--public-url <URL>", "how the server reaches this machine, where it is another one")
    .action(async (given) => {
      const { listen } = await import("./listen.ts");
      process.exitCode = await listen(flagsGiven(given));
    });
  add("trigger", "makes an example event as if it had happened, and tells what became of it")
    .argument("<event>", "a webhook field, e.g. messages or social.comments")
    .option("--entity <ID>", "the account or page; the world's first when left out")
    .option("--phone-number <ID>", "the business phone number, where the event belongs to one")
    .option("--value <JSON>", "what it carries; an example when left out")
    .action(async (event, given) => {
      const { trigger } = await import("./trigger.ts");
      process.exitCode = await trigger(String(event), flagsGiven(given));
    });
}

function addTokenCommands(token: Command): void {
  const add = (name: string, description: string) =>
    token
      .command(name)
      .description(description)
      .option("--control-url <URL>", "of a running server (PLAZA_CONTROL_URL)")
      .option("--control-key <KEY>", "of a running server (PLAZA_CONTROL_KEY)")
      .option("--data <WHERE>", "without a control URL: the data itself, while no server runs on it")
      .option("--world-name <NAME>", "the world", "default")
      .addHelpText("after", "\nWith --control-url it asks a running server; without, it opens the data that `plaza start` would.");
  const run = (command: string) => async (given: Record<string, unknown>) => {
    const { runTokenCommand } = await import("./token.ts");
    process.exitCode = await runTokenCommand(command, flagsGiven(given));
  };
  add("mint", "makes a token and prints it, once")
    .requiredOption("--type <TYPE>", "app, user, page, social_user, microblog_user or system_user")
    .requiredOption("--app <ID>", "the app")
    .option("--user <ID>", "of a user, system user or page token")
    .option("--page <ID>", "of a page token")
    .option("--social-account <ID>", "of a social user's token")
    .option("--microblog-user <ID>", "of a microblog user's token")
    .option("--scopes <A,B>", "permissions")
    .option("--expires-at <TIME>", "Unix seconds or ISO 8601; never when left out")
    .action(run("mint"));
  add("list", "lists the tokens, without their values").action(run("list"));
  add("revoke", "revokes a token").requiredOption("--id <ID>", "the token's id, as list shows it").action(run("revoke"));
  add("create-app", "makes an app and prints it with its secret")
    .requiredOption("--name <NAME>", "its name")
    .option("--id <ID>", "minted when left out")
    .action(run("create-app"));
}

try {
  await (await program()).parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : WRONG_USE;
}
