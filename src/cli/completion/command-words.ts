/** What can stand on a command line of `plaza`, from the definitions of its commands, for the scripts of the shells. */
import type { Argument, Command, Option } from "commander";

/** What stands at a place: names of files, one of some words, or what nobody can know. */
type Completed = "files" | "anything" | readonly string[];

export interface OptionWords {
  /** `--data`. */
  readonly flag: string;
  readonly description: string;
  /** Undefined: it takes no value. */
  readonly value: Completed | undefined;
}

export interface CommandWords {
  /** The words that lead to it, each behind a space: ` token mint`; empty for `plaza` itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionWords[];
  /** Undefined: it takes no arguments. */
  readonly argument: Completed | undefined;
}

/** Their values are paths, by the names in the help. */
const FILES = ["FILE", "FOLDER", "WHERE"];

/** `plaza` and every command below it. `words` are those that stand for an argument of a name. */
export function commandWords(plaza: Command, words: Readonly<Record<string, readonly string[]>>): readonly CommandWords[] {
  const below = (command: Command, path: string): CommandWords[] => {
    const help = command.createHelp();
    const commands = help.visibleCommands(command).map((one) => ({ name: one.name(), description: one.description() }));
    const [argument] = command.registeredArguments;
    return [
      {
        path,
        commands,
        options: help.visibleOptions(command).map(optionWords),
        argument: argument === undefined ? undefined : completedArgument(argument, words),
      },
      ...command.commands.filter((one) => commands.some(({ name }) => name === one.name())).flatMap((one) => below(one, `${path} ${one.name()}`)),
    ];
  };
  return below(plaza, "");
}

function optionWords({ long, short, flags, description, argChoices }: Option): OptionWords {
  const opened = flags.indexOf("<");
  const value = opened === -1 ? undefined : flags.slice(opened + 1, flags.indexOf(">"));
  const completed = argChoices ?? (value !== undefined && FILES.includes(value) ? "files" : "anything");
  return { flag: long ?? short ?? "", description, value: value === undefined ? undefined : completed };
}

const completedArgument = (argument: Argument, words: Readonly<Record<string, readonly string[]>>): Completed =>
  argument.argChoices ?? words[argument.name()] ?? (["file", "folder"].includes(argument.name()) ? "files" : "anything");
