/** The common code of several commands: the options that point to a server, and the conversion of commander's options. */
import type { Command } from "commander";
import type { Given } from "./control-client.ts";

/** Renames the options of commander to the names of Plaza: `controlUrl` becomes `control_url`. */
const flagsGiven = (given: object): Given =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]));

/** Makes the function that commander calls for a command. `run` gets the options by Plaza's names, then the arguments, and returns the exit code. */
export const runs =
  <Args extends readonly unknown[] = string[]>(run: (given: Given, ...args: Args) => number | Promise<number>) =>
  async (...all: [...args: Args, given: object, command: Command]): Promise<void> => {
    process.exitCode = await run(flagsGiven(all.at(-2) as object), ...(all.slice(0, -2) as unknown as Args));
  };

/** Collects the values of an option that can be repeated. */
export const collected = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

/** The summary of the option warns of its use, because every user of the machine can read a command line. */
const CONTROL_KEY_SUMMARY =
  "control key of a running server; other users of this machine can see it on a command line (default: PLAZA_CONTROL_KEY, else the key in the data folder)";
const CONFIG_SUMMARY = "config file of the server, which says where its data is (default: plaza.config.yaml, if there is one)";

/** Makes a command that sends requests to a running server. */
export const serverCommand = (parent: Command, name: string, description: string): Command =>
  parent
    .command(name)
    .description(description)
    .option("--data <FOLDER>", "data folder of the running server, which contains its address and control key (default: .plaza)")
    .option("--control-url <URL>", "control API of the running server (default: PLAZA_CONTROL_URL, else the address in the data folder)")
    .option("--control-key <KEY>", CONTROL_KEY_SUMMARY)
    .option("--config <FILE>", CONFIG_SUMMARY)
    .option("--world-name <NAME>", "name of the world", "default");

/** Makes a command that sends requests to a running server. If no server runs, the command starts a control API in its own process. */
export const controlCommand = (parent: Command, name: string, description: string): Command =>
  parent
    .command(name)
    .description(description)
    .option("--data <WHERE>", "the data, also while a server uses it (default: the data of plaza start)")
    .option("--control-url <URL>", "control API of a running server (default: PLAZA_CONTROL_URL, else the address in the data folder)")
    .option("--control-key <KEY>", CONTROL_KEY_SUMMARY)
    .option("--config <FILE>", CONFIG_SUMMARY)
    .addHelpText(
      "after",
      "\nThe command asks the server that --control-url names or that runs on the data. If no server runs, it opens the data itself.",
    );
